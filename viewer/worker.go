package viewer

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/engine/worker"
	"github.com/flowtui/flowtui/stores"
)

// WorkOptions are how a worker sweeps a store. Zero values are the defaults of
// [worker.Options].
type WorkOptions struct {
	Owner       string // "" is the Service's, "*" all
	Concurrency int
	Every       time.Duration
	Grace       time.Duration
	Once        bool         // sweep once and return when all of that is done
	Log         *slog.Logger // its handler replaces attributes with Service.LogAttr
}

// Work recovers the unfinished runs of a store that nobody holds, until ctx
// ends, see package worker. It acts for the Service's principal only, and for
// every user. With Once it returns what became of each run, as RecoverAll does.
func (s *Service) Work(ctx context.Context, storeLabel string, o WorkOptions) (map[string]RecoverAllResult, error) {
	a, err := s.attached(storeLabel)
	if err != nil {
		return nil, err
	}
	if err := cmp.Or(s.writable(a, stores.Key{}), a.ours(working)); err != nil {
		return nil, err
	}
	if _, err := s.runner(a, nil, &teller{s: s}); err != nil {
		return nil, err // without a key nothing could be recovered
	}
	// Of each run that it finds a worker says so; one with nothing to do would not.
	if p, unfit := errors.AsType[Problem](s.fits(ctx, a, nameOr(o.Owner, s.o.Owner))); unfit && o.Log != nil {
		o.Log.WarnContext(ctx, "key does not fit", "why", p.Message, "hint", p.Hint)
	}
	w, err := worker.New(s.workerOptions(a, o))
	if err != nil {
		return nil, err
	}
	if !o.Once {
		return nil, w.Run(ctx)
	}
	outcomes, err := w.Sweep(ctx)
	results := map[string]RecoverAllResult{}
	for _, x := range outcomes {
		results[x.Head.Owner+"/"+x.Head.Run] = s.sweptResult(x)
	}
	return out(s, results, false), err
}

func (s *Service) sweptResult(x worker.Outcome) RecoverAllResult {
	if x.Err != nil {
		p := explain(x.Err)
		p.Run = nameOr(p.Run, x.Head.Run)
		return RecoverAllResult{Problem: &p}
	}
	o := outcomeOf(x.Result, standing(x.Result))
	return RecoverAllResult{Outcome: &o}
}

func (s *Service) workerOptions(a *attachment, o WorkOptions) worker.Options {
	w := worker.Options{
		Runner: flowRunner{s, a}, Store: a.store, Owner: nameOr(o.Owner, s.o.Owner), Concurrency: o.Concurrency, Every: o.Every, Grace: o.Grace,
		Silent: quiet, Log: o.Log,
		Flows: func(name string) (*engine.Flow, error) {
			f, _, err := s.flowNamed(name)
			return f, err
		},
		Check: func(ctx context.Context, h stores.Head) error { return s.setBack(ctx, a, h) },
	}
	if p := s.o.Identity.Principal; p != "" {
		w.Principals = []string{p}
	}
	return w
}

// flowRunner recovers each run with the tools of its own flow.
type flowRunner struct {
	s *Service
	a *attachment
}

// Recover implements worker.Recoverer. What was reached is remembered, so that
// an older state put back later shows.
func (r flowRunner) Recover(ctx context.Context, f *engine.Flow, k stores.Key, o engine.RecoverOptions) (engine.Result, error) {
	_, tools, err := r.s.flowNamed(f.Name())
	if err != nil {
		return engine.Result{}, err
	}
	runner, err := r.s.runner(r.a, tools, &teller{s: r.s})
	if err != nil {
		return engine.Result{}, err
	}
	res, err := runner.Recover(ctx, f, k, o)
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), storePatience)
	defer stop()
	if h, lost := r.s.head(ctx, r.a, k); lost == nil {
		r.s.headVerdict(r.a, r.a.id(ctx), h)
	}
	return res, err
}

// flowNamed is a flow and its tools by the flow's name.
func (s *Service) flowNamed(name string) (*engine.Flow, *tool.Registry, error) {
	if s.o.Flows == nil {
		return nil, nil, Problem{Code: codeRefused, Message: "no flow files were given", Hint: flowHint}
	}
	return s.o.Flows.Flow(name)
}

// setBack refuses a run that was seen at a later step, and a store that is not
// the one that was attached: a worker must not do again what is done.
func (s *Service) setBack(ctx context.Context, a *attachment, h stores.Head) error {
	info, err := a.store.Info(ctx)
	if err != nil {
		return err
	}
	if err := a.adopt(info); err != nil {
		return err
	}
	v, why := s.headVerdict(a, info.ID, h)
	if v != Regressed {
		return nil
	}
	e := &engine.Error{Class: engine.ErrCheckpointStoreCorrupt, Key: h.Key, Reason: why, Hint: "see flowtui verify"}
	if s.regressed(a.ref(h.Key), h) != "" {
		e.Hint = s.forgetHint(a, h.Key)
	}
	return e
}

// LogAttr is for [slog.HandlerOptions]: like everything that leaves the
// Service, what a log says is explained, scrubbed unless the Service is raw,
// and its secrets are masked. Times are as in the rest of the JSON.
func (s *Service) LogAttr(_ []string, a slog.Attr) slog.Attr {
	switch v := a.Value.Any().(type) {
	case time.Time:
		a.Value = slog.TimeValue(v.UTC().Truncate(time.Millisecond))
	case error:
		a.Value = slog.StringValue(s.Explain(v).Message)
	case string:
		a.Value = slog.StringValue(out(s, v, false))
	case []string:
		a.Value = slog.AnyValue(out(s, v, false))
	}
	return a
}
