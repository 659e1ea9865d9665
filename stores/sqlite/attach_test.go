package sqlite_test

import (
	"database/sql"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
	"github.com/flowtui/flowtui/stores/storetest"
)

// atRest makes a store with runs, closed, and returns its path.
func atRest(t testing.TB, name string, runs ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	s := open(t, path, sqlite.Options{Create: true})
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

// files reads a folder: name to time stamp and contents.
func files(t testing.TB, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for _, e := range entries {
		info, err1 := e.Info()
		b, err2 := contents(filepath.Join(dir, e.Name()))
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		all[e.Name()] = info.ModTime().String() + "\n" + string(b)
	}
	return all
}

// contents reads a file that may be a live database in another process: closing
// it in this one would drop the locks that SQLite holds here on it, and a writer
// that starts then would cut the -shm file under our readers.
func contents(path string) ([]byte, error) {
	if runtime.GOOS == "windows" {
		return os.ReadFile(path) // locks belong to the handle there
	}
	return exec.Command("cat", "--", path).Output()
}

func names(files map[string]string) (all []string) {
	for name := range files {
		all = append(all, name)
	}
	return all
}

// readAll calls every method that reads.
func readAll(t testing.TB, s *sqlite.Store, runs int) {
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
}

func TestAttachingWritesNothing(t *testing.T) {
	path := atRest(t, "runs.db", "a", "b")
	before := files(t, filepath.Dir(path))
	if len(before) != 1 {
		t.Fatalf("a closed store is one file, there are %q", names(before))
	}
	for _, opts := range []sqlite.Options{{}, {ReadOnly: true}, {Create: true}} {
		s := open(t, path, opts)
		readAll(t, s, 2)
		if _, err := s.Watch(t.Context()); err != nil {
			t.Fatal(err)
		}
		if ok, why, err := sqlite.Sniff(path); !ok || err != nil {
			t.Errorf("sniff: %q, %v", why, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if after := files(t, filepath.Dir(path)); !reflect.DeepEqual(before, after) {
			t.Errorf("%+v: the folder changed, it has %q", opts, names(after))
		}
	}
}

func TestCreateWaitsForTheFirstWrite(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.db")
	s := open(t, path, sqlite.Options{Create: true})
	readAll(t, s, 0)
	info, err := s.Info(t.Context())
	if err != nil || info.ID != "" || info.Version != 0 || info.ReadOnly {
		t.Errorf("info is %+v, %v", info, err)
	}
	if got := files(t, filepath.Dir(path)); len(got) != 0 {
		t.Errorf("opening made %q", names(got))
	}
	if err := s.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	info, err = s.Info(t.Context())
	if err != nil || len(info.ID) != 32 || info.Version != sqlite.Version {
		t.Errorf("info is %+v, %v", info, err)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	file := func(name, contents string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(contents), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	database := func(name, script string) string {
		path := filepath.Join(dir, name)
		execute(t, path, script)
		return path
	}
	newer := atRest(t, "newer.db", "a")
	execute(t, newer, "PRAGMA user_version = 7")
	cases := []struct {
		name, path string
		opts       sqlite.Options
		want       error
		says       string
	}{
		{"typo", filepath.Join(dir, "typo.db"), sqlite.Options{}, stores.ErrNotFound, "no such file"},
		{"typo in the folder", filepath.Join(dir, "no", "x.db"), sqlite.Options{Create: true}, stores.ErrNotFound, "no folder"},
		{"folder", dir, sqlite.Options{}, stores.ErrNotStore, "found a folder"},
		{"text", file("text", "hello, this is no database at all"), sqlite.Options{}, stores.ErrNotStore, "found a text file"},
		{"text, create", file("text2", strings.Repeat("x", 5000)), sqlite.Options{Create: true}, stores.ErrNotStore, "found a text file"},
		{"empty file", file("empty", ""), sqlite.Options{}, stores.ErrNotStore, "an empty file"},
		{"empty database", database("e.db", "PRAGMA user_version = 0; CREATE TABLE t (x); DROP TABLE t"), sqlite.Options{}, stores.ErrNotStore, "an empty SQLite"},
		{"bytes", file("bytes", strings.Repeat("\x01\xff", 5000)), sqlite.Options{}, stores.ErrNotStore, "neither text nor a database"},
		{"another database", database("o.db", "CREATE TABLE users (name)"), sqlite.Options{}, stores.ErrNotStore, "application id 0x666c7774"},
		{"another database, create", database("o2.db", "CREATE TABLE users (name)"), sqlite.Options{Create: true}, stores.ErrNotStore, "application id"},
		{"newer", newer, sqlite.Options{}, stores.ErrTooNew, "version 7"},
		{"newer, read-only", newer, sqlite.Options{ReadOnly: true}, stores.ErrTooNew, "version 7"},
		{"no path", "", sqlite.Options{}, stores.ErrInvalid, ""},
		{"NUL", "a\x00b", sqlite.Options{}, stores.ErrInvalid, ""},
		{"synchronous off", newer, sqlite.Options{Synchronous: "OFF"}, stores.ErrInvalid, "OFF"},
	}
	before := files(t, filepath.Dir(newer))
	for _, c := range cases {
		_, err := sqlite.Open(t.Context(), c.path, c.opts)
		if !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: got %v, want %v that says %q", c.name, err, c.want, c.says)
		}
		if c.want != stores.ErrNotStore || c.opts.Create {
			continue
		}
		if ok, why, err := sqlite.Sniff(c.path); ok || err != nil || !strings.Contains(why, c.says) {
			t.Errorf("%s: sniffed %v, %q, %v", c.name, ok, why, err)
		}
	}
	if after := files(t, filepath.Dir(newer)); !reflect.DeepEqual(before, after) {
		t.Error("a newer store was changed")
	}
	if ok, _, err := sqlite.Sniff(newer); !ok || err != nil {
		t.Errorf("a newer store is a store: %v, %v", ok, err)
	}
	if _, _, err := sqlite.Sniff(filepath.Join(dir, "typo.db")); !errors.Is(err, stores.ErrNotFound) {
		t.Errorf("sniffing a typo: %v", err)
	}
}

// execute changes a file as somebody with a SQLite shell would.
func execute(t testing.TB, path, script string, args ...any) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err == nil {
		_, err = db.Exec(script, args...)
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestOddPaths(t *testing.T) {
	for _, name := range []string{"a?b.db", "a#b.db", "100%.db", "%41.db", "a b.db", "ü ✓.db", "a&mode=ro.db", "file:x", "a'b\".db"} {
		path := atRest(t, name, "a")
		if got := files(t, filepath.Dir(path)); len(got) != 1 || got[name] == "" {
			t.Errorf("%q became %q", name, names(got))
		}
		readAll(t, open(t, path, sqlite.Options{}), 1)
	}
}

// TestLink: the side files are beside the file that a link points to.
func TestLink(t *testing.T) {
	path := atRest(t, "real.db", "a")
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(path, link); err != nil {
		t.Fatal(err)
	}
	writer := open(t, link, sqlite.Options{})
	save(t, writer, "b")
	readAll(t, open(t, link, sqlite.Options{ReadOnly: true}), 2)
	readAll(t, open(t, path, sqlite.Options{ReadOnly: true}), 2)
}

func TestReadOnly(t *testing.T) {
	path := atRest(t, "runs.db", "a")
	before := files(t, filepath.Dir(path))
	s := open(t, path, sqlite.Options{ReadOnly: true})
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
	if after := files(t, filepath.Dir(path)); !reflect.DeepEqual(before, after) {
		t.Errorf("the folder changed, it has %q", names(after))
	}
}

// TestFreshData: a reader attached to a store at rest sees what a writer that
// comes later commits, at once, and goes on when the writer has left.
func TestFreshData(t *testing.T) {
	path := atRest(t, "runs.db", "a")
	reader := open(t, path, sqlite.Options{ReadOnly: true})
	readAll(t, reader, 1)
	for round := range 5 {
		writer := open(t, path, sqlite.Options{})
		for i := range 3 {
			save(t, writer, strings.Repeat("x", round*3+i+1))
			readAll(t, reader, round*3+i+2)
		}
		if err := writer.Close(); err != nil {
			t.Fatal(err)
		}
		readAll(t, reader, round*3+4)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestReplacedFile: a backup was put in place of the file.
func TestReplacedFile(t *testing.T) {
	path, other := atRest(t, "runs.db", "a"), atRest(t, "other.db", "b", "c")
	reader := open(t, path, sqlite.Options{})
	readAll(t, reader, 1)
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	readAll(t, reader, 2)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Latest(t.Context(), place("b").Key); !errors.Is(err, stores.ErrNotFound) {
		t.Errorf("the file is gone: %v", err)
	}
}
