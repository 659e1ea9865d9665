package viewer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/stores"
)

// actForeign acts on a run of teff's. Only its row is written, and what running
// on writes.
func (s *Service) actForeign(ctx context.Context, a *attachment, g glimpse, r Request, t *teller) (Outcome, error) {
	k, f := g.head.Key, s.facts(g)
	refuse := func(code, hint, format string, args ...any) (Outcome, error) {
		return Outcome{}, Problem{Code: code, Run: k.Run, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	if err := sameForeign(g.head, f, r.Version); err != nil {
		return Outcome{}, err
	}
	if why, code := f.foreignRefusal(r.Action); why != "" {
		return refuse(code, "", "%s", why)
	}
	w := s.workflowOf(f)
	if p, told := errors.AsType[Problem](w.err); told {
		return refuse(p.Code, p.Hint, "%s", p.Message)
	}
	if w.err != nil {
		return Outcome{}, w.err
	}
	rows := rowsOf(a, k.Owner)
	runner := &teff.Runner{Workflow: w.Workflow, Store: rows, MaxIterations: r.MaxIterations, Now: s.o.Clock}
	id := originalID(r.Ref, k, f)
	if err := s.pin(ctx, rows, id, g.head); err != nil {
		return Outcome{}, err
	}
	if r.Action == Recover {
		if r.NoRun {
			return refuse(codeUsage, "", "there is no decision to store: recovering is running it")
		}
		return s.runForeign(ctx, a, k, foreignRun{runner: runner, id: id, what: "it is picked up"}, t)
	}
	answer, err := answerForeign(f, r)
	if err != nil {
		return Outcome{}, err
	}
	if _, err := s.accepts(ctx, k, runner, id, answer, r.Unchecked); err != nil {
		return Outcome{}, err
	}
	if r.NoRun {
		changes, err := teff.Answer(ctx, w.Workflow, rows, id, answer)
		if err == nil {
			err = rows.apply(ctx, changes)
		}
		if err != nil {
			return Outcome{}, foreignProblem(k, err)
		}
		return s.standingNow(ctx, a, k, "the answer is stored; nothing was run, teff or flowtui goes on from here")
	}
	return s.runForeign(ctx, a, k, foreignRun{runner: runner, id: id, answer: answer, what: "the answer is given"}, t)
}

// pin reads the row that an action starts from, and makes sure that it is still
// the one that was looked at: what is written is compared with it.
func (s *Service) pin(ctx context.Context, rows *teffRows, id string, h stores.Head) error {
	c, err := rows.store.Latest(ctx, rows.key(id))
	if err != nil {
		return err
	}
	if !bytes.Equal(c.Prev, h.Prev) {
		return changedForeign(h.Run, false)
	}
	rows.seen[id] = c.Payload
	return nil
}

// sameForeign compares a version that was seen with the row as it is now.
func sameForeign(h stores.Head, f facts, version string) error {
	seen, isRow := strings.CutPrefix(version, rowVersion)
	switch {
	case version == "", isRow && seen == fingerprint(h), !isRow && version == foreignVersion(h):
		return nil
	}
	return Problem{
		Code: codeConflict, Run: h.Run, Message: fmt.Sprintf("changed since you looked: it is %s at iteration %d", f.native(), h.Step),
		Hint: "look at it again before you act",
	}
}

func changedForeign(id string, saved bool) error {
	what := "it changed while you acted; nothing was saved"
	if saved {
		what = "it changed while you acted: another process is at it too, and it is as that one left it"
	}
	return Problem{Code: codeConflict, Run: id, Message: what, Hint: "look at it again before you act"}
}

// originalID is the id that the run has for teff. File names have it with /
// written as _; a nested pause tells it, and so may whoever names the run.
func originalID(ref Ref, k stores.Key, f facts) string {
	if head, ok := strings.CutSuffix(f.foreign.Nested, ":sub:"+f.foreign.Node); ok && f.foreign.Node != "" && strings.ReplaceAll(head, "/", "_") == strings.ReplaceAll(k.Run, "/", "_") {
		return head
	}
	return ref.Run
}

// answerForeign is the answer as teff's resume takes it.
func answerForeign(f facts, r Request) (*py.Dict, error) {
	r0 := f.foreign
	if id := f.waiting[0].ID; r.Target != "" && r.Target != id && r.Target != r0.Key && r.Target != Scrub(r0.Key) && r.Target != Scrub(id) {
		return nil, Problem{Code: codeConflict, Message: fmt.Sprintf("it does not ask %q; it asks %q (%s)", r.Target, r0.Key, id), Hint: "look at it again before you act"}
	}
	v, err := py.Loads(r.Value)
	if err != nil {
		return nil, Problem{Code: codeUsage, Message: "the answer is no JSON: " + err.Error()}
	}
	return py.NewDict(py.Entry{Key: r0.Key, Value: v}), nil
}

// accepts says what an answer does, and refuses one that the Ask of the workflow
// would not take, unless it is to be sent all the same. What cannot be foretold
// is left to the run.
func (s *Service) accepts(ctx context.Context, k stores.Key, runner *teff.Runner, id string, answer *py.Dict, unchecked bool) (string, error) {
	p, err := runner.CheckAnswer(ctx, id, answer)
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if err != nil || p.Verdict != teff.Refused || unchecked {
		return p.Sentence, nil
	}
	return "", wouldNotPass(ctx, k, runner, id, p.Sentence)
}

// takes refuses a message to a run that waits, as an answer to it would be
// refused, and one to a run of another workflow. The row is that of the run, nil
// for none.
func (s *Service) takes(ctx context.Context, a *attachment, k stores.Key, w workflow, runner *teff.Runner, row *teff.Row, r TurnRequest) error {
	if row == nil {
		return nil
	}
	g, err := s.glimpse(ctx, a, k)
	if err != nil {
		return err
	}
	if why := w.misfit(s.facts(g)); why != "" {
		return Problem{Code: codeRefused, Run: k.Run, Message: why, Hint: misfitHint}
	}
	if row.Status != teff.Paused {
		return nil
	}
	_, err = s.accepts(ctx, k, runner, k.Run, py.NewDict(py.Entry{Key: row.Key, Value: r.Message}), r.Unchecked)
	return err
}

// recovers reports whether a run can be run on here, as far as its workflow goes.
func (s *Service) recovers(ctx context.Context, a *attachment, k stores.Key, f facts) (bool, error) {
	w := s.workflowOf(f)
	if w.err != nil || w.unsupported == nil {
		return true, nil
	}
	runner := &teff.Runner{Workflow: w.Workflow, Store: rowsOf(a, k.Owner), Now: s.o.Clock}
	err := runner.Runnable(ctx, originalID(Ref{Run: k.Run}, k, f), nil, nil)
	return err == nil, ctx.Err()
}

// Foretell says what the answer of a request does to a run of teff's, as far as
// its workflow tells, and refuses one that would not pass. It is "" for other
// actions and runs, and where nothing can be foretold. Nothing is saved.
func (s *Service) Foretell(ctx context.Context, r Request) (string, error) {
	a, k, err := s.at(r.Ref)
	if err != nil {
		return "", err
	}
	g, err := s.glimpse(ctx, a, k)
	if err != nil {
		return "", s.absent(ctx, a, k, err)
	}
	if g.foreign == nil || r.Action != Answer {
		return "", nil
	}
	f := s.facts(g)
	w := s.workflowOf(f)
	if why, _ := f.foreignRefusal(Answer); why != "" || w.err != nil {
		return "", nil // which Act says
	}
	answer, err := answerForeign(f, r)
	if err != nil {
		return "", err
	}
	runner := &teff.Runner{Workflow: w.Workflow, Store: rowsOf(a, k.Owner), Now: s.o.Clock}
	text, err := s.accepts(ctx, k, runner, originalID(r.Ref, k, f), answer, r.Unchecked)
	return out(s, text, false), err
}

// foreignRun is one call of the engine for teff's workflows.
type foreignRun struct {
	runner          *teff.Runner
	id              string   // as teff has it
	initial, answer *py.Dict // of a new run, of one that waits
	what            string   // in words, once the first row is saved
}

// runForeign runs a workflow until it completes, pauses or fails.
func (s *Service) runForeign(ctx context.Context, a *attachment, k stores.Key, r foreignRun, t *teller) (Outcome, error) {
	rows := r.runner.Store.(*teffRows)
	rows.began = func() { t.tell("picked up", r.what) }
	res, err := r.runner.Run(ctx, r.id, r.initial, r.answer)
	if err != nil {
		problem := foreignProblem(k, err)
		_, unsupported := errors.AsType[*teff.UnsupportedError](err)
		switch p, ok := errors.AsType[Problem](problem); {
		case rows.writes > 0:
			return Outcome{}, &acceptedError{what: r.what, err: problem}
		case ok && unsupported && r.answer != nil && !s.o.NoCommand:
			p.Hint += storeOnly
			return Outcome{}, p
		}
		return Outcome{}, problem
	}
	text := r.what + "; it is completed"
	if res.Interrupt != nil {
		text = fmt.Sprintf("%s; it is paused at %s: %s", r.what, res.Interrupt.NodeID, nameOr(res.Interrupt.Prompt, res.Interrupt.Key))
	}
	o, err := s.standingNow(ctx, a, k, text)
	if err != nil {
		return o, err
	}
	if g, lost := s.glimpse(ctx, a, k); lost == nil {
		s.sayWanted(ctx, a, g, o.Waiting)
	}
	return o, nil
}

// storeOnly is a hint for answers.
const storeOnly = "; or store the answer only, with --no-run"

// foreignProblem tells an error of the engine for teff's workflows.
func foreignProblem(k stores.Key, err error) error {
	p := Problem{Code: codeRefused, Run: k.Run, Message: err.Error()}
	_, unsupported := errors.AsType[*teff.UnsupportedError](err)
	_, inexact := errors.AsType[*teff.InexactError](err)
	raised, failed := errors.AsType[*py.Error](err)
	switch {
	case errors.Is(err, teff.ErrNotPaused):
		p.Code = codeConflict
	case errors.Is(err, teff.ErrNoWorkflow):
		p.Hint = workflowHint
	case unsupported, inexact:
		p.Hint = "let teff itself run it on"
	case failed:
		p.Code, p.Message = codeFailed, fmt.Sprintf("the run failed with %s; it stays unfinished at its last checkpoint", raised.Error())
		p.Hint = "running it again starts with the node that failed"
	default:
		return err
	}
	return p
}
