package engine_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/sqlite"
)

// opened gives a Runner on a store, and the store to close.
func opened(store stores.Store, err error) (*engine.Runner, stores.Store) {
	if err != nil {
		log.Fatal(err)
	}
	key, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		log.Fatal(err)
	}
	r, err := engine.New(engine.Config{Store: store, Keys: seal.NewKeyring(key)})
	if err != nil {
		log.Fatal(err)
	}
	return r, store
}

// scratch is a folder that the example removes.
func scratch() string {
	dir, err := os.MkdirTemp("", "flows-")
	if err != nil {
		log.Fatal(err)
	}
	return dir
}

// offline stands for a model that is reached over the network.
func offline(reply func(prompt string) string) model.Model {
	return modelFunc(func(r model.Request) string { return reply(r.Messages[len(r.Messages)-1].Content) })
}

// The first run fails at a node. The same id goes on at that node, from the
// state that was saved.
func ExampleRunner_Execute() {
	dir := scratch()
	defer os.RemoveAll(dir)
	ctx := context.Background()
	r, store := opened(sqlite.Open(ctx, filepath.Join(dir, "checkpoints.db"), sqlite.Options{Create: true}))
	defer store.Close()

	broken := true
	flow := engine.NewFlow("shout").
		Step("read", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
			fmt.Println("read", s["text"])
			return engine.State{"read": true}, nil
		})).
		Step("shout", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
			if broken {
				return nil, errors.New("the loudspeaker is off")
			}
			text, _ := s["text"].(string)
			return engine.State{"loud": strings.ToUpper(text)}, nil
		}))

	run := engine.Execution{Key: stores.Key{Run: "demo-run"}, State: engine.State{"text": "hello"}}
	_, err := r.Execute(ctx, flow, run)
	fmt.Println("held:", errors.Is(err, engine.ErrHeld))

	broken = false
	run.State = engine.State{"text": "the saved state wins"}
	res, err := r.Execute(ctx, flow, run)
	fmt.Println(res.Status, res.State["loud"], err)
	// Output:
	// read hello
	// held: true
	// done HELLO <nil>
}

// The same id under two owners is two runs, and an owner's runs can be listed.
func ExampleRuns() {
	ctx := context.Background()
	dir := scratch()
	defer os.RemoveAll(dir)
	r, store := opened(sqlite.Open(ctx, filepath.Join(dir, "checkpoints.db"), sqlite.Options{Create: true}))
	defer store.Close()
	flow := engine.NewFlow("greet").Step("greet", engine.NodeFunc(func(_ context.Context, s engine.State) (engine.State, error) {
		return engine.State{"text": fmt.Sprint("hello ", s["name"])}, nil
	}))
	for _, owner := range []string{"alice", "bob"} {
		res, err := r.Execute(ctx, flow, engine.Execution{Key: stores.Key{Owner: owner, Run: "chat-1"}, State: engine.State{"name": owner}})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res.Key.Owner, res.State["text"])
	}
	chats, err := engine.Runs(ctx, store, "alice")
	fmt.Println(chats, err)
	// Output:
	// alice hello alice
	// bob hello bob
	// [chat-1] <nil>
}

// A flow pauses for an operator. The answer lands in the state under the
// interrupt's key, and the run goes on.
func ExampleFlow_Interrupt() {
	dir := scratch()
	defer os.RemoveAll(dir)
	ctx := context.Background()
	r, store := opened(jsonfile.Open(ctx, dir+"/", jsonfile.Options{Create: true}))
	defer store.Close()
	m := offline(func(prompt string) string { return "[" + prompt + "]" })
	flow := engine.NewFlow("approval").
		Step("draft", engine.LLM{Model: m, Prompt: engine.Fill("Составь план: {task}"), Into: "draft"}).
		Interrupt(engine.Interrupt{Key: "approved", Prompt: engine.Text("Одобрить? (да / правки)")}).
		Step("final", engine.LLM{Model: m, Prompt: engine.Fill("{draft}\nВердикт: {approved}"), Into: "final"})

	run := engine.Execution{Key: stores.Key{Run: "run-1"}, State: engine.State{"task": "ремонт"}}
	res, err := r.Execute(ctx, flow, run)
	if err != nil {
		log.Fatal(err)
	}
	for _, w := range res.Waiting {
		fmt.Println(res.Status, w.Key, w.Prompt)
	}
	run.Resume = map[string]any{"approved": "да"}
	res, err = r.Execute(ctx, flow, run)
	fmt.Println(res.Status, res.State["final"], err)
	// Output:
	// paused approved Одобрить? (да / правки)
	// done [[Составь план: ремонт]
	// Вердикт: да] <nil>
}

