package teff

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// A Verdict is how an answer is judged.
type Verdict string

// The verdicts on an answer.
const (
	Taken    Verdict = "taken"    // nothing judges it: the edges alone use it
	Accepted Verdict = "accepted" // the Ask's strategy passes it
	Forced   Verdict = "forced"   // the strategy fails it, but the rounds are used up
	Refused  Verdict = "refused"  // the strategy fails it
)

// A Preview is what happens to an answer; nothing has been run or saved for it.
type Preview struct {
	Verdict  Verdict
	Sentence string   // what happens, in plain words
	Next     []string // the nodes that follow, as far as the answer alone decides
	Ends     bool     // after them the graph completes
	Outcome  *Outcome // nil when the engine cannot run the workflow on, or not to a stop
	Again    bool     // the outcome is that the same key is asked for again
	// Elsewhere says that there is no outcome because the run comes to what the
	// engine lacks: teff itself has to run it on.
	Elsewhere bool
}

// An Outcome is where a run stops next.
type Outcome struct {
	Interrupt *Interrupt // it pauses
	Failed    string     // it fails: Python's exception
	Completed bool
}

// CheckAnswer says what an answer would do to a run that waits: how the Ask of
// the workflow judges it, which node follows, and, when the engine has all that
// the workflow needs, where the run would stop next. The store is only read.
func (r *Runner) CheckAnswer(ctx context.Context, id string, answer *py.Dict) (Preview, error) {
	at, err := locate(ctx, r.Workflow, r.Store, id)
	if err != nil {
		return Preview{}, err
	}
	return r.check(ctx, id, at, answer)
}

func (r *Runner) check(ctx context.Context, id string, at *paused, answer *py.Dict) (Preview, error) {
	p, err := at.follow(answer, false)
	if err != nil {
		return Preview{}, fmt.Errorf("answer run %s: %w", id, err)
	}
	if p.Outcome, p.Elsewhere, err = r.outcome(ctx, id, answer); err != nil {
		return Preview{}, err
	}
	p.Again = p.Outcome != nil && p.Outcome.Interrupt != nil && p.Outcome.Interrupt.Key == at.pause.Key
	p.Sentence = p.sentence(at)
	if answer == nil || !answer.Has(at.pause.Key) {
		p.Sentence = fmt.Sprintf("it has no %q, which the run waits for, and teff takes it anyway: ", at.pause.Key) + p.Sentence
	}
	return p, nil
}

// follow takes an answer as the innermost level would and follows the edges,
// through the validate node of an Ask, which can be assumed to accept it.
func (p *paused) follow(answer *py.Dict, accept bool) (Preview, error) {
	v, err := py.DeepCopy(p.at.state)
	if err != nil {
		return Preview{}, err
	}
	state := v.(*py.Dict)
	state.Delete(InterruptKey)
	if answer != nil {
		state.Update(answer)
	}
	l := level{graph: p.graph}
	preview := Preview{Verdict: Taken}
	next, err := l.follow(p.pause.NodeID, state)
	if err != nil {
		return Preview{}, err
	}
	if n := p.judge(next); n != nil {
		preview.Next = append(preview.Next, *next)
		if preview.Verdict, err = p.ask(n, state, accept); err != nil {
			return Preview{}, err
		}
		if next, err = l.follow(n.ID, state); err != nil {
			return Preview{}, err
		}
	}
	if next != nil {
		preview.Next = append(preview.Next, *next)
	}
	preview.Ends = next == nil
	return preview, nil
}

// judge is the node of an id if it judges the answer that is waited for.
func (p *paused) judge(id *string) *Node {
	if id == nil {
		return nil
	}
	n := p.graph.Node(*id)
	if n == nil || n.Type != "validate" || text(n.Config, "input_key", "answer") != p.pause.Key {
		return nil
	}
	return n
}

// ask runs a validate node on a state and says how it judged.
func (p *paused) ask(n *Node, state *py.Dict, accept bool) (Verdict, error) {
	decision := text(n.Config, "output_key", "decision")
	passed := n.Config.GetOr("pass_value", "да")
	if accept {
		state.Set(decision, passed)
		return Accepted, nil
	}
	r, err := validate(n, state)
	if err != nil {
		return "", err
	}
	v, err := judge(n.Config, state.GetOr(p.pause.Key, nil))
	if err != nil {
		return "", err
	}
	state.Update(r.update)
	switch {
	case v.ok && v.clear:
		return Accepted, nil
	case py.Equal(state.GetOr(decision, nil), passed):
		return Forced, nil
	}
	return Refused, nil
}

// outcome runs an answer on a copy of the rows. It is nil for what cannot be
// foretold; elsewhere says that this is because the engine lacks what follows.
func (r *Runner) outcome(ctx context.Context, id string, answer *py.Dict) (o *Outcome, elsewhere bool, err error) {
	refused, unsupported := errors.AsType[*UnsupportedError](Check(r.Workflow))
	if unsupported && !refused.onlyNodes() || answer == nil || answer.Len() == 0 {
		return nil, unsupported, nil
	}
	res, err := r.dryRun(ctx, id, nil, answer)
	switch {
	case ctx.Err() != nil:
		return nil, false, ctx.Err()
	case err == nil:
		return &Outcome{Interrupt: res.Interrupt, Completed: res.Interrupt == nil}, false, nil
	case isException(err):
		return &Outcome{Failed: exception(err)}, false, nil
	}
	return nil, unsupported, nil
}
