package jsonfile

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

func openAt(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path, Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func placeOf(owner, run string) stores.Place {
	return stores.Place{Key: stores.Key{Owner: owner, Run: run}, Store: "test", Incarnation: "first"}
}

// killed is what a worker that dies in a test panics with.
type killed struct{}

// dies runs do on a store whose process dies before its change number n of the
// disk. It reports whether it died, and where.
func dies(t *testing.T, path string, n int, do func(*Store) error) (where string) {
	t.Helper()
	s := openAt(t, path)
	s.step = func(what string) {
		if n--; n == 0 {
			where = what
			panic(killed{})
		}
	}
	defer func() {
		if p := recover(); p != nil && p != (killed{}) {
			panic(p)
		}
	}()
	if err := do(s); err != nil {
		t.Errorf("a write that was not cut short: %v", err)
	}
	return ""
}

// write is something that a worker does, and how to see that it was done.
type write struct {
	name  string
	owner string
	first []func(*Store) error // what was done before
	do    func(*Store) error
	done  func(t *testing.T, s *Store) bool
}

func writes(t *testing.T) []write {
	ctx := t.Context()
	long := strings.Repeat("Long ", 100)
	p, q := placeOf("default", "r"), placeOf(long, long)
	save := func(p stores.Place, n int64) func(*Store) error {
		return func(s *Store) error {
			w := storetest.Step(p, n)
			w.Events = []stores.Event{storetest.Event(p, n+1)}
			w.Graph = []byte("graph")
			return s.Save(ctx, w)
		}
	}
	record := func(s *Store) error { return s.RecordCall(ctx, stores.CallWrite{Call: storetest.Record(p, 1, 1)}) }
	at := func(p stores.Place, n int64) func(*testing.T, *Store) bool {
		return func(t *testing.T, s *Store) bool {
			last, err := s.Latest(ctx, p.Key)
			if err != nil && !errors.Is(err, stores.ErrNotFound) {
				t.Fatal(err)
			}
			return err == nil && last.Step == n
		}
	}
	return []write{
		{"first save of a store", "default", nil, save(p, 0), at(p, 0)},
		{"first save under a long name", long, []func(*Store) error{save(p, 0)}, save(q, 0), at(q, 0)},
		{"next save", "default", []func(*Store) error{save(p, 0)}, save(p, 1), at(p, 1)},
		{"record", "default", []func(*Store) error{save(p, 0)}, record, func(t *testing.T, s *Store) bool {
			calls, err := s.Calls(ctx, p.Key, 0)
			if err != nil {
				t.Fatal(err)
			}
			return len(calls) == 1
		}},
		{"delete", "default", []func(*Store) error{save(p, 0), save(p, 1), record}, func(s *Store) error { return s.Delete(ctx, p.Key) }, func(t *testing.T, s *Store) bool {
			return !at(p, 1)(t, s)
		}},
		{"import", "default", nil, func(s *Store) error { return s.Import(ctx, wholeRun(p)) }, at(p, 1)},
		{"lease", "default", []func(*Store) error{save(p, 0)}, func(s *Store) error {
			_, err := s.Acquire(ctx, p.Key, "w", time.Hour, false)
			return err
		}, func(t *testing.T, s *Store) bool {
			l, err := s.Lease(ctx, p.Key)
			if err != nil {
				t.Fatal(err)
			}
			return l != nil
		}},
	}
}

// wholeRun is a run of two steps with a call and an event.
func wholeRun(p stores.Place) stores.Run {
	first, second := storetest.Step(p, 0), storetest.Step(p, 1)
	return stores.Run{
		Head: second.Head, Checkpoints: []stores.Checkpoint{first.Checkpoint, second.Checkpoint},
		Calls: []stores.Call{storetest.Record(p, 1, 1)}, Events: []stores.Event{storetest.Event(p, 1)},
		Graphs: map[string][]byte{"digest": []byte("graph")},
	}
}

// TestCrashAtEveryChange: a process dies before each change that a write makes
// to the disk. Then the write was done or was not, all rules hold, and it can
// be done by another process.
func TestCrashAtEveryChange(t *testing.T) {
	for _, w := range writes(t) {
		t.Run(w.name, func(t *testing.T) {
			sawOld, n := false, 1
			for ; ; n++ {
				path := filepath.Join(t.TempDir(), "store")
				for _, do := range w.first {
					if err := do(openAt(t, path)); err != nil {
						t.Fatal(err)
					}
				}
				where := dies(t, path, n, w.do)
				s := openAt(t, path)
				storetest.Check(t, s)
				switch done := w.done(t, s); {
				case where == "" && !done:
					t.Error("the write was acknowledged and is not there")
				case !done:
					sawOld = true
					if err := w.do(s); err != nil || !w.done(t, s) {
						t.Errorf("it died before %q, and the next worker gets %v", where, err)
					}
				}
				storetest.Check(t, s)
				if where == "" {
					break
				}
			}
			if n < 3 || !sawOld {
				t.Errorf("only %d places to die: this test proves nothing", n-1)
			}
		})
	}
}

// TestTornLine: of the last line only a part reached the disk, or it did and is
// partly zero. Readers ignore it and leave it; the next writer cuts it.
func TestTornLine(t *testing.T) {
	ctx, p := t.Context(), placeOf("default", "r")
	whole := func(f *os.File) int64 { info, _ := f.Stat(); return info.Size() }
	for name, tear := range map[string]func(f *os.File, from int64) error{
		"one byte":          func(f *os.File, from int64) error { return f.Truncate(from + 1) },
		"half":              func(f *os.File, from int64) error { return f.Truncate((from + whole(f)) / 2) },
		"all but line feed": func(f *os.File, from int64) error { return f.Truncate(whole(f) - 1) },
		"zeros in it":       func(f *os.File, from int64) error { _, err := f.WriteAt(make([]byte, 100), from+50); return err },
		"zeros only":        func(f *os.File, from int64) error { _, err := f.WriteAt(make([]byte, whole(f)-from), from); return err },
		"zeros and its end": func(f *os.File, from int64) error {
			_, err := f.WriteAt(make([]byte, whole(f)-from-1), from)
			return err
		},
		"half, then zeros": func(f *os.File, from int64) error {
			return errors.Join(f.Truncate((from+whole(f))/2), f.Truncate(from+1<<20))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "store")
			if err := openAt(t, path).Save(ctx, storetest.Step(p, 0)); err != nil {
				t.Fatal(err)
			}
			journal := filepath.Join(path, "owners", "default", "r.jsonl")
			before, err := os.ReadFile(journal)
			if err != nil {
				t.Fatal(err)
			}
			func() {
				defer func() { _ = recover() }()
				s := openAt(t, path)
				s.sync = func(f *os.File) error {
					if err := tear(f, int64(len(before))); err != nil {
						t.Error(err)
					}
					panic(killed{})
				}
				_ = s.Save(ctx, storetest.Step(p, 1))
			}()
			torn, err := os.ReadFile(journal)
			if err != nil || len(torn) <= len(before) {
				t.Fatalf("nothing is torn: %d bytes, %v", len(torn), err)
			}
			s := openAt(t, path)
			storetest.Check(t, s)
			last, err := s.Latest(ctx, p.Key)
			if err != nil || last.Step != 0 || last.Bad != "" {
				t.Errorf("latest is %+v, %v", last, err)
			}
			if now, err := os.ReadFile(journal); err != nil || string(now) != string(torn) {
				t.Errorf("reading changed the journal: %v", err)
			}
			for n := range int64(3) {
				if err := s.Save(ctx, storetest.Step(p, n+1)); err != nil {
					t.Fatal(err)
				}
			}
			storetest.Check(t, openAt(t, path))
			now, err := os.ReadFile(journal)
			if lines := bytes.SplitAfter(now, []byte("\n")); err != nil || len(lines) != 5 || len(lines[4]) > 0 || bytes.IndexByte(now, 0) >= 0 {
				t.Errorf("the torn line is still there: %d lines in %d bytes, %v", len(lines)-1, len(now), err)
			}
		})
	}
}

