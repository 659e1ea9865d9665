package engine

import (
	"context"
	"fmt"
	"strings"
)

// The methods of this file build a flow step by step: each step follows the one
// before it. They add nothing that Node, Edge and When could not.

// Step adds a node that follows the step before it.
func (f *Flow) Step(id string, n Node) *Flow {
	f.Node(id, n).link(id)
	f.again = id
	return f
}

// After makes the next step follow these nodes, or none.
func (f *Flow) After(ids ...string) *Flow {
	f.after, f.again = ids, ""
	if len(ids) == 1 {
		f.again = ids[0]
	}
	return f
}

func (f *Flow) link(id string) {
	for _, from := range f.after {
		f.Edge(from, id)
	}
	f.after = []string{id}
}

// Interrupt adds an interrupt as the next step. Its id is its key.
func (f *Flow) Interrupt(i Interrupt) *Flow {
	f.checkKey(i)
	return f.Step(i.Key, i)
}

func (f *Flow) checkKey(i Interrupt) {
	if i.Key == "" {
		f.fail("an interrupt has no key")
	}
}

// Ask adds an interrupt and, after it, the node ID:validate, which judges the
// answer: the flow goes on in any case, and its conditions read the outcome. A
// [Flow.Loop] after it asks again.
func (f *Flow) Ask(id string, i Interrupt, s Strategy) *Flow {
	f.ask(id, i, s)
	return f
}

// ask adds an interrupt with its validation and returns the prepared strategy.
func (f *Flow) ask(id string, i Interrupt, s Strategy) Strategy {
	f.checkKey(i)
	s, err := s.prepared(i.Key)
	if err != nil {
		f.fail("interrupt %q: %w", id, err)
	}
	i.Want = s.want()
	f.Step(id, i).Node(id+":validate", validate{i, s}).link(id + ":validate")
	return s
}

// InterruptLoop asks until an answer passes.
type InterruptLoop struct {
	ID      string // of the interrupt's node; "" is its key
	Key     string // of the state that gets the answer
	Prompt  func(State) (string, error)
	Choices []string // offered answers; empty for a free one
	Accept  Strategy
	Body    []Node // run one after the other when an answer did not pass, before it is asked again
	Done    []Node // run one after the other once one did
}

// InterruptLoop adds a loop of the nodes ID, ID:validate, ID:body (ID:body2, …)
// and ID:done. What follows it runs after Done. An answer that is unclear to a
// classifier is asked for again at once.
func (f *Flow) InterruptLoop(l InterruptLoop) *Flow {
	id := l.ID
	if id == "" {
		id = l.Key
	}
	s := f.ask(id, Interrupt{Key: l.Key, Prompt: l.Prompt, Choices: l.Choices}, l.Accept)
	judge := id + ":validate"
	if s.Classifier != nil {
		f.inner(judge, textIs(s.Decision, s.Unclear), id)
	}
	body := f.chain(id+":body", l.Body)
	first := id
	if len(body) > 0 {
		first = body[0]
		f.Edge(body[len(body)-1], id)
	}
	f.inner(judge, not(textIs(s.Decision, s.Pass)), first)
	f.after = []string{judge}
	f.then(id, l.Done)
	return f
}

// Loop repeats a body until what the step before it wrote says that it is enough.
type Loop struct {
	Until Condition
	Body  []Node // run one after the other while Until does not hold
	Done  []Node // run one after the other once it does
	// MaxIterations bounds how often the body runs; 0 is no bound but the flow's.
	// A run that would go beyond it fails, or follows the error edge of the node
	// that counts: it is never taken for done.
	MaxIterations int64
	Rounds        string // key that counts the iterations, with MaxIterations; "" is the decider's id with "_rounds"
}

// Loop adds a loop around the step before it, the decider: when Until holds
// after it, Done runs and the flow goes on; else Body runs, and then the decider
// again. A decider that is an interrupt asks again. The nodes are named after
// the decider: ID:body, ID:done, and ID:round, which counts for MaxIterations.
func (f *Flow) Loop(l Loop) *Flow {
	if len(f.after) != 1 || f.again == "" {
		f.fail("a loop needs one step before it that decides")
		return f
	}
	decider, id := f.after[0], f.again
	switch {
	case l.Until.Test == nil || l.Until.Text == "":
		f.fail("the loop of %q has an empty condition", id)
		return f
	case len(l.Body) == 0:
		f.fail("the loop of %q has no body", id)
		return f
	case l.MaxIterations < 0:
		f.fail("the loop of %q: MaxIterations is negative", id)
	}
	body := f.chain(id+":body", l.Body)
	f.Edge(body[len(body)-1], id)
	first := body[0]
	if l.MaxIterations > 0 {
		if l.Rounds == "" {
			l.Rounds = id + "_rounds"
		}
		first = id + ":round"
		f.Node(first, round{l.Rounds, l.MaxIterations}).Edge(first, body[0])
	}
	f.inner(decider, not(l.Until), first)
	f.then(id, l.Done)
	return f
}

