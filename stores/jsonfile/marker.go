package jsonfile

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/internal/rowjson"
)

// Version is the version of the layout that this package reads and writes.
const Version = 1

// What is in the folder of a store.
const (
	markerFile = "flowtui-store.json"
	ownersDir  = "owners"
	graphsDir  = "graphs"
	locksDir   = "locks"
	ownerFile  = "owner.json" // in the folder of an owner whose name has only a digest
)

const formatName = "flowtui json store"

// marker makes a folder a store. It is written once.
type marker struct {
	Format  string        `json:"format"`
	Version int           `json:"version"`
	ID      string        `json:"id"`
	Created rowjson.Stamp `json:"created"`
}

// marker looks what is in the folder. It is the zero marker for a store that is
// still to be made, which is an error without Options.Create.
func (s *Store) marker(ctx context.Context) (m marker, err error) {
	if err := ctx.Err(); err != nil {
		return m, err
	}
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && s.opts.Create:
		if parent, err := os.Stat(filepath.Dir(s.path)); err != nil || !parent.IsDir() {
			return m, fmt.Errorf("%w: there is no folder %s", stores.ErrNotFound, filepath.Dir(s.path))
		}
		return m, nil
	case errors.Is(err, fs.ErrNotExist):
		return m, fmt.Errorf("%w: no such folder", stores.ErrNotFound)
	case err != nil:
		return m, err
	case !info.IsDir():
		return m, fmt.Errorf("%w: looked for a folder, found a %s", stores.ErrNotStore, kindOfFile(info.Mode()))
	}
	root, err := os.OpenRoot(s.path)
	if err != nil {
		return m, err
	}
	defer root.Close()
	return s.readMarker(root)
}

func kindOfFile(m fs.FileMode) string {
	if m.IsRegular() {
		return "file"
	}
	return kind(m)
}

func (s *Store) readMarker(root *os.Root) (m marker, err error) {
	b, err := readSmall(root, markerFile, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		appeared, why := s.emptyFolder(root)
		if !appeared {
			return m, why
		}
		b, err = readSmall(root, markerFile, 1<<20)
	}
	switch {
	case errors.Is(err, errNotFile):
		return m, fmt.Errorf("%w: %s: %w", stores.ErrUnreadable, markerFile, err)
	case err != nil:
		return m, err
	}
	if err := json.Unmarshal(b, &m); err != nil {
		// A newer version may write times or ids in another way.
		var any struct {
			Format  string
			Version int
		}
		if json.Unmarshal(b, &any) != nil || any.Version <= Version {
			return m, fmt.Errorf("%w: %s: %w", stores.ErrUnreadable, markerFile, err)
		}
		m.Format, m.Version = any.Format, any.Version
	}
	switch {
	case m.Format != formatName:
		return m, fmt.Errorf("%w: %s has format %.40q, not %q", stores.ErrNotStore, markerFile, m.Format, formatName)
	case m.Version > Version:
		return m, fmt.Errorf("%w: it has version %d, this program reads version %d", stores.ErrTooNew, m.Version, Version)
	case m.Version < 1 || m.ID == "":
		return m, fmt.Errorf("%w: %s has version %d, id %q", stores.ErrUnreadable, markerFile, m.Version, m.ID)
	}
	return m, nil
}

// emptyFolder is nil when a store can be made here: in an empty folder, or in
// one where that was begun and cut short. It is made by another process right
// now when its marker has appeared, which happens once.
func (s *Store) emptyFolder(root *os.Root) (appeared bool, err error) {
	f, err := root.Open(".")
	if err != nil {
		return false, err
	}
	defer f.Close()
	names, err := f.Readdirnames(100)
	if err != nil && err != io.EOF {
		return false, err
	}
	if slices.Contains(names, markerFile) {
		return true, nil
	}
	begun := true
	for _, name := range names {
		begun = begun && (name == locksDir || name == markerFile+tempExt)
	}
	switch {
	case len(names) == 0 && !s.opts.Create:
		return false, fmt.Errorf("%w: looked for %s, found an empty folder", stores.ErrNotStore, markerFile)
	case !begun || !s.opts.Create:
		return false, fmt.Errorf("%w: looked for %s, found a folder with %s", stores.ErrNotStore, markerFile, some(names))
	}
	return false, nil
}

// some names the first of many.
func some(names []string) string {
	const most = 3
	more := ""
	if len(names) > most {
		names, more = names[:most], ", …"
	}
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%.40q", name)
	}
	return strings.Join(quoted, ", ") + more
}

// Prepare implements stores.Preparer.
func (s *Store) Prepare(ctx context.Context) error {
	return s.wrapWrite("prepare", stores.Key{}, s.change(ctx, func(*os.Root) error { return nil }))
}

// prepare makes the folder a store, once.
func (s *Store) prepare(ctx context.Context) error {
	if err := os.Mkdir(s.path, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	root, err := os.OpenRoot(s.path)
	if err != nil {
		return err
	}
	defer root.Close()
	free, err := s.lock(ctx, root, storeLock)
	if err != nil {
		return err
	}
	defer free()
	if m, err := s.readMarker(root); err != nil || m.ID != "" {
		return err
	}
	id := make([]byte, 16)
	rand.Read(id) // never fails, see crypto/rand
	m := marker{Format: formatName, Version: Version, ID: hex.EncodeToString(id), Created: rowjson.Stamp(s.opts.Clock())}
	b, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := s.replace(root, markerFile, append(b, '\n'), true); err != nil {
		return err
	}
	parent, err := os.OpenRoot(filepath.Dir(s.path))
	if err != nil {
		return nil // it may be written to, but not looked at; the store is there
	}
	defer parent.Close()
	return s.syncFolder(parent)
}

// Sniff tells whether path is a flowtui store, and why not when it is none. It
// writes nothing. A store of a newer version is a store; opening it then says
// what can read it. err is set when path cannot be looked at.
func Sniff(path string) (ok bool, why string, err error) {
	s, err := Open(context.Background(), path, Options{ReadOnly: true})
	switch {
	case err == nil:
		return true, "", s.Close()
	case errors.Is(err, stores.ErrTooNew):
		return true, "", nil
	case errors.Is(err, stores.ErrNotStore):
		if e, is := errors.AsType[*stores.OpError](err); is {
			why = strings.TrimPrefix(e.Err.Error(), stores.ErrNotStore.Error()+": ")
		}
		return false, why, nil
	}
	return false, "", err
}