// TestSyncFails: a commit that could not be made durable is taken back, and is
// unknown only when that fails, too.
func TestSyncFails(t *testing.T) {
	ctx, p := t.Context(), placeOf("default", "r")
	errDisk := errors.New("the disk failed")
	for fails := 1; fails <= 2; fails++ {
		s := openAt(t, filepath.Join(t.TempDir(), "store"))
		if err := s.Save(ctx, storetest.Step(p, 0)); err != nil {
			t.Fatal(err)
		}
		left := fails
		s.sync = func(f *os.File) error {
			if left--; left >= 0 {
				return fmt.Errorf("sync: %w", errDisk)
			}
			return syncFile(f)
		}
		err := s.Save(ctx, storetest.Step(p, 1))
		if !errors.Is(err, errDisk) || errors.Is(err, stores.ErrUnknown) != (fails == 2) || errors.Is(err, stores.ErrUnavailable) != (fails == 1) {
			t.Errorf("%d syncs fail: %v", fails, err)
		}
		storetest.Check(t, s)
		if err := s.Save(ctx, storetest.Step(p, 1)); err != nil {
			t.Errorf("%d syncs failed, and then: %v", fails, err)
		}
		storetest.Check(t, s)
	}
}

// TestHeadThatLags: the head file could not be written. Readers look into the
// journal.
func TestHeadThatLags(t *testing.T) {
	ctx, p := t.Context(), placeOf("default", "r")
	path := filepath.Join(t.TempDir(), "store")
	s := openAt(t, path)
	head := filepath.Join(path, "owners", "default", "r.head.json")
	if err := s.Save(ctx, storetest.Step(p, 0)); err != nil {
		t.Fatal(err)
	}
	for name, spoil := range map[string]func() error{
		"removed":     func() error { return os.Remove(head) },
		"empty":       func() error { return os.WriteFile(head, nil, 0o600) },
		"zeros":       func() error { return os.WriteFile(head, make([]byte, 700), 0o600) },
		"other shape": func() error { return os.WriteFile(head, []byte(`{"a":[1]}`), 0o600) },
		"folder":      func() error { return errors.Join(os.Remove(head), os.MkdirAll(filepath.Join(head, "x"), 0o700)) },
	} {
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		h, err := openAt(t, path).Head(ctx, p.Key)
		if err != nil || h.Bad != "" || h.Run != "r" {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
		storetest.Check(t, openAt(t, path))
		n := h.Step + 1
		if err := s.Save(ctx, storetest.Step(p, n)); err != nil {
			t.Fatal(err)
		}
		if h, err := openAt(t, path).Head(ctx, p.Key); err != nil || h.Step != n {
			t.Errorf("%s, and a save: %+v, %v", name, h, err)
		}
		if name == "folder" {
			if err := os.RemoveAll(head); err != nil {
				t.Fatal(err)
			}
			if err := s.Save(ctx, storetest.Step(p, n+1)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestTornAfterUnsummed: the worker of a whole line died before it wrote the head
// file, and the next one within its line.
func TestTornAfterUnsummed(t *testing.T) {
	ctx, p := t.Context(), placeOf("default", "r")
	path := filepath.Join(t.TempDir(), "store")
	if err := openAt(t, path).Save(ctx, storetest.Step(p, 0)); err != nil {
		t.Fatal(err)
	}
	save := func(n int64) func(*Store) error {
		return func(s *Store) error { return s.Save(ctx, storetest.Step(p, n)) }
	}
	if where := dies(t, path, 3, save(1)); where != "write r.head.json.tmp" {
		t.Fatalf("it died before %q", where)
	}
	f, err := os.OpenFile(filepath.Join(path, "owners", "default", "r.jsonl"), os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		_, err = f.WriteString(`{"sum":"00`)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
	s := openAt(t, path)
	storetest.Check(t, s)
	if h, err := s.Head(ctx, p.Key); err != nil || h.Step != 1 {
		t.Errorf("%+v, %v", h, err)
	}
	if err := save(2)(s); err != nil {
		t.Fatal(err)
	}
	storetest.Check(t, s)
}
