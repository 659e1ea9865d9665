//go:build unix

package crash

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/tool"
)

// call names a tool call of a run. Where the engine names it by its superstep,
// this says which visit of the node it belongs to.
type call struct {
	Run   string `json:"run"`
	ID    string `json:"call"`
	Visit int    `json:"visit"`
	Tool  string `json:"tool"`
}

// receipt is what the payment server answers. It depends on nothing but the
// call, so what a run's state must be in the end is known beforehand.
func (c call) receipt() string {
	return fmt.Sprintf("%s %s/%d of %s", c.Tool, c.ID, c.Visit, c.Run) + padding(c.Run)
}

// padding makes the rows of some runs so large that each needs room of its own.
func padding(run string) string {
	if strings.HasPrefix(run, "large-") {
		return strings.Repeat(".", 5000)
	}
	return ""
}

// The tools. Only the first one is idempotent.
const (
	holdSeats    = "hold_seats"
	chargeCard   = "charge_card" // needs an approval, and waits for its answer whatever happens
	book         = "book"
	emailTickets = "email_tickets"
)

// flowNames are the flows that the workers run.
var flowNames = []string{"tickets", "trip", "questions", "chat"}

func flowNamed(name string) (*engine.Flow, error) {
	switch name {
	case "tickets":
		return tickets(), nil
	case "trip":
		return trip(), nil
	case "questions":
		return questions(), nil
	case "chat":
		return chat().Flow(), nil
	}
	return nil, fmt.Errorf("there is no flow %q", name)
}

// callsOf lists the calls that a finished run has made.
func callsOf(flow, run string) []call {
	switch flow {
	case "tickets":
		return []call{{run, "hold.1", 1, holdSeats}, {run, "pay.1", 1, chargeCard}, {run, "send.1", 1, emailTickets}}
	case "trip":
		return []call{{run, "train.1", 1, book}, {run, "hotel.1", 1, book}, {run, "hotel.2", 1, holdSeats}, {run, "car.1", 1, book}, {run, "bill.1", 1, emailTickets}}
	case "questions":
		return []call{{run, "book.1", 1, book}, {run, "book.1", 2, book}}
	}
	return []call{{run, "tools.1", 1, holdSeats}, {run, "tools.2", 1, chargeCard}, {run, "tools.1", 2, emailTickets}}
}

func initial(run string) engine.State {
	return engine.State{"show": "Hamlet", "note": padding(run)}
}

// args names the call to the payment server, and has a part of the state in it.
func args(id string, visit int, s engine.State) map[string]any {
	return map[string]any{"call": id, "visit": visit, "show": s["show"], "note": s["note"]}
}

func callNode(id, toolName, into string) engine.Call {
	return engine.Call{Tool: toolName, Into: into, Args: func(s engine.State) (any, error) { return args(id+".1", 1, s), nil }}
}

// tickets is the flow of the reference on durable runs.
func tickets() *engine.Flow {
	return engine.NewFlow("tickets").
		Node("hold", callNode("hold", holdSeats, "hold")).
		Node("pay", callNode("pay", chargeCard, "charge")).
		Node("send", callNode("send", emailTickets, "mail")).
		Edge("hold", "pay").
		Edge("pay", "send").
		End("send")
}

// trip has three nodes side by side, one of which makes two calls.
func trip() *engine.Flow {
	nothing := engine.NodeFunc(func(context.Context, engine.State) (engine.State, error) { return nil, nil })
	hotel := engine.NodeFunc(func(ctx context.Context, s engine.State) (engine.State, error) {
		var receipts []any
		for i, name := range []string{book, holdSeats} {
			r, err := engine.CallTool(ctx, name, args(fmt.Sprintf("hotel.%d", i+1), 1, s))
			if err != nil {
				return nil, err
			}
			receipts = append(receipts, r)
		}
		return engine.State{"hotel": receipts}, nil
	})
	return engine.NewFlow("trip").
		Node("plan", nothing).
		Node("train", callNode("train", book, "train")).
		Node("hotel", hotel).
		Node("car", callNode("car", book, "car")).
		Node("bill", callNode("bill", emailTickets, "mail")).
		Edge("plan", "train", "hotel", "car").
		Edge("train", "bill").Edge("hotel", "bill").Edge("car", "bill").
		End("bill")
}

