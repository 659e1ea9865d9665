package jsonfile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testwriter"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/storetest"
)

func place(run string) stores.Place { return testwriter.Place(run) }

// atRest makes a store with runs, closed, and returns its path.
func atRest(t testing.TB, runs ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store")
	s := open(t, path, jsonfile.Options{Create: true})
	save(t, s, runs...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func save(t testing.TB, s stores.Store, runs ...string) {
	t.Helper()
	for _, run := range runs {
		w := storetest.Step(place(run), 0)
		w.Graph, w.Events = []byte("graph"), []stores.Event{storetest.Event(place(run), 1)}
		if err := s.Save(t.Context(), w); err != nil {
			t.Fatal(err)
		}
	}
}

// files reads a folder and those in it: path to mode, time and contents.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String() + " " + info.ModTime().String() + "\n"
		if info.Mode().IsRegular() {
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += string(b)
		}
		all[path] = what
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// unchanged runs f and compares the folder before and after, byte for byte.
func unchanged(t *testing.T, dir string, f func()) {
	t.Helper()
	before := files(t, dir)
	f()
	after := files(t, dir)
	for path := range after {
		if _, was := before[path]; !was {
			t.Errorf("%s is new", path)
		}
	}
	for path, was := range before {
		if after[path] != was {
			t.Errorf("%s was %.200q, is %.200q", path, was, after[path])
		}
	}
}

// readAll calls every method that reads.
func readAll(t testing.TB, s *jsonfile.Store, runs int) {
	t.Helper()
	ctx := t.Context()
	if _, err := s.Info(ctx); err != nil {
		t.Fatal(err)
	}
	page, err := s.List(ctx, stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
	if err != nil || len(page.Heads) != runs {
		t.Fatalf("%d runs are listed, want %d: %v", len(page.Heads), runs, err)
	}
	storetest.Check(t, s)
	if _, err := s.Graph(ctx, "digest"); runs > 0 && err != nil {
		t.Fatal(err)
	}
	if _, err := s.Lease(ctx, place("a").Key); err != nil {
		t.Fatal(err)
	}
	if orphans, err := s.Orphans(ctx, stores.AnyOwner); err != nil || len(orphans) > 0 {
		t.Fatalf("orphans %q, %v", orphans, err)
	}
}

func TestAttachingWritesNothing(t *testing.T) {
	path := atRest(t, "a", "b")
	for _, opts := range []jsonfile.Options{{}, {ReadOnly: true}, {Create: true}} {
		unchanged(t, path, func() {
			s := open(t, path, opts)
			readAll(t, s, 2)
			if _, err := s.Watch(t.Context()); err != nil {
				t.Fatal(err)
			}
			if ok, why, err := jsonfile.Sniff(path); !ok || err != nil {
				t.Errorf("sniff: %q, %v", why, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func TestCreateWaitsForTheFirstWrite(t *testing.T) {
	parent, empty := t.TempDir(), t.TempDir()
	for _, path := range []string{filepath.Join(parent, "new"), empty} {
		s := open(t, path, jsonfile.Options{Create: true})
		unchanged(t, filepath.Dir(path), func() { readAll(t, s, 0) })
		info, err := s.Info(t.Context())
		if err != nil || info.ID != "" || info.Version != 0 || info.ReadOnly {
			t.Errorf("info is %+v, %v", info, err)
		}
		for name, err := range map[string]error{
			"graph":  func() error { _, err := s.Graph(t.Context(), "digest"); return err }(),
			"latest": func() error { _, err := s.Latest(t.Context(), place("a").Key); return err }(),
			"head":   func() error { _, err := s.Head(t.Context(), place("a").Key); return err }(),
		} {
			if !errors.Is(err, stores.ErrNotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := s.Prepare(t.Context()); err != nil {
			t.Fatal(err)
		}
		info, err = s.Info(t.Context())
		if err != nil || len(info.ID) != 32 || info.Version != jsonfile.Version {
			t.Errorf("info is %+v, %v", info, err)
		}
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	folder := func(name, file, contents string) string {
		path := filepath.Join(dir, name)
		err := os.Mkdir(path, 0o700)
		if err == nil && file != "" {
			err = os.WriteFile(filepath.Join(path, file), []byte(contents), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	const marker = "flowtui-store.json"
	newer := folder("newer", marker, `{"format": "flowtui json store", "version": 7, "id": 5, "created": "now"}`)
	text := filepath.Join(folder("text", "x", "hello"), "x")
	create := jsonfile.Options{Create: true}
	cases := []struct {
		name, path string
		opts       jsonfile.Options
		want       error
		says       string
	}{
		{"typo", filepath.Join(dir, "typo"), jsonfile.Options{}, stores.ErrNotFound, "no such folder"},
		{"typo in the folder above", filepath.Join(dir, "no", "x"), create, stores.ErrNotFound, "there is no folder"},
		{"file", text, jsonfile.Options{}, stores.ErrNotStore, "found a file"},
		{"file, create", text, create, stores.ErrNotStore, "found a file"},
		{"empty", folder("empty", "", ""), jsonfile.Options{}, stores.ErrNotStore, "found an empty folder"},
		{"other things", folder("other", "letter.txt", "x"), jsonfile.Options{}, stores.ErrNotStore, `found a folder with "letter.txt"`},
		{"other things, create", folder("other2", "letter.txt", "x"), create, stores.ErrNotStore, "looked for flowtui-store.json"},
		{"marker is lost", folder("lost", "owners", "x"), create, stores.ErrNotStore, `"owners"`},
		{"other JSON", folder("json", marker, `{"name": "x"}`), jsonfile.Options{}, stores.ErrNotStore, "format"},
		{"torn marker", folder("torn", marker, `{"format": "flowtui js`), create, stores.ErrUnreadable, marker},
		{"empty marker", folder("void", marker, ""), create, stores.ErrUnreadable, marker},
		{"newer", newer, jsonfile.Options{}, stores.ErrTooNew, "version 7"},
		{"newer, create", newer, create, stores.ErrTooNew, "version 7"},
		{"no path", "", jsonfile.Options{}, stores.ErrInvalid, ""},
		{"NUL", "a\x00b", jsonfile.Options{}, stores.ErrInvalid, ""},
		{"create read-only", newer, jsonfile.Options{Create: true, ReadOnly: true}, stores.ErrInvalid, ""},
	}
	unchanged(t, dir, func() {
		for _, c := range cases {
			_, err := jsonfile.Open(t.Context(), c.path, c.opts)
			if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: got %v, want %v that says %q", c.name, err, c.want, c.says)
			}
			if c.want != stores.ErrNotStore || c.opts.Create {
				continue
			}
			if ok, why, err := jsonfile.Sniff(c.path); ok || err != nil || !strings.Contains(why, c.says) {
				t.Errorf("%s: sniffed %v, %q, %v", c.name, ok, why, err)
			}
		}
	})
	if ok, _, err := jsonfile.Sniff(newer); !ok || err != nil {
		t.Errorf("a newer store is a store: %v, %v", ok, err)
	}
	if _, _, err := jsonfile.Sniff(filepath.Join(dir, "typo")); !errors.Is(err, stores.ErrNotFound) {
		t.Errorf("sniffing a typo: %v", err)
	}
}

func TestReadOnly(t *testing.T) {
	path := atRest(t, "a")
	unchanged(t, path, func() {
		s := open(t, path, jsonfile.Options{ReadOnly: true})
		ctx, k := t.Context(), place("a").Key
		info, err := s.Info(ctx)
		if err != nil || !info.ReadOnly || info.Why == "" {
			t.Errorf("info is %+v, %v", info, err)
		}
		_, acquire := s.Acquire(ctx, k, "w", time.Minute, false)
		for name, err := range map[string]error{
			"save":    s.Save(ctx, storetest.Step(place("a"), 1)),
			"record":  s.RecordCall(ctx, stores.CallWrite{Call: storetest.Record(place("a"), 1, 1)}),
			"delete":  s.Delete(ctx, k),
			"prepare": s.Prepare(ctx),
			"acquire": acquire,
			"release": s.Release(ctx, k, "w"),
		} {
			if !errors.Is(err, stores.ErrReadOnly) {
				t.Errorf("%s: got %v, want %v", name, err, stores.ErrReadOnly)
			}
		}
	})
}

// TestNewerAfterAttaching: the store was upgraded while it was open here.
func TestNewerAfterAttaching(t *testing.T) {
	path := atRest(t, "a")
	s := open(t, path, jsonfile.Options{})
	marker := filepath.Join(path, "flowtui-store.json")
	b, err := os.ReadFile(marker)
	if err == nil {
		err = os.WriteFile(marker, []byte(strings.Replace(string(b), `"version": 1`, `"version": 2`, 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Save(t.Context(), storetest.Step(place("a"), 1)); !errors.Is(err, stores.ErrTooNew) {
		t.Errorf("save: %v", err)
	}
	if _, err := s.Latest(t.Context(), place("a").Key); !errors.Is(err, stores.ErrTooNew) {
		t.Errorf("latest: %v", err)
	}
}

// TestReplacedFolder: a backup was put in place of the folder, then it was removed.
func TestReplacedFolder(t *testing.T) {
	path, other := atRest(t, "a"), atRest(t, "b", "c")
	s := open(t, path, jsonfile.Options{Create: true})
	readAll(t, s, 1)
	if err := errors.Join(os.RemoveAll(path), os.Rename(other, path)); err != nil {
		t.Fatal(err)
	}
	readAll(t, s, 2)
	s2 := open(t, path, jsonfile.Options{})
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"read":  func() error { _, err := s2.Latest(t.Context(), place("b").Key); return err }(),
		"write": s2.Save(t.Context(), storetest.Step(place("b"), 1)),
	} {
		if !errors.Is(err, stores.ErrNotFound) || !strings.Contains(err.Error(), "no such folder") {
			t.Errorf("%s: the folder is gone: %v", name, err)
		}
	}
}

// TestForeignFiles are left alone and are no runs.
func TestForeignFiles(t *testing.T) {
	path := atRest(t, "a")
	dir := filepath.Join(path, "owners", "default")
	for _, name := range []string{
		"README", ".DS_Store", "a.jsonl~", "a.jsonl.bak", "#a.jsonl#", ".a.jsonl.swp", "A.jsonl", "a copy.jsonl", "%61.jsonl", "%zz.jsonl",
		"%.jsonl", "con.jsonl", "a..jsonl", ".jsonl", "x~y.jsonl", "ä.jsonl", "a.jsonl.tmp", "b.jsonl.tmp", "b.lease.json", "a.txt", "Thumbs.db",
		"x~" + strings.Repeat("AB", 32) + ".jsonl",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("not ours"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"Some folder", "README", "%41x%"} {
		if err := os.Mkdir(filepath.Join(path, "owners", name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(path, "owners", "Note.txt"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	unchanged(t, path, func() { readAll(t, open(t, path, jsonfile.Options{}), 1) })
	s := open(t, path, jsonfile.Options{})
	if err := s.Save(t.Context(), storetest.Step(place("a"), 1)); err != nil {
		t.Fatal(err)
	}
	save(t, s, "b")
	readAll(t, s, 2)
	got, err := s.Owners(t.Context())
	if err != nil || !reflect.DeepEqual(got, []string{"default"}) {
		t.Errorf("owners are %q, %v", got, err)
	}
}
