package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/viewer"
)

func newRunCommand(a *app) *cobra.Command {
	var id, state string
	cmd := &cobra.Command{
		Use:   "run STORE FLOWFILE",
		Short: "Start a run of a flow and work on it until it is done, failed or paused",
		Long: `Start a run of a flow and work on it until it is done, failed or paused.
FLOWFILE is a file, or the name of a flow in a folder given with --flows.
A STORE that does not exist is created when it ends in .db, .sqlite or .sqlite3
or is written as sqlite:PATH.`,
		Args: arguments("STORE", "FLOWFILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			value, err := a.stateValue(state)
			if err != nil {
				return err
			}
			return a.start(cmd.Context(), args[0], args[1], id, value)
		},
	}
	cmd.Flags().StringVar(&id, "id", "", "id of the `RUN` (default: one is made up)")
	cmd.Flags().StringVar(&state, "state", "", "initial state, as `JSON|@FILE` (default: the flow's)")
	return cmd
}

// stateValue is the state that a flag gives, as JSON or in a file (@- is stdin).
func (a *app) stateValue(arg string) (json.RawMessage, error) {
	if arg == "" {
		return nil, nil
	}
	data := []byte(arg)
	if path, ok := strings.CutPrefix(arg, "@"); ok {
		var err error
		if path == "-" {
			data, err = io.ReadAll(a.stdin)
		} else {
			data, err = os.ReadFile(path)
		}
		if err != nil {
			return nil, fmt.Errorf("--state: %w", err)
		}
	}
	if _, err := engine.DecodeState(data); err != nil {
		return nil, usagef("--state is not a JSON object: %v", err)
	}
	return data, nil
}

func (a *app) start(ctx context.Context, store, flow, id string, state json.RawMessage) error {
	if err := a.mayAsk(); err != nil {
		return err
	}
	targets, err := a.targets([]string{store})
	if err != nil {
		return err
	}
	if err := creatable(targets[0].location); err != nil {
		return err
	}
	file, err := a.flowFile(targets, flow)
	if err != nil {
		return err
	}
	s, err := a.attachTargets(ctx, true, targets)
	if err != nil {
		return err
	}
	defer s.Close()
	if s.owner == stores.AnyOwner {
		return usagef("a run has one owner, not --owner %s", s.owner)
	}
	if !storeExists(targets[0].location) {
		a.note("%s does not exist and is created", store)
	}
	what := "start " + file.Name
	if id != "" {
		what += " as " + id
	}
	if err := a.confirm(ctx, s, what+" in "+s.shown(store), file.Name); err != nil {
		return err
	}
	out, err := s.Start(ctx, viewer.StartRequest{Owner: s.owner, Run: id, State: state, Flow: file.Flow, Tools: file.Tools}, a.progress)
	ref := s.Find(cmp.Or(out.Run, id), s.owner)
	if err != nil {
		return a.stopped(ctx, s, ref, err)
	}
	return a.outcome(s, ref, out)
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
