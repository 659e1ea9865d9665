package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/flowfile"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/model/provider"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/viewer"
)

// flowFiles gives the flows of the flow files that the flags name.
type flowFiles struct {
	opts  flowfile.Options
	piped map[string][]byte // by path
	set   *flowfile.Set
	named []*flowfile.File // of --flow
	bad   error            // why one of those is not there: it may be a workflow of teff's
}

// flowSource reads the flow files. A file that does not load is an error only
// when its flow is asked for.
func (a *app) flowSource(dirs []string) (*flowFiles, error) {
	f := &flowFiles{opts: flowfile.Options{Models: a.openModel, Env: a.workflowEnv}, piped: a.piped}
	var err error
	if f.set, err = f.opts.LoadDir(dirs...); err != nil {
		return nil, err
	}
	for _, arg := range a.global.flow {
		file, err := f.find(arg)
		if err != nil {
			f.bad = err
			break
		}
		f.named = append(f.named, file)
	}
	return f, nil
}

// openModel opens a model that a flow file names. The keys of checkpoints are
// not for models: a flow file cannot send them anywhere.
func (a *app) openModel(spec model.Spec) (model.Model, error) {
	return provider.Open(spec, func(name string) string {
		if strings.HasPrefix(name, "FLOWTUI_") || name == a.global.keys.env {
			return ""
		}
		return os.Getenv(name)
	})
}

// find returns the flow file that an argument names, a file before a name.
func (f *flowFiles) find(arg string) (*flowfile.File, error) {
	if isFile(arg) || namesFile(arg) && noFolder(arg) == nil {
		return f.load(arg)
	}
	file, err := f.set.Flow(arg)
	if errors.Is(err, flowfile.ErrUnknownFlow) {
		if err := noFolder(arg); err != nil {
			return nil, err
		}
		return nil, problem("not-found", "give a flow file, or the folder that has it with --flows", "%v", err)
	}
	if _, broken := errors.AsType[*flowfile.Error](err); err != nil && !broken {
		return nil, unusable(arg, err)
	}
	return file, err
}

// namesFile reports whether an argument is written as a path, not as a name.
func namesFile(arg string) bool {
	return strings.ContainsRune(filepath.ToSlash(arg), '/') || slices.Contains([]string{".yaml", ".yml"}, filepath.Ext(arg))
}

// Flow gives the flow of a run.
func (f *flowFiles) Flow(name string) (*engine.Flow, *tool.Registry, error) {
	if f.bad != nil {
		return nil, nil, f.bad
	}
	file, err := f.ofRun(name)
	if err != nil {
		return nil, nil, unusable(name, err)
	}
	return file.Flow, file.Tools, nil
}

// ofRun is the file of the flow that a run names: one that --flow names comes
// first. The only one is also for runs whose store does not name their flow.
func (f *flowFiles) ofRun(name string) (*flowfile.File, error) {
	i := slices.IndexFunc(f.named, func(file *flowfile.File) bool { return file.Name == name || name == "" && len(f.named) == 1 })
	if i < 0 {
		return f.set.Flow(name)
	}
	return f.named[i], nil
}

// unusable says what to do about a flow that there is no good file of.
func unusable(name string, err error) error {
	_, broken := errors.AsType[*flowfile.Error](err)
	file, unread := errors.AsType[*fs.PathError](err)
	switch {
	case errors.Is(err, flowfile.ErrUnknownFlow):
		return viewer.Problem{Code: "not-found", Message: err.Error(), Hint: "give the folder of its flow file with --flows DIR"}
	case broken:
		return viewer.Problem{Code: "refused", Message: fmt.Sprintf("the file of flow %q does not load: %v", name, err), Hint: mendFlow}
	case unread:
		return unreadable(file.Path, err)
	}
	return viewer.Problem{Code: "refused", Message: err.Error(), Hint: "take one of the files away, or name the one that you mean with --flow FILE"}
}

// mendFlow is what to do about a flow file that is not valid.
const mendFlow = "mend the flow file; flowtui lint FILE lists everything that is wrong with it"

// unreadable says what to do about a flow file that cannot be read at all.
func unreadable(file string, err error) error {
	path, ok := errors.AsType[*fs.PathError](err)
	switch info, at := os.Stat(file); {
	case !ok && at == nil && info.IsDir():
		return problem("failed", "give a flow file of it; flowtui lint checks all of them", "the flow file %s cannot be read: it is a folder", file)
	case !ok:
		return fmt.Errorf("the flow file %s cannot be read: %w", file, err)
	case errors.Is(path, fs.ErrNotExist):
		return problem("not-found", "give the path of a flow file, or the name of its flow and its folder with --flows", "there is no flow file %s", file)
	case errors.Is(path, fs.ErrPermission):
		return refuse("ask for the permission, or be a user who has it", "no permission to read the flow file %s", file)
	}
	return problem("failed", "give a flow file that can be read", "the flow file %s cannot be read: %v", file, path.Err)
}

// Names lists the flows that can be run.
func (f *flowFiles) Names() []string {
	names := f.set.Names()
	for _, file := range f.named {
		if !slices.Contains(names, file.Name) {
			names = append(names, file.Name)
		}
	}
	return names
}