// then lets the done nodes of a loop follow, and what comes next follow those.
func (f *Flow) then(id string, done []Node) {
	ids := f.chain(id+":done", done)
	if len(ids) > 0 {
		f.link(ids[0])
		f.after = ids[len(ids)-1:]
	}
	f.again = ""
}

// chain adds nodes of which each follows the one before it.
func (f *Flow) chain(name string, nodes []Node) (ids []string) {
	for i, n := range nodes {
		id := name
		if i > 0 {
			id = fmt.Sprintf("%s%d", name, i+1)
			f.Edge(ids[i-1], id)
		}
		f.Node(id, n)
		ids = append(ids, id)
	}
	return ids
}

// inner adds an edge that is followed alone when it matches.
func (f *Flow) inner(from string, c Condition, to string) {
	f.edges = append(f.edges, edge{from: from, to: []string{to}, cond: &c, inner: true})
}

// Repeat adds the edge of a loop: when the condition holds, it is the only one
// of the node's edges that is followed.
func (f *Flow) Repeat(from string, c Condition, to string) *Flow {
	if c.Test == nil || c.Text == "" {
		f.fail("edge from %q has an empty condition", from)
	}
	f.inner(from, c, to)
	return f
}

// round counts the iterations of a loop.
type round struct {
	key string
	max int64
}

// Type is "round".
func (round) Type() string { return "round" }

// Run counts one more iteration, or fails.
func (r round) Run(_ context.Context, s State) (State, error) {
	n, err := count(s, r.key)
	if err != nil {
		return nil, err
	}
	if n >= r.max {
		return nil, fmt.Errorf("the loop ran %d times, which is its limit, and is not done", n)
	}
	return State{r.key: n + 1}, nil
}

// KeyIs holds when a key of the state is the given text, or one of several that
// commas part. Case, white space around it and .,!?;: at its end do not matter:
// "Yes!" is yes. It is key=value of the flow files' condition language, for
// texts, numbers and booleans.
func KeyIs(key, value string) Condition {
	options := strings.Split(value, ",")
	return Condition{Text: key + "=" + value, Test: func(s State) (bool, error) {
		v, given := s[key]
		text, scalar := answerText(v)
		if !given || v == nil || !scalar {
			return false, nil
		}
		for _, o := range options {
			if strings.EqualFold(bare(o), bare(text)) {
				return true, nil
			}
		}
		return false, nil
	}}
}

func bare(s string) string { return strings.TrimRight(strings.TrimSpace(s), ".,!?;:") }

// textIs compares exactly, for what the engine itself wrote.
func textIs(key, value string) Condition {
	return Condition{Text: key + "=" + value, Test: func(s State) (bool, error) { return s[key] == value, nil }}
}

func not(c Condition) Condition {
	return Condition{Text: "not " + c.Text, Test: func(s State) (bool, error) {
		ok, err := c.Test(s)
		return !ok, err
	}}
}

// Text is a prompt that is always the same.
func Text(text string) func(State) (string, error) {
	return func(State) (string, error) { return text, nil }
}

// Fill is a prompt in which {key} stands for a key of the state: texts as they
// are, anything else as JSON. A key that the state does not have is an error;
// {{ and }} are braces.
func Fill(text string) func(State) (string, error) {
	return func(s State) (string, error) { return fill(text, s) }
}

func fill(text string, s State) (string, error) {
	var b strings.Builder
	for text != "" {
		i := strings.IndexAny(text, "{}")
		if i < 0 {
			b.WriteString(text)
			break
		}
		b.WriteString(text[:i])
		rest := text[i+1:]
		if strings.HasPrefix(rest, text[i:i+1]) {
			b.WriteByte(text[i])
			text = rest[1:]
			continue
		}
		key, after, closed := strings.Cut(rest, "}")
		if text[i] == '}' || !closed {
			return "", fmt.Errorf("a single %q in a prompt; write it twice", text[i:i+1])
		}
		v, ok := s[key]
		if !ok {
			return "", fmt.Errorf("the prompt needs %q, which the state does not have", key)
		}
		value, isText := v.(string)
		if !isText {
			raw, err := Seal(v)
			if err != nil {
				return "", fmt.Errorf("%q in a prompt: %w", key, err)
			}
			value = string(raw)
		}
		b.WriteString(value)
		text = after
	}
	return b.String(), nil
}
