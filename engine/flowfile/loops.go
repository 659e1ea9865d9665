package flowfile

import (
	"context"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/engine"
)

var (
	strategyKeys = keys{
		known: []string{
			"equals", "any_of", "regex", "llm", "decision_key", "pass_value", "fail_value", "clarify_value", "value_key", "rounds_key", "max_rounds", "hint",
		},
		later: []string{"value_field", "verdict_key", "ok_field", "clear_field", "missing_is_ok"},
	}
	classifierKeys    = keys{known: []string{"model", "accepts"}}
	interruptLoopKeys = keys{known: []string{"key", "prompt", "choices", "strategy", "body", "done"}}
	loopKeys          = keys{known: []string{"key", "until", "max_rounds", "body"}}
	llmKeys           = keys{known: []string{"model", "system", "prompt", "messages", "into"}}
	conversationKeys  = keys{known: []string{"messages", "transient"}}
)

// The dialect's defaults, which its conditions in other files rely on.
const (
	defaultDecision  = "decision"
	defaultPass      = "да"
	defaultFail      = "нет"
	defaultRounds    = "rounds"
	defaultMaxAsks   = 100
	defaultMaxRounds = 10
)

// ask adds an interrupt whose answer is judged: ID and ID:validate.
func (d *document) ask(r reader, s *step, cfg *item) {
	before := len(*r.errs)
	if !r.mapping(cfg, "config of an interrupt", interruptKeys) {
		return
	}
	i := r.question(cfg, "config of an interrupt")
	strategy := d.strategy(r, cfg.get("strategy"), i.Key)
	s.exit = s.id + ":validate"
	if len(*r.errs) == before && s.id != "" {
		d.flow.After().Ask(s.id, i, strategy)
	}
}

// strategy reads what passes, with the dialect's defaults.
func (d *document) strategy(r reader, it *item, key string) engine.Strategy {
	before := len(*r.errs)
	s := engine.Strategy{Decision: defaultDecision, Pass: defaultPass, Fail: defaultFail, Rounds: defaultRounds, MaxRounds: defaultMaxAsks}
	if it.kind == isNull {
		r.fail(it, "strategy needs one of equals, any_of, regex and llm")
		return s
	}
	if !r.mapping(it, "strategy", strategyKeys) {
		return s
	}
	d.strategyTexts(r, it, &s)
	s.AnyOf = r.texts(it.get("any_of"), "any_of")
	s.Hidden = filled(it.get("equals"), it.get("any_of"), it.get("regex"))
	if n := r.whole(it.get("max_rounds"), "max_rounds"); n > 0 {
		s.MaxRounds = n
	}
	if c := it.get("llm"); c != nil && r.mapping(c, "llm", classifierKeys) {
		s.Classifier = &engine.Classifier{Model: d.model(r, c, "llm"), Accepts: r.text(c.get("accepts"), "accepts")}
	}
	var given []string
	for _, name := range []string{"equals", "any_of", "regex", "llm"} {
		if it.get(name) != nil {
			given = append(given, name)
		}
	}
	if len(given) != 1 && !it.typo {
		r.fail(it, "strategy needs exactly one of equals, any_of, regex and llm, found %d", len(given))
	}
	if a := it.get("any_of"); a != nil && a.kind == isList && len(a.list) == 0 {
		r.fail(a, "any_of must not be empty")
	}
	if len(*r.errs) == before && key != "" {
		if err := s.Validate(key); err != nil {
			r.fail(it, "%s", err)
		}
	}
	return s
}

// filled reports whether one of the items, or one inside them, holds a variable.
func filled(items ...*item) bool {
	return slices.ContainsFunc(items, func(it *item) bool {
		return it != nil && (it.variables != nil || filled(it.list...) || slices.ContainsFunc(it.fields, func(f field) bool { return filled(f.value) }))
	})
}

func (d *document) strategyTexts(r reader, it *item, s *engine.Strategy) {
	for key, field := range map[string]*string{
		"equals": &s.Equals, "regex": &s.Regex, "hint": &s.Hint, "decision_key": &s.Decision, "pass_value": &s.Pass, "fail_value": &s.Fail,
		"clarify_value": &s.Unclear, "value_key": &s.Value, "rounds_key": &s.Rounds,
	} {
		if v := it.get(key); v != nil {
			if *field = r.text(v, key); *field == "" && v.kind == isText {
				r.fail(v, "%s must not be empty", key)
			}
		}
	}
}

// interruptLoop adds a loop that asks until an answer passes.
func (d *document) interruptLoop(r reader, s *step, cfg *item) {
	const what = "config of an interrupt_loop"
	before := len(*r.errs)
	if !r.mapping(cfg, what, interruptLoopKeys) {
		return
	}
	i := r.question(cfg, what)
	l := engine.InterruptLoop{ID: s.id, Key: i.Key, Prompt: i.Prompt, Choices: i.Choices, Body: d.body(r, cfg.get("body"), "body"), Done: d.body(r, cfg.get("done"), "done")}
	if it := cfg.get("strategy"); it == nil {
		r.missing(cfg, "strategy", what)
	} else {
		l.Accept = d.strategy(r, it, i.Key)
	}
	s.exit = s.id + ":validate"
	if n := len(l.Done); n > 0 {
		s.exit = nth(s.id+":done", n)
	}
	if len(*r.errs) == before && s.id != "" {
		d.flow.After().InterruptLoop(l)
	}
}

