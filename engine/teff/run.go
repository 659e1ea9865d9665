package teff

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/engine/teff/py"
)

// A Runner runs one workflow on the checkpoints of one owner. It is safe for
// concurrent use as far as its Store is; teff itself has no locks between
// processes, and two calls that run one id both execute it.
type Runner struct {
	Workflow *Workflow
	Store    Checkpointer
	// MaxIterations bounds the finished node executions of a run in all; 0: none.
	MaxIterations int64
	// Now is the clock of the transform "now"; nil: time.Now.
	Now func() time.Time
}

// A Result is how a call ended.
type Result struct {
	State     *py.Dict   // as the run has it in memory; nil when paused
	Interrupt *Interrupt // what the run waits for, or nil when it completed
}

// Run starts the run of an id, or resumes it when it has a checkpoint, and
// goes on until it completes, pauses or fails. The initial state counts for a
// new run only: state.initial with the given keys over it. An answer sets every
// key that it has, and is ignored by a run that does not wait (teff format,
// resume).
//
// A failed run is a *[py.Error] with Python's class; it stays at its last
// checkpoint. Anything else than that (a store's error, a cancelled context, an
// *[InexactError]) leaves the run like a process that died.
func (r *Runner) Run(ctx context.Context, id string, initial, answer *py.Dict) (Result, error) {
	if err := r.Runnable(ctx, id, initial, answer); err != nil {
		return Result{}, err
	}
	l, err := r.level(ctx, id, answer)
	if err != nil {
		return Result{}, err
	}
	return l.result(ctx, initial)
}

// Runnable refuses what Run would refuse, with the same arguments. Nodes that the
// engine lacks count only where the run comes to them before it ends, pauses or
// fails, which a run on a copy of the rows shows: so a person's answer can be run
// on behind a model. Nothing is saved.
func (r *Runner) Runnable(ctx context.Context, id string, initial, answer *py.Dict) error {
	err := Check(r.Workflow)
	refused, ok := errors.AsType[*UnsupportedError](err)
	if !ok || !refused.onlyNodes() {
		return err
	}
	_, err = r.dryRun(ctx, id, initial, answer)
	_, lacks := errors.AsType[*InexactError](err)
	switch {
	case lacks || errors.Is(err, errHalted):
		return refused
	case isException(err):
		return nil
	}
	return err
}

// dryNodes bounds what a dry run runs.
const dryNodes = 1000

// dryRun is Run on a copy of the rows, without waits between attempts.
func (r *Runner) dryRun(ctx context.Context, id string, initial, answer *py.Dict) (Result, error) {
	dry := *r
	dry.Store = newOverlay(r.Store)
	l, err := dry.level(ctx, id, answer)
	if err != nil {
		return Result{}, err
	}
	l.budget = dryNodes
	l.wait = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
	return l.result(ctx, initial)
}

// result runs a prepared call.
func (l *topLevel) result(ctx context.Context, initial *py.Dict) (Result, error) {
	state := l.initial
	if initial != nil {
		given, err := py.DeepCopy(initial)
		if err != nil {
			return Result{}, err
		}
		state.Update(given.(*py.Dict))
	}
	out, err := l.run(ctx, state)
	if pause, ok := asInterrupt(err); ok {
		return Result{Interrupt: pause}, nil
	}
	if err != nil {
		return Result{}, fmt.Errorf("run %s: %w", l.id, err)
	}
	return Result{State: out}, nil
}

// topLevel is the level of the document, with its own copy of the initial state.
type topLevel struct {
	*level
	initial *py.Dict
}

// level prepares a call. It works on a copy of the workflow, so that each call
// is like a new process (teff format, defect 5).
func (r *Runner) level(ctx context.Context, id string, answer *py.Dict) (*topLevel, error) {
	w, err := r.Workflow.clone()
	if err != nil {
		return nil, err
	}
	c := &call{reducers: w.Reducers, tools: w.Tools, now: r.Now, wait: sleep, cancelled: ctx.Err}
	if c.now == nil {
		c.now = time.Now
	}
	l := &level{executor: executor{call: c, id: id, store: r.Store}, graph: w.Graph, maxIterations: r.MaxIterations}
	if answer != nil {
		v, err := py.DeepCopy(answer)
		if err != nil {
			return nil, err
		}
		l.resume = v.(*py.Dict)
	}
	return &topLevel{level: l, initial: w.Initial}, nil
}

// UpdateState sets keys of a stored state as teff's update_state does: top
// level, no reducers, same next node and iteration; only this row, so that a
// crash inside a subflow is cured in the child's. It is a KeyError when there
// is no such run.
func UpdateState(ctx context.Context, store Checkpointer, id string, values *py.Dict) error {
	c, found, err := store.Load(ctx, id)
	if err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("update the state of run %s: %w", id, py.NewKeyError(id))
	}
	state, err := loadState(id, c)
	if err != nil {
		return err
	}
	state.Update(values)
	if c.State, err = py.Dumps(state); err != nil {
		return fmt.Errorf("update the state of run %s: %w", id, err)
	}
	return store.Save(ctx, id, c)
}
