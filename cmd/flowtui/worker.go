package main

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

// workerFlags are the flags of the worker command.
type workerFlags struct {
	concurrency  int
	every, grace time.Duration
	once         bool
}

func newWorkerCommand(a *app) *cobra.Command {
	var f workerFlags
	cmd := &cobra.Command{
		Use:   "worker STORE",
		Short: "Keep runs going: recover what a crash cut short, spend stored decisions",
		Long: `Recover every run that a crash cut short, then keep sweeping for runs that nobody
holds and for decisions that were stored with --no-run. Several workers, on
several hosts, may share a store. A run with a call in doubt, one that does not
verify, one of a flow that is not in --flows are left as they are and told once.
A store of teff's takes no worker: see flowtui recover.

Starting it is the consent: it asks nothing. SIGINT, SIGTERM and SIGHUP stop it
and leave its runs recoverable; a second one ends it at once, but for SIGHUP, which
a terminal that closes may send twice. It works on the runs of one owner;
--owner '*' means all.`,
		Args: arguments("STORE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.work(cmd.Context(), args[0], f)
		},
	}
	cmd.Flags().IntVar(&f.concurrency, "concurrency", 4, "how many (`N`) runs are worked on at a time")
	cmd.Flags().DurationVar(&f.every, "every", 5*time.Second, "how often (`TIME`) to look when nothing tells of a change")
	cmd.Flags().DurationVar(&f.grace, "grace", 10*time.Second, "how long (`TIME`) runs under way may go on after a stop")
	cmd.Flags().BoolVar(&f.once, "once", false, "sweep once, then exit")
	return cmd
}

func (f workerFlags) check() error {
	switch {
	case f.concurrency < 1:
		return usagef("--concurrency is at least 1")
	case f.every < 100*time.Millisecond:
		return usagef("--every is at least 100ms")
	case f.grace < 0:
		return usagef("--grace is not negative")
	}
	return nil
}

func (a *app) work(ctx context.Context, store string, f workerFlags) error {
	if err := f.check(); err != nil {
		return err
	}
	targets, err := a.targets([]string{store})
	if err != nil {
		return err
	}
	if why, err := a.allFlowsLoad(targets); err != nil {
		if says := a.storeSays(ctx, targets, (*viewer.Service).Works); says != nil {
			return says
		}
		for _, line := range why {
			a.note("%s", line)
		}
		return err
	}
	attach := func() (*session, error) { return a.attachTargets(ctx, false, targets) }
	if !f.once {
		eager := attach
		attach = func() (*session, error) { return awaited(ctx, a.workerLog(new(viewer.Service).LogAttr), eager) }
	}
	s, err := attach()
	if s == nil || err != nil {
		return err
	}
	defer s.Close()
	grace := f.grace
	if grace == 0 {
		grace = -1 // 0 is the library's default
	}
	results, err := s.Work(ctx, "", viewer.WorkOptions{
		Owner: s.owner, Concurrency: f.concurrency, Every: f.every, Grace: grace, Once: f.once, Log: a.workerLog(s.LogAttr),
	})
	if err != nil {
		return err
	}
	return worst(results)
}

// storeSays is what a store itself says against a command that lacks something,
// which then would not help, nil for nothing.
func (a *app) storeSays(ctx context.Context, targets []target, against func(*viewer.Service) error) error {
	s, err := a.attachTargets(ctx, false, targets)
	if err != nil {
		return nil // what the command lacks is told first
	}
	defer s.Close()
	return against(s.Service)
}

const mendFlows = "mend them, or take them out of the folder"

// allFlowsLoad refuses to start with flow files that cannot be used, all of
// them at once: a worker that silently lacks a flow looks like one that is well.
// why is a line for each fault, for people; scripts have them in the error.
func (a *app) allFlowsLoad(targets []target) (why []string, err error) {
	settings, err := a.settings(targets)
	if err != nil {
		return nil, err
	}
	flows, err := a.flowSource(settings.Flows)
	if err == nil {
		err = flows.bad
	}
	if err != nil {
		return nil, err
	}
	failed := flows.set.Errors()
	for _, name := range slices.Sorted(maps.Keys(failed)) {
		why = append(why, strings.Split(failed[name].Error(), "\n")...)
	}
	switch {
	case len(why) > 0 && a.global.json:
		return why, refuse(mendFlows, "flow files do not load: %s", strings.Join(why, "; "))
	case len(why) > 0:
		return why, refuse(mendFlows, "flow files do not load")
	case len(flows.Names()) == 0 && len(settings.Flows) > 0:
		return nil, usagef("no flows to run: there is no flow file (.yaml or .yml) in %s", strings.Join(settings.Flows, ", "))
	case len(flows.Names()) == 0:
		return nil, usagef("no flows to run: give the folder of the flow files with --flows")
	}
	return nil, nil
}

// awaited attaches a store that may not answer yet: after a power cut the worker
// may be up before its database. It is nil when the worker was stopped meanwhile.
func awaited(ctx context.Context, log *slog.Logger, attach func() (*session, error)) (*session, error) {
	for wait := time.Second; ; wait = min(2*wait, 30*time.Second) {
		s, err := attach()
		if err == nil || !down(err) {
			return s, err
		}
		log.WarnContext(ctx, "store does not answer", "error", err, "again_ms", wait.Milliseconds())
		select {
		case <-ctx.Done():
			return nil, nil
		case <-time.After(wait):
		}
	}
}

// down reports an error that may go away by itself.
func down(err error) bool {
	return errors.Is(err, stores.ErrUnavailable) || errors.Is(err, stores.ErrBusy) || errors.Is(err, context.DeadlineExceeded)
}

// workerLog is where a worker tells what it does: JSON lines are its result and
// go to stdout, text for people goes to stderr.
func (a *app) workerLog(replace func([]string, slog.Attr) slog.Attr) *slog.Logger {
	o := &slog.HandlerOptions{ReplaceAttr: replace}
	if a.global.json {
		return slog.New(slog.NewJSONHandler(jsonWriter{a.stdout}, o))
	}
	return slog.New(slog.NewTextHandler(textWriter{a.stderr}, o))
}
