package viewer

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
	"github.com/flowtui/flowtui/stores"
)

// Startable is the name of the workflow that runs of teff's are started with,
// or why it cannot be run here.
func (s *Service) Startable() (string, error) {
	w := s.theWorkflow()
	if err := cmp.Or(w.err, w.unsupported); err != nil {
		return "", foreignProblem(stores.Key{}, err)
	}
	return w.Name, nil
}

// startForeign starts a run of teff's under an id that nothing is kept under.
// teff itself would resume what is there.
func (s *Service) startForeign(ctx context.Context, a *attachment, k stores.Key, r StartRequest, t *teller) (Outcome, error) {
	if _, err := s.Startable(); err != nil {
		return Outcome{}, err
	}
	initial, err := initialForeign(r.State)
	if err != nil {
		return Outcome{}, err
	}
	if k.Run == "" {
		k.Run = strings.ToLower(rand.Text())
	}
	w := s.theWorkflow()
	rows := rowsOf(a, k.Owner)
	if err := vacant(ctx, rows, k.Run, w.Graph); err != nil {
		return Outcome{}, err
	}
	runner := &teff.Runner{Workflow: w.Workflow, Store: rows, MaxIterations: r.MaxIterations, Now: s.o.Clock}
	o, err := s.runForeign(ctx, a, k, foreignRun{runner: runner, id: k.Run, initial: initial, what: "it is started"}, t)
	if err != nil {
		return Outcome{Run: k.Run}, err
	}
	t.tell("completed", o.Outcome)
	return out(s, o, false), nil
}

// initialForeign is a state as teff reads one: whole numbers and fractions stay
// apart, and NaN is a number.
func initialForeign(text []byte) (*py.Dict, error) {
	if len(text) == 0 {
		return nil, nil
	}
	v, err := py.Loads(text)
	state, ok := v.(*py.Dict)
	switch {
	case err != nil:
		return nil, Problem{Code: codeUsage, Message: "the state is no JSON: " + err.Error(), Hint: "give one JSON object"}
	case !ok:
		return nil, Problem{Code: codeUsage, Message: "the state is " + py.TypeName(v) + ", not an object", Hint: "give one JSON object"}
	case state.Has(teff.InterruptKey):
		return nil, Problem{Code: codeUsage, Message: fmt.Sprintf("the state has %q, in which teff keeps what a run waits for", teff.InterruptKey), Hint: "leave it out"}
	}
	return state, nil
}

// vacant refuses the id of a new run under which something is kept: a run, one
// that it would be nested in, or nested runs that an earlier run of the id left,
// which teff would go on with.
func vacant(ctx context.Context, rows *teffRows, id string, g *teff.Graph) error {
	refuse := func(message string) error {
		return Problem{Code: codeConflict, Run: id, Message: message + "; nothing was saved", Hint: "give another --id"}
	}
	c, found, err := rows.Load(ctx, id)
	if err != nil {
		return err
	}
	if found {
		status, err := teff.ReadRow(c.Payload())
		if err != nil {
			return err
		}
		p := Problem{
			Code: codeConflict, Run: id, Hint: "give another --id, or see flowtui plan for what brings the run on",
			Message: fmt.Sprintf("there is a run of this id, it is %s at iteration %d; nothing was saved", status.Status, status.Iteration),
		}
		if name, err := rows.named(ctx, id); err == nil && name != id {
			p.Message = fmt.Sprintf("in files this id is that of the run %s, which is %s at iteration %d; nothing was saved", name, status.Status, status.Iteration)
		}
		return p
	}
	for outer := id; ; {
		at := strings.LastIndex(outer, ":sub:")
		if at < 0 {
			break
		}
		outer = outer[:at]
		if _, found, err := rows.Load(ctx, outer); err != nil || found {
			return cmp.Or(err, refuse("the id is that of a run nested in "+outer))
		}
	}
	if steps, err := rows.history(ctx, id); err != nil || len(steps) > 0 {
		return cmp.Or(err, refuse("an earlier run of this id was deleted and its history kept, which that of a new one would be mixed with"))
	}
	left, err := leftover(ctx, rows, id, g)
	if err == nil && left != "" {
		err = refuse(fmt.Sprintf("an earlier run of this id has left the nested run %s, which teff would go on with", left))
	}
	return err
}

// leftover is a nested run that a new run would meet, "" for none.
func leftover(ctx context.Context, rows *teffRows, id string, g *teff.Graph) (string, error) {
	for _, n := range g.Nodes {
		if n.Graph == nil {
			continue
		}
		child := teff.ChildID(id, n.ID)
		_, found, err := rows.Load(ctx, child)
		if err == nil && !found {
			child, err = leftover(ctx, rows, child, n.Graph)
		}
		if err != nil || child != "" {
			return child, err
		}
	}
	return "", nil
}

// history are the first steps that are kept of an id, of a run that is there or
// of one that is not any more.
func (t *teffRows) history(ctx context.Context, id string) ([]stores.Checkpoint, error) {
	h, ok := t.store.(stores.Historian)
	if !ok {
		return nil, nil
	}
	steps, err := h.History(ctx, t.key(id), stores.HistoryQuery{Limit: 1})
	if errors.Is(err, stores.ErrNotFound) {
		return nil, nil
	}
	return steps, err
}

// named is the id of a run as its store writes it.
func (t *teffRows) named(ctx context.Context, id string) (string, error) {
	c, err := t.store.Latest(ctx, t.key(id))
	if errors.Is(err, stores.ErrNotFound) {
		return id, nil
	}
	return c.Run, err
}
