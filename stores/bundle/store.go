package bundle

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/flowtui/flowtui/stores"
)

// What a bundle can do: all that reads.
var _ interface {
	stores.Reader
	stores.Grapher
	stores.Examiner
	stores.Copy
} = (*Store)(nil)

// Store is a bundle that was opened. It can only be read. It is safe for
// concurrent use.
type Store struct {
	path string
	contents

	mu     sync.Mutex
	file   *os.File // nil when it was closed
	recent []loaded // runs that were read last
}

// loaded is a run with what is wrong with it.
type loaded struct {
	stores.Run
	bad string
}

// kept is how many runs are remembered, so that looking at one reads it once.
const kept = 4

// Open opens a bundle. It writes nothing.
func Open(ctx context.Context, path string) (*Store, error) {
	s := &Store{path: path}
	if err := s.attach(ctx); err != nil {
		if s.file != nil {
			s.file.Close()
		}
		return nil, s.wrap("open", stores.Key{}, err)
	}
	return s, nil
}

func (s *Store) attach(ctx context.Context) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.path, err = filepath.Abs(s.path); err != nil {
		return err
	}
	info, err := os.Stat(s.path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("%w: no such file", stores.ErrNotFound)
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%w: looked for a bundle, found no file", stores.ErrNotStore)
	}
	if s.file, err = os.Open(s.path); err != nil {
		return err
	}
	if !isBundle(s.file) {
		return fmt.Errorf("%w: looked for a bundle, found another file", stores.ErrNotStore)
	}
	if s.contents, err = scan(s.file); err != nil {
		return err
	}
	slices.SortFunc(s.runs, func(a, b entry) int { return a.cursor().compare(b.cursor()) })
	return nil
}

// Sniff tells whether path is a bundle, and why not when it is none.
func Sniff(path string) (ok bool, why string, err error) {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return false, "", err
	}
	f, err := os.Open(path)
	if err != nil {
		return false, "", err
	}
	defer f.Close()
	return isBundle(f), "", nil
}

func (s *Store) wrap(op string, k stores.Key, err error) error {
	if err == nil {
		return nil
	}
	return &stores.OpError{Op: op, Store: s.path, Key: k, Err: err}
}

// ready refuses calls that come too late.
func (s *Store) ready(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return stores.ErrClosed
	}
	return nil
}

// Info implements stores.Store. The id is that of the store that the runs were
// copied from.
func (s *Store) Info(ctx context.Context) (stores.Info, error) {
	info := stores.Info{
		Format: "bundle", Location: s.path, ID: s.manifest.Store, Version: s.version, ReadOnly: true,
		Why: "a bundle can only be read: import its runs into a store",
	}
	return info, s.wrap("info", stores.Key{}, s.ready(ctx))
}

// Manifest implements stores.Copy.
func (s *Store) Manifest(ctx context.Context) (stores.Manifest, error) {
	return s.manifest, s.wrap("manifest", stores.Key{}, s.ready(ctx))
}

// Examine implements stores.Examiner.
func (s *Store) Examine(ctx context.Context) (stores.Examination, error) {
	if err := s.ready(ctx); err != nil {
		return stores.Examination{}, s.wrap("examine", stores.Key{}, err)
	}
	info, err := os.Stat(s.path)
	if err != nil {
		return stores.Examination{}, s.wrap("examine", stores.Key{}, err)
	}
	m := s.manifest
	made := stores.Fact{Name: "bundle", Value: fmt.Sprintf("of %d runs, made at %s by %s", m.Runs, m.Created.Format("2006-01-02 15:04:05Z"), m.By)}
	if m.Bad != "" {
		made.Value = fmt.Sprintf("of %d runs that can be found", len(s.runs)) // who checks the manifest tells what is wrong
	}
	e := stores.Examination{Bytes: info.Size(), Facts: []stores.Fact{made}}
	if m.Note != "" {
		e.Facts = append(e.Facts, stores.Fact{Name: "note", Value: m.Note})
	}
	bad := 0
	for _, r := range s.runs {
		if r.head.Bad != "" {
			bad++
		}
	}
	if bad > 0 {
		e.Facts = append(e.Facts, stores.Fact{Name: "damage", Value: fmt.Sprintf("%d runs", bad), Problem: "some runs cannot be read: verify lists them"})
	}
	return e, nil
}

// Close implements stores.Store.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	s.file, s.recent = nil, nil
	return s.wrap("close", stores.Key{}, err)
}

// run reads a run, or returns ErrNotFound.
func (s *Store) run(ctx context.Context, k stores.Key) (loaded, error) {
	if err := s.ready(ctx); err != nil {
		return loaded{}, err
	}
	i := slices.IndexFunc(s.runs, func(e entry) bool { return e.head.Key == k })
	if i < 0 {
		return loaded{}, stores.ErrNotFound
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if j := slices.IndexFunc(s.recent, func(r loaded) bool { return r.Key() == k }); j >= 0 {
		return s.recent[j], nil
	}
	if s.file == nil {
		return loaded{}, stores.ErrClosed
	}
	var r loaded
	var err error
	if r.Run, err = s.runs[i].read(s.file); err != nil {
		r = loaded{stores.Run{Head: s.runs[i].head}, err.Error()}
		r.Head.Bad = r.bad
	} else {
		r.Head.Open = s.runs[i].head.Open
	}
	s.recent = append(s.recent, r)
	if len(s.recent) > kept {
		s.recent = slices.Delete(s.recent, 0, 1)
	}
	return r, nil
}

var errReadOnly = fmt.Errorf("%w: a bundle can only be read", stores.ErrReadOnly)

// Save implements stores.Store: it is refused.
func (s *Store) Save(_ context.Context, w stores.Save) error {
	return s.wrap("save", w.Checkpoint.Key, errReadOnly)
}

// RecordCall implements stores.Store: it is refused.
func (s *Store) RecordCall(_ context.Context, w stores.CallWrite) error {
	return s.wrap("record call", w.Call.Key, errReadOnly)
}

// Delete implements stores.Store: it is refused.
func (s *Store) Delete(_ context.Context, k stores.Key) error {
	return s.wrap("delete", k, errReadOnly)
}

// cursor is the place of a run in the order of lists: newest update first, then
// owner, then run.
type cursor struct {
	Updated    int64
	Owner, Run string
}

func (e entry) cursor() cursor { return cursor{e.updated(), e.head.Owner, e.head.Run} }

func (c cursor) compare(d cursor) int {
	return cmp.Or(cmp.Compare(d.Updated, c.Updated), strings.Compare(c.Owner, d.Owner), strings.Compare(c.Run, d.Run))
}
