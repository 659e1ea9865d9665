package main

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/viewer"
)

// workflow reads the workflow of runs of teff's, which --flow names: their store
// does not. It is nil without the flag.
func (a *app) workflow() func() (*teff.Workflow, error) {
	file := a.global.flow
	if file == "" {
		return nil
	}
	return func() (*teff.Workflow, error) {
		w, err := document.Load(file, a.workflowEnv)
		_, refused := errors.AsType[*document.Error](err)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, problem("not-found", "give the path of the workflow file of the run", "%v", err)
		case refused:
			return nil, viewer.Problem{Code: "refused", Message: err.Error(), Hint: "mend the workflow file: teff refuses it too"}
		}
		return w, err
	}
}

// workflowEnv gives the variables that a workflow names. The keys of checkpoints
// are not for workflows, whose states are stored.
func (a *app) workflowEnv(name string) (string, bool) {
	if strings.HasPrefix(name, "FLOWTUI_") || name == a.global.keys.env {
		return "", false
	}
	return os.LookupEnv(name)
}

func addMaxIterations(cmd *cobra.Command, most *int64) {
	cmd.Flags().Int64Var(most, "max-iterations", 0, "of a run of teff's: stop after `N` node executions in all, 0 for no limit")
}