// planner is a conversation that asks before it answers.
func planner() *engine.Flow {
	return engine.NewFlow("planner").
		Interrupt(engine.Interrupt{Key: "approved", Prompt: engine.Fill("Start with {task}?")}).
		Step("reply", engine.LLM{Model: offline(func(said string) string { return "A plan for: " + said }), Messages: "messages"}).
		Conversation(engine.Conversation{Transient: []string{"approved"}})
}

// A conversation goes on by messages. A turn that pauses is no error: it says
// what it asks, and the next message is the answer.
func ExampleRunner_Turn() {
	ctx := context.Background()
	dir := scratch()
	defer os.RemoveAll(dir)
	r, store := opened(sqlite.Open(ctx, filepath.Join(dir, "checkpoints.db"), sqlite.Options{Create: true}))
	defer store.Close()

	session := stores.Key{Owner: "alice", Run: "chat-1"}
	res, err := r.Turn(ctx, planner(), engine.Turn{
		Key: session, Message: "Plan a bath of 5 m².",
		Initial: func() (engine.State, error) { return engine.State{"task": "the bath"}, nil },
	})
	if err != nil {
		log.Fatal(err)
	}
	for res.Waiting {
		fmt.Println(res.Key, res.Prompt)
		if res, err = r.Turn(ctx, planner(), engine.Turn{Key: session, Message: "yes"}); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(res.Reply)
	// Output:
	// approved Start with the bath?
	// A plan for: Plan a bath of 5 m².
}

// The same as a stream: it ends with the interrupt, or with the reply.
func ExampleRunner_StreamTurn() {
	ctx := context.Background()
	dir := scratch()
	defer os.RemoveAll(dir)
	r, store := opened(sqlite.Open(ctx, filepath.Join(dir, "checkpoints.db"), sqlite.Options{Create: true}))
	defer store.Close()
	for _, message := range []string{"Plan a bath.", "yes"} {
		turn := engine.Turn{Key: stores.Key{Run: "chat-1"}, Message: message, Initial: func() (engine.State, error) { return engine.State{"task": "it"}, nil }}
		for e, err := range r.StreamTurn(ctx, planner(), turn) {
			if err != nil {
				log.Fatal(err)
			}
			if e.Type == engine.EventInterrupt || e.Type == engine.EventReply {
				fmt.Println(e.Type, string(e.Data))
			}
		}
	}
	// Output:
	// interrupt {"key":"approved","prompt":"Start with it?","question":"approved#1"}
	// reply {"question":"turn#1","reply":"A plan for: Plan a bath."}
}

// A code is asked for until it has the right form. The strategy says whether an
// answer passes, and what of it is kept.
func ExampleFlow_InterruptLoop() {
	ctx := context.Background()
	dir := scratch()
	defer os.RemoveAll(dir)
	r, store := opened(sqlite.Open(ctx, filepath.Join(dir, "checkpoints.db"), sqlite.Options{Create: true}))
	defer store.Close()
	m := offline(func(prompt string) string { return prompt })
	flow := engine.NewFlow("promo").InterruptLoop(engine.InterruptLoop{
		Key: "code", Prompt: engine.Text("Введите промокод (формат XX-1234):"),
		Accept: engine.Strategy{Regex: `^[A-Z]{2}-[0-9]{4}$`, Decision: "code_ok", Value: "discount_code"},
		Body:   []engine.Node{engine.LLM{Model: m, Prompt: engine.Text("Введите корректный код."), Into: "hint"}},
		Done:   []engine.Node{engine.LLM{Model: m, Prompt: engine.Fill("Примени скидку {discount_code}."), Into: "final"}},
	})
	run := engine.Execution{Key: stores.Key{Run: "promo-1"}}
	res, err := r.Execute(ctx, flow, run)
	for _, answer := range []string{"скидку!", "AB-2024"} {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res.Waiting[0].Prompt, answer)
		run.Resume = map[string]any{"code": answer}
		res, err = r.Execute(ctx, flow, run)
		fmt.Println(res.Status, res.State["code_ok"], res.State["hint"])
	}
	fmt.Println(res.State["final"], err)
	// Output:
	// Введите промокод (формат XX-1234): скидку!
	// paused no Введите корректный код.
	// Введите промокод (формат XX-1234): AB-2024
	// done yes Введите корректный код.
	// Примени скидку AB-2024. <nil>
}

