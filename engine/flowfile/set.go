package flowfile

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Set is the flow files of some folders by the names of their flows.
type Set struct {
	files map[string]*File
	errs  map[string]error
}

// ErrUnknownFlow is the error of a name that no file has.
var ErrUnknownFlow = errors.New("no flow file has this name")

// LoadDir reads every *.yaml and *.yml file of the folders, not of those
// within. A file that does not load is reported under its name by the set and
// hides no other; the error is about a folder that cannot be read.
func LoadDir(dirs ...string) (*Set, error) { return Options{}.LoadDir(dirs...) }

// LoadDir reads folders of flow files that may use the options' tools.
func (o Options) LoadDir(dirs ...string) (*Set, error) {
	s := &Set{files: map[string]*File{}, errs: map[string]error{}}
	paths, err := flowFiles(dirs)
	if err != nil {
		return nil, err
	}
	var failed []*File
	why := map[*File]error{}
	for _, path := range paths {
		f, err := o.load(path)
		if err != nil {
			failed, why[f] = append(failed, f), err
			continue
		}
		s.add(f)
	}
	for _, f := range failed { // after the good ones, which they must not hide
		s.fail(f, why[f])
	}
	return s, nil
}

// flowFiles lists each file once, though a folder be given twice.
func flowFiles(dirs []string) ([]string, error) {
	var paths []string
	seen := map[string]bool{}
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return nil, fmt.Errorf("flow files: %w", err)
		}
		for _, e := range entries {
			path := filepath.Join(dir, e.Name())
			abs, err := filepath.Abs(path)
			if err != nil {
				return nil, fmt.Errorf("flow files: %w", err)
			}
			if isFlowFile(e) && !seen[abs] {
				seen[abs] = true
				paths = append(paths, path)
			}
		}
	}
	return paths, nil
}

func isFlowFile(e fs.DirEntry) bool {
	ext := filepath.Ext(e.Name())
	file := e.Type().IsRegular() || e.Type()&fs.ModeSymlink != 0 // a pipe would block
	return file && !strings.HasPrefix(e.Name(), ".") && (ext == ".yaml" || ext == ".yml")
}

// add makes two files with one name an error: nobody could tell which runs.
func (s *Set) add(f *File) {
	other, taken := s.files[f.Name]
	switch {
	case taken:
		delete(s.files, f.Name)
		s.errs[f.Name] = fmt.Errorf("flow %q is in two files: %s and %s", f.Name, other.Path, f.Path)
	case s.errs[f.Name] != nil:
		s.errs[f.Name] = fmt.Errorf("%w and %s", s.errs[f.Name], f.Path)
	default:
		s.files[f.Name] = f
	}
}

func (s *Set) fail(f *File, err error) {
	name := f.Name
	if _, taken := s.files[name]; taken {
		name = f.Path
	}
	s.errs[name] = errors.Join(s.errs[name], err)
}

// Flow returns a file by its flow's name, or why there is none: the file's own
// errors, or [ErrUnknownFlow].
func (s *Set) Flow(name string) (*File, error) {
	if f, ok := s.files[name]; ok {
		return f, nil
	}
	if err, ok := s.errs[name]; ok {
		return nil, err
	}
	if len(s.files) == 0 {
		return nil, fmt.Errorf("flow %q: %w", name, ErrUnknownFlow)
	}
	return nil, fmt.Errorf("flow %q: %w; known: %s", name, ErrUnknownFlow, strings.Join(s.Names(), ", "))
}

// Names returns the names of the flows that loaded, sorted.
func (s *Set) Names() []string { return slices.Sorted(maps.Keys(s.files)) }

// Errors returns why files did not load, by their flows' names, or by path
// when another file has the name.
func (s *Set) Errors() map[string]error { return maps.Clone(s.errs) }