// nth is how the engine names the n-th node of a chain.
func nth(name string, n int) string {
	if n == 1 {
		return name
	}
	return fmt.Sprintf("%s%d", name, n)
}

// loop adds a loop whose body runs at least once and at most max_rounds times:
// ID, which starts the count, ID:body, …, and ID:again, which counts.
func (d *document) loop(r reader, s *step, cfg *item) {
	const what = "config of a loop"
	before := len(*r.errs)
	if !r.mapping(cfg, what, loopKeys) {
		return
	}
	key := r.required(cfg, "key", what)
	r.required(cfg, "until", what)
	most := r.whole(cfg.get("max_rounds"), "max_rounds")
	if most == 0 {
		most = defaultMaxRounds
	}
	body := d.body(r, cfg.get("body"), "body")
	if len(body) == 0 && len(*r.errs) == before {
		r.fail(cfg, "%s needs a %q of at least one step", what, "body")
	}
	s.exit = nth(s.id+":body", max(1, len(body)))
	if len(*r.errs) > before || s.id == "" {
		return
	}
	d.flow.Node(s.id, rounds{s.id, true})
	last := s.id
	for i, n := range body {
		id := nth(s.id+":body", i+1)
		d.flow.Node(id, n).Edge(last, id)
		last = id
	}
	done := newCondition("", "=", cfg.get("until").written()).fill(cfg.get("until"))
	done.key = key
	d.flow.Node(s.id+":again", rounds{s.id, false}).Edge(s.id+":again", s.id+":body").Repeat(last, engine.Condition{
		Text: fmt.Sprintf("not %s=%s, at most %d rounds", cfg.get("key").written(), cfg.get("until").written(), most),
		Test: func(state engine.State) (bool, error) {
			ok, err := done.test(state)
			return !ok && counted(state, s.id) < most, err
		},
	}, s.id+":again")
}

// rounds counts the rounds of a loop in the state.
type rounds struct {
	loop  string
	begin bool
}

// Type is "loop" where it begins, and "round" for one more.
func (n rounds) Type() string {
	if n.begin {
		return "loop"
	}
	return "round"
}

// Run sets the count, which has the round that begins in it.
func (n rounds) Run(_ context.Context, s engine.State) (engine.State, error) {
	if n.begin {
		return engine.State{n.loop + "_rounds": 1}, nil
	}
	return engine.State{n.loop + "_rounds": counted(s, n.loop) + 1}, nil
}

func counted(s engine.State, loop string) int64 { return countOf(s, loop+"_rounds") }

// llm reads a step that asks a model once.
func (d *document) llm(r reader, cfg *item) engine.Node {
	const what = "config of an llm"
	if !r.mapping(cfg, what, llmKeys) {
		return nil
	}
	l := engine.LLM{
		Model: d.model(r, cfg, what), System: r.text(cfg.get("system"), "system"),
		Messages: r.text(cfg.get("messages"), "messages"), Into: r.text(cfg.get("into"), "into"),
	}
	if it := cfg.get("prompt"); it != nil {
		l.Prompt = r.template(it, r.text(it, "prompt")).render
	}
	switch {
	case l.Prompt == nil && l.Messages == "":
		r.missing(cfg, "prompt", what)
	case l.Into == "" && l.Messages == "":
		r.missing(cfg, "into", what)
	}
	return l
}

// llmChat reads the dialect's name for an llm.
func (d *document) llmChat(r reader, cfg *item) engine.Node {
	if cfg.kind != isMapping {
		return d.llm(r, cfg)
	}
	own := *cfg
	own.fields = nil
	for _, f := range cfg.fields {
		key := *f.key
		switch key.text {
		case "output_key":
			key.text = "into"
		case "messages_key":
			key.text = "messages"
		}
		own.fields = append(own.fields, field{&key, f.value})
	}
	return d.llm(r, &own)
}

// readConversation makes the flow a conversation.
func (d *document) readConversation(it *item) {
	if it == nil {
		return
	}
	if !d.mapping(it, "conversation", conversationKeys) {
		return
	}
	c := engine.Conversation{Messages: d.text(it.get("messages"), "messages"), Transient: d.texts(it.get("transient"), "transient")}
	key := c.Messages
	if key == "" {
		key = "messages"
	}
	if slices.Contains(c.Transient, key) {
		d.fail(it.get("transient"), "the messages of a conversation cannot be transient")
	}
	if s := d.step("turn"); s != nil {
		d.at(s.id).fail(s.at, "the step that waits for the next message of a conversation has this id")
	}
	if len(*d.errs) == 0 && len(d.steps) > 0 {
		d.flow.Conversation(c)
	}
}