// A draft is revised until a person says yes: what else they say is what to change.
func ExampleFlow_Loop() {
	ctx := context.Background()
	dir := scratch()
	defer os.RemoveAll(dir)
	r, store := opened(sqlite.Open(ctx, filepath.Join(dir, "checkpoints.db"), sqlite.Options{Create: true}))
	defer store.Close()
	m := offline(func(prompt string) string { return prompt })
	flow := engine.NewFlow("plan").
		Step("draft", engine.LLM{Model: m, Prompt: engine.Fill("план: {task}"), Into: "draft"}).
		Interrupt(engine.Interrupt{Key: "approved", Prompt: engine.Fill("{draft} — одобрить? (да / правки)")}).
		Loop(engine.Loop{
			Until:         engine.KeyIs("approved", "да"),
			Done:          []engine.Node{engine.LLM{Model: m, Prompt: engine.Fill("готово, {draft}"), Into: "final"}},
			Body:          []engine.Node{engine.LLM{Model: m, Prompt: engine.Fill("{draft} + {approved}"), Into: "draft"}},
			MaxIterations: 10,
		})
	run := engine.Execution{Key: stores.Key{Run: "plan-1"}, State: engine.State{"task": "ремонт"}}
	res, err := r.Execute(ctx, flow, run)
	for _, answer := range []string{"плитка", "тёплый пол", "Да!"} {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(res.Waiting[0].Prompt, answer)
		run.Resume = map[string]any{"approved": answer}
		res, err = r.Execute(ctx, flow, run)
	}
	fmt.Println(res.Status, res.State["final"], err)
	// Output:
	// план: ремонт — одобрить? (да / правки) плитка
	// план: ремонт + плитка — одобрить? (да / правки) тёплый пол
	// план: ремонт + плитка + тёплый пол — одобрить? (да / правки) Да!
	// done готово, план: ремонт + плитка + тёплый пол <nil>
}

// A model judges answers in free words. What it cannot judge is asked again.
func ExampleStrategy_classifier() {
	ctx := context.Background()
	dir := scratch()
	defer os.RemoveAll(dir)
	r, store := opened(sqlite.Open(ctx, filepath.Join(dir, "checkpoints.db"), sqlite.Options{Create: true}))
	defer store.Close()
	judge := offline(func(asked string) string {
		if strings.Contains(asked, "конечно") {
			return `{"ok": true, "clear": true, "value": "yes"}`
		}
		return `{"ok": false, "clear": false}`
	})
	flow := engine.NewFlow("free").InterruptLoop(engine.InterruptLoop{
		Key: "approved", Prompt: engine.Text("Go ahead?"),
		Accept: engine.Strategy{Classifier: &engine.Classifier{Model: judge}},
	})
	run := engine.Execution{}
	res, err := r.Execute(ctx, flow, run)
	for _, answer := range []string{"hm", "конечно"} {
		if err != nil {
			log.Fatal(err)
		}
		res, err = r.Execute(ctx, flow, engine.Execution{Key: res.Key, Resume: map[string]any{"approved": answer}})
		fmt.Println(answer, res.Status, res.State["approved_decision"])
	}
	// Output:
	// hm paused unclear
	// конечно done yes
}
