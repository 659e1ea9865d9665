package flowfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	teffdoc "github.com/flowtui/flowtui/engine/teff/document"
	"github.com/flowtui/flowtui/engine/tool"
)

// File is a flow file that was read and checked.
type File struct {
	Name        string // of the flow: its key "name", else the file's base name
	Description string
	Path        string
	Flow        *engine.Flow
	Tools       *tool.Registry // those of Options and those that the file declares
	Source      []byte
}

// Options says what a file may use.
type Options struct {
	// Tools are tools made in Go, which steps may call without declaring them.
	Tools *tool.Registry
	// AllowUnknownTools accepts calls of tools that nobody declares: for
	// looking at a file where its tools are not registered.
	AllowUnknownTools bool
	// Models opens the models that the file names; nil: its tool loops cannot run here.
	Models func(model.Spec) (model.Model, error)
	// Env looks up the variables that files name as ${NAME}, as [os.LookupEnv]
	// does; nil: there are none.
	Env func(name string) (string, bool)
	// Dir is where commands run and what their relative paths are relative to.
	// Load sets it to the file's folder.
	Dir string
}

// Load reads a flow file, one of our own or a document of teff. Its error joins an
// [Error] for everything that is wrong with the file.
func Load(path string) (*File, error) { return Options{}.Load(path) }

// Load reads a flow file that may use the options' tools, a regular file.
func (o Options) Load(path string) (*File, error) { return loaded(o.load(path)) }

// Parse reads a flow file's text. The name is what errors call it; its base
// names a flow that does not name itself.
func Parse(name string, data []byte, opts Options) (*File, error) {
	return loaded(parse(name, data, opts))
}

func loaded(f *File, err error) (*File, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// LoadOwn reads a file as a flow file of our own, whatever it says that it is.
func (o Options) LoadOwn(path string) (*File, error) { return loaded(o.loadOwn(path)) }

// LoadTeff reads a file as a document of teff, whatever it says that it is.
func (o Options) LoadTeff(path string) (*File, error) {
	return loaded(o.loadWorkflow(&File{Name: baseName(path), Path: path}))
}

// load returns, also with an error, a File that has at least a name.
func (o Options) load(path string) (*File, error) {
	if teffdoc.Marked(path) {
		return o.loadWorkflow(&File{Name: baseName(path), Path: path})
	}
	return o.loadOwn(path)
}

func (o Options) loadOwn(path string) (*File, error) {
	f := &File{Name: baseName(path), Path: path}
	dir, err := filepath.Abs(filepath.Dir(path))
	if err != nil {
		return f, fmt.Errorf("flow file %s: %w", path, err)
	}
	data, err := read(path)
	if err != nil {
		return f, fmt.Errorf("flow file: %w", err)
	}
	o.Dir = dir
	return parse(path, data, o)
}

// read reads a regular file: whoever opens a pipe or a device may wait forever.
// The parser refuses what is longer than its limit.
func read(path string) ([]byte, error) {
	switch info, err := os.Stat(path); {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is a folder")}
	case !info.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("it is no regular file")}
	}
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return io.ReadAll(io.LimitReader(in, MaxBytes+1))
}

func baseName(path string) string {
	base := filepath.Base(path)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

func parse(name string, data []byte, opts Options) (*File, error) {
	r := newReader(filepath.Base(name))
	f := &File{Name: baseName(name), Path: name, Source: data}
	root := parseYAML(r, data)
	r.fill(root, opts.Env)
	root = r.expand(root, opts)
	if it := root.get("name"); it != nil && it.kind == isText && it.text != "" {
		f.Name = it.text
	}
	d := document{reader: r, opts: opts, flow: engine.NewFlow(f.Name).Route(engine.RouteFirst)}
	d.read(root)
	if err := r.err(); err != nil {
		return f, err
	}
	if err := d.flow.Check(); err != nil {
		r.fail(nil, "%s", err)
		return f, r.err()
	}
	f.Description, f.Flow, f.Tools = d.description, d.flow, d.tools
	return f, nil
}
