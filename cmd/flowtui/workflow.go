package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/viewer"
)

// workflows reads the workflows of runs of teff's, which their store does not
// name: those that --flow names, else all in the folders dirs. It is nil when
// neither is given.
func (a *app) workflows(dirs []string) func() ([]viewer.Workflow, error) {
	named := a.global.flow
	switch {
	case len(named) == 0 && len(dirs) == 0:
		return nil
	case a.global.yes && len(named) != 1:
		return func() ([]viewer.Workflow, error) { return nil, nobodySees(len(named)) }
	case len(named) == 0:
		return func() ([]viewer.Workflow, error) { return a.workflowsIn(dirs) }
	}
	return func() (all []viewer.Workflow, err error) {
		for _, arg := range named {
			w, err := a.namedWorkflow(arg, dirs)
			if err != nil {
				return nil, err
			}
			all = append(all, w)
		}
		return all, nil
	}
}

// nobodySees refuses to choose among workflows where no person is asked: which one
// a run goes on with is then only said afterwards.
func nobodySees(named int) error {
	hint := "name the workflow of the run with --flow NAME, or its file with --flow FILE"
	if named == 0 {
		return problem("refused", hint, "%v; rows of teff do not name their workflow, so --flow is needed beside --flows and --yes", teff.ErrNoWorkflow)
	}
	return problem("refused", hint, "%v; rows of teff do not name their workflow, so with --yes one --flow is given, not %d", teff.ErrNoWorkflow, named)
}

// namedWorkflow loads the workflow that an argument names.
func (a *app) namedWorkflow(arg string, dirs []string) (viewer.Workflow, error) {
	if err := noFolder(arg); err != nil {
		return viewer.Workflow{}, err
	}
	file, err := a.workflowFile(arg, dirs)
	if err != nil {
		return viewer.Workflow{}, err
	}
	w := a.loadWorkflow(file)
	if w.Workflow != nil {
		return w, nil
	}
	return w, w.Err
}

// loadWorkflow reads a workflow, or says why it cannot be used.
func (a *app) loadWorkflow(file string) viewer.Workflow {
	w, err := document.Load(file, a.workflowEnv)
	_, refused := errors.AsType[*document.Error](err)
	_, unread := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = problem("not-found", "give the path of the workflow file of the run, or its name and its folder with --flows", "%v", err)
	case unread:
		err = unreadable(file, err)
	case refused:
		err = viewer.Problem{Code: "refused", Message: err.Error(), Hint: "mend the workflow file: teff refuses it too"}
	}
	return viewer.Workflow{File: file, Workflow: w, Err: err}
}

// workflowFile is the file that an argument names: a path, or the name of a
// workflow in a folder.
func (a *app) workflowFile(arg string, dirs []string) (string, error) {
	if isFile(arg) || namesFile(arg) {
		return arg, nil
	}
	files, err := documents(dirs)
	if err != nil {
		return "", err
	}
	var found []string
	for _, file := range files {
		// One that does not load is not the one that is meant.
		if w, _ := document.Load(file, a.workflowEnv); w != nil && w.Name == arg {
			found = append(found, file)
		}
	}
	if len(found) > 1 {
		return "", problem("usage", "give the file that you mean with --flow FILE", "%d workflows are called %q: %s", len(found), arg, strings.Join(found, ", "))
	}
	return append(found, arg)[0], nil
}

// workflowsIn loads all workflows of folders.
func (a *app) workflowsIn(dirs []string) ([]viewer.Workflow, error) {
	files, err := documents(dirs)
	if err != nil {
		return nil, err
	}
	var all []viewer.Workflow
	for _, file := range files {
		all = append(all, a.loadWorkflow(file))
	}
	if len(all) == 0 {
		return nil, problem("refused", "give the workflow file of the run with --flow FILE, or its folder with --flows DIR",
			"%v; there is none of teff's in %s", teff.ErrNoWorkflow, strings.Join(dirs, ", "))
	}
	return all, nil
}

// documents are the files in folders that are marked as documents of teff.
func documents(dirs []string) ([]string, error) {
	var files []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			file := filepath.Join(dir, e.Name())
			if ext := filepath.Ext(file); e.IsDir() || ext != ".yaml" && ext != ".yml" || !document.Marked(file) || slices.Contains(files, file) {
				continue
			}
			files = append(files, file)
		}
	}
	return files, nil
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