// questions asks before each booking, until somebody has had enough.
func questions() *engine.Flow {
	booking := engine.NodeFunc(func(ctx context.Context, s engine.State) (engine.State, error) {
		seats, _ := s["seats"].([]any)
		r, err := engine.CallTool(ctx, book, args("book.1", len(seats)+1, s))
		return engine.State{"seats": []any{r}, "answers": []any{s["more"]}}, err
	})
	again := engine.Condition{Text: "more == again", Test: func(s engine.State) (bool, error) { return s["more"] == "again", nil }}
	return engine.NewFlow("questions").
		Node("ask", engine.Interrupt{Key: "more", Choices: []string{"again", "stop"}}).
		Node("book", booking).
		Edge("ask", "book").
		When("book", again, "ask").
		Reduce("seats", engine.Append).
		Reduce("answers", engine.Append)
}

// answer is what the operator says to a question, by its id.
func answer(question string) json.RawMessage {
	if question == "ask#1" {
		return json.RawMessage(`"again"`)
	}
	return json.RawMessage(`"stop"`)
}

// chat is a tool loop whose model is scripted.
func chat() engine.ToolLoop {
	wants := func(i int, name, id string, visit int) model.ToolCall {
		return model.ToolCall{ID: fmt.Sprint("c", i), Name: name, Args: json.RawMessage(fmt.Sprintf(`{"call":%q,"visit":%d}`, id, visit))}
	}
	return engine.ToolLoop{
		Name: "chat", Into: "answer", Tools: []string{holdSeats, chargeCard, emailTickets},
		Model: model.NewScripted(
			model.Message{ToolCalls: []model.ToolCall{wants(1, holdSeats, "tools.1", 1), wants(2, chargeCard, "tools.2", 1)}},
			model.Message{ToolCalls: []model.ToolCall{wants(3, emailTickets, "tools.1", 2)}},
			model.Message{Content: "Enjoy the play."}),
	}
}

// stateOf is the state in which a run must end, the conversation of a chat in
// short.
func stateOf(flow, run string) map[string]any {
	s := map[string]any{"show": "Hamlet", "note": padding(run)}
	calls := callsOf(flow, run)
	r := func(i int) any { return calls[i].receipt() }
	switch flow {
	case "tickets":
		s["hold"], s["charge"], s["mail"] = r(0), r(1), r(2)
	case "trip":
		s["train"], s["hotel"], s["car"], s["mail"] = r(0), []any{r(1), r(2)}, r(3), r(4)
	case "questions":
		s["more"], s["seats"], s["answers"] = "stop", []any{r(0), r(1)}, []any{"again", "stop"}
	case "chat":
		return map[string]any{"answer": "Enjoy the play.", "messages": []any{
			"user two seats for Hamlet", "assistant ", "tool " + calls[0].receipt(), "tool " + calls[1].receipt(),
			"assistant ", "tool " + calls[2].receipt(), "assistant Enjoy the play.",
		}}
	}
	return s
}

// brief replaces a conversation by one line a message.
func brief(s engine.State) (map[string]any, error) {
	if s["messages"] == nil {
		return s, nil
	}
	list, err := engine.Messages(s, "messages")
	lines := []any{}
	for _, m := range list {
		lines = append(lines, string(m.Role)+" "+m.Content)
	}
	s["messages"] = lines
	return s, err
}

// tools are those of a worker; each pays at the given place.
func tools(pay func(ctx context.Context, name string, in tool.Input) (any, error)) *tool.Registry {
	reg := tool.NewRegistry()
	for _, t := range []tool.Tool{
		{Name: holdSeats, Idempotent: true}, {Name: chargeCard, Approval: tool.ApprovalRequired}, {Name: book}, {Name: emailTickets},
	} {
		name := t.Name
		t.Run = func(ctx context.Context, in tool.Input) (any, error) {
			if name == chargeCard {
				ctx = context.WithoutCancel(ctx)
			}
			return pay(ctx, name, in)
		}
		if err := reg.Add(t); err != nil {
			panic(err)
		}
	}
	return reg
}
