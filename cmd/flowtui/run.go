package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newRunCommand(a *app) *cobra.Command {
	var state string
	var r viewer.StartRequest
	cmd := &cobra.Command{
		Use:   "run STORE FLOWFILE",
		Short: "Start a run of a flow and work on it until it is done, failed or paused",
		Long: `Start a run of a flow and work on it until it is done, failed or paused.
FLOWFILE is a file, or the name of a flow in a folder given with --flows.
A STORE that does not exist is created when it ends in .db, .sqlite or .sqlite3,
or is written as sqlite:PATH, as PATH/ for a folder of JSON files, or as a Redis URL.
In a store of teff's the run is one of teff's, and FLOWFILE its workflow.`,
		Args: arguments("STORE", "FLOWFILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			var err error
			if r.State, err = a.stateValue(cmd.Context(), state); err != nil {
				return err
			}
			return a.start(cmd.Context(), args[0], args[1], r)
		},
	}
	cmd.Flags().StringVar(&r.Run, "id", "", "id of the `RUN` (default: one is made up)")
	cmd.Flags().StringVar(&state, "state", "", "initial state, as `JSON|@FILE` (default: the flow's)")
	addMaxIterations(cmd, &r.MaxIterations)
	return cmd
}

// maxState is how large a state that is read from a file may be.
const maxState = 256 << 20

// stateValue is the state that a flag gives, as JSON or in a file (@- is stdin).
func (a *app) stateValue(ctx context.Context, arg string) (json.RawMessage, error) {
	if arg == "" {
		return nil, nil
	}
	data := []byte(arg)
	if path, ok := strings.CutPrefix(arg, "@"); ok {
		var err error
		if path == "-" {
			data, err = readEnding(ctx, func() (io.ReadCloser, error) { return io.NopCloser(a.stdin), nil }, maxState)
		} else {
			data, err = readFile(ctx, path, maxState)
		}
		if err == nil && len(data) > maxState {
			err = fmt.Errorf("it is larger than %d MiB", maxState>>20)
		}
		if err != nil {
			return nil, fmt.Errorf("--state: %w", err)
		}
	}
	if err := noKeyTwice(data); err != nil {
		return nil, usagef("--state: %v", err)
	}
	return data, nil
}

func (a *app) start(ctx context.Context, store, flow string, r viewer.StartRequest) error {
	if err := a.mayAskAfter("add --yes to start it"); err != nil {
		return ofRun(err, r.Run)
	}
	targets, err := a.targets([]string{store})
	if err != nil {
		return err
	}
	if err := creatable(targets[0].location); err != nil {
		return err
	}
	if err := a.takePipe(ctx, flow); err != nil {
		return err
	}
	s, err := a.attachFor(ctx, targets, flow)
	if err != nil {
		return err
	}
	defer s.Close()
	name, err := a.startable(s, targets, flow, &r)
	if err != nil {
		return err
	}
	if r.Owner = s.owner; r.Owner == stores.AnyOwner {
		return usagef("a run has one owner, not --owner %s", s.owner)
	}
	what := "start " + name
	if r.Run != "" {
		what += " as " + r.Run
	}
	if err := a.confirmIn(ctx, s, targets[0], s.Find(r.Run, s.owner), what+" in "+s.shown(store), cmp.Or(r.Run, name)); err != nil {
		return ofRun(err, r.Run)
	}
	out, err := s.Start(ctx, r, a.progress)
	ref := s.Find(cmp.Or(out.Run, r.Run), s.owner)
	if err != nil {
		if p := s.Explain(err); p.Code == "needs-decision" {
			return a.undecided(ctx, s, ref, p)
		}
		return a.stopped(ctx, s, ref, err)
	}
	return a.outcome(s, ref, out)
}

// confirmIn is confirm of what begins in a store, once it is known that it may. It
// makes the store if there is none yet, which is said: as a part of the question,
// or where none is asked before it is done.
func (a *app) confirmIn(ctx context.Context, s *session, t target, ref viewer.Ref, what, name string) error {
	if err := s.MayBegin(ctx, ref); err != nil {
		return err
	}
	creates := !storeExists(t.location)
	if creates {
		what += ", which does not exist and is created"
	}
	err := a.confirm(ctx, s, what, name)
	if err == nil && creates && a.global.yes {
		a.note("%s does not exist and is created", t.spec)
	}
	return err
}

// attachFor opens a store for a run of flow. Of teff's it is opened with the
// workflow, which no row of it names: the commands that are told name it too.
func (a *app) attachFor(ctx context.Context, targets []target, flow string) (*session, error) {
	s, err := a.attachTargets(ctx, true, targets)
	if err != nil || !s.Stores()[0].Foreign || slices.Equal(a.global.flow, []string{flow}) {
		return s, err
	}
	s.Close()
	a.global.flow = []string{flow}
	return a.attachTargets(ctx, true, targets)
}

// startable names what is started, and refuses what cannot be.
func (a *app) startable(s *session, targets []target, flow string, r *viewer.StartRequest) (string, error) {
	if s.Stores()[0].Foreign {
		name, err := s.Startable()
		return cmp.Or(name, flow), err
	}
	if len(r.State) > 0 {
		if _, err := engine.DecodeState(r.State); err != nil {
			return "", usagef("--state is not a JSON object: %v", err)
		}
	}
	file, err := a.flowFile(targets, flow)
	if err != nil {
		return "", err
	}
	r.Flow, r.Tools = file.Flow, file.Tools
	return file.Name, nil
}

func (a *app) flowFile(targets []target, arg string) (*flowfile.File, error) {
	settings, err := a.settings(targets)
	if err != nil {
		return nil, err
	}
	flows, err := a.flowSource(settings.Flows)
	if err != nil {
		return nil, err
	}
	return flows.find(arg)
}
