package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/viewer"
)

// workflow reads the workflow of runs of teff's, which --flow names: their store
// does not. dirs are the folders where one is looked for by its name. It is nil
// when neither is given.
func (a *app) workflow(dirs []string) func() (*teff.Workflow, error) {
	arg := a.global.flow
	switch {
	case arg == "" && len(dirs) == 0:
		return nil
	case arg == "":
		return func() (*teff.Workflow, error) {
			return nil, problem("refused", "name the workflow of the run with --flow NAME, or its file with --flow FILE",
				"%v; rows of teff do not name their workflow, so --flow is needed beside --flows", teff.ErrNoWorkflow)
		}
	}
	return func() (*teff.Workflow, error) {
		if err := noFolder(arg); err != nil {
			return nil, err
		}
		file, err := a.workflowFile(arg, dirs)
		if err != nil {
			return nil, err
		}
		w, err := document.Load(file, a.workflowEnv)
		_, refused := errors.AsType[*document.Error](err)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, problem("not-found", "give the path of the workflow file of the run, or its name and its folder with --flows", "%v", err)
		case refused:
			return nil, viewer.Problem{Code: "refused", Message: err.Error(), Hint: "mend the workflow file: teff refuses it too"}
		}
		return w, err
	}
}

// workflowFile is the file that an argument names: a path, or the name of a
// workflow in a folder.
func (a *app) workflowFile(arg string, dirs []string) (string, error) {
	if isFile(arg) || namesFile(arg) {
		return arg, nil
	}
	var found []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return "", err
		}
		for _, e := range entries {
			file := filepath.Join(dir, e.Name())
			if ext := filepath.Ext(file); e.IsDir() || ext != ".yaml" && ext != ".yml" || !document.Marked(file) {
				continue
			}
			// One that does not load is not the one that is meant.
			if w, _ := document.Load(file, a.workflowEnv); w != nil && w.Name == arg {
				found = append(found, file)
			}
		}
	}
	if len(found) > 1 {
		return "", problem("usage", "give the file that you mean with --flow FILE", "%d workflows are called %q: %s", len(found), arg, strings.Join(found, ", "))
	}
	return append(found, arg)[0], nil
}

// noFolder refuses a folder where one flow is to be named.
func noFolder(arg string) error {
	if info, err := os.Stat(arg); err == nil && info.IsDir() {
		return problem("usage", "folders are for --flows; name the flow in it with --flow NAME, or its file with --flow FILE", "%s is a folder, not a flow", arg)
	}
	return nil
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
