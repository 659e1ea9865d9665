package teff

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/fixtures/teff"
	"github.com/flowtui/flowtui/stores"
)

func copied(t *testing.T, dir string) string {
	t.Helper()
	check(t, teff.WriteFiles("main", dir))
	return dir
}

func put(t *testing.T, text string, parts ...string) {
	t.Helper()
	path := filepath.Join(parts...)
	check(t, os.MkdirAll(filepath.Dir(path), 0o755))
	check(t, os.WriteFile(path, []byte(text), 0o644))
}

const good = `{"state": {"a": 1}, "next_node_id": "n", "iteration": 1}`

// What is spoiled is listed with the reason, beside what is not, and stays.
func TestSpoiledFilesAreListedAndStay(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "secret.json")
	put(t, good, outside)
	put(t, good, dir, "default", "good.json")
	bad := map[string]string{
		"empty": "", "zeros": strings.Repeat("\x00", 60), "cut": good[:30], "list": `[1]`, "text": `"x"`, "mark": "\ufeff" + good,
		"twice": good + good, "state": `{"state": [], "next_node_id": null, "iteration": 1}`, "next": `{"state": {}, "next_node_id": 5, "iteration": 1}`,
		"half": `{"state": {}, "next_node_id": null, "iteration": 1.0}`, "minus": `{"state": {}, "iteration": -1}`,
		"huge": `{"state": {}, "iteration": 99999999999999999999}`, "bytes": "{\"state\": {\"a\": \"\xff\"}}",
		"deep": `{"state": {"a": ` + strings.Repeat("[", 20000) + strings.Repeat("]", 20000) + `}, "iteration": 1}`,
	}
	for name, text := range bad {
		put(t, text, dir, "default", name+".json")
	}
	check(t, os.Mkdir(filepath.Join(dir, "default", "folder.json"), 0o755))
	check(t, os.Symlink(outside, filepath.Join(dir, "default", "outside.json")))
	check(t, os.Symlink("nowhere.json", filepath.Join(dir, "default", "dangling.json")))
	check(t, os.Symlink(filepath.Dir(outside), filepath.Join(dir, "elsewhere")))
	for _, name := range []string{"folder", "outside", "dangling"} {
		bad[name] = ""
	}
	// None of these is a run: teff does not list them.
	put(t, good, dir, "default", "left.json.tmp")
	put(t, good, dir, "default", "UPPER.JSON")
	put(t, good, dir, "an.owner", "x.json")
	put(t, good, dir, "default", "deeper", "x.json")
	before := tree(t, dir)
	s := attach(t, dir)
	all := heads(t, s)
	for k, h := range all {
		_, spoiled := bad[k.Run]
		if (h.Bad != "") != spoiled {
			t.Errorf("%s: %q", k.Run, h.Bad)
		}
		c, err := s.Latest(t.Context(), k)
		check(t, err)
		if (c.Bad != "") != spoiled || spoiled && c.Payload != nil {
			t.Errorf("%s reads as %s, %q", k.Run, c.Payload, c.Bad)
		}
	}
	if len(all) != len(bad)+1 {
		t.Errorf("%d runs are listed, want %d: %v", len(all), len(bad)+1, all)
	}
	if _, err := s.Replace(t.Context(), stores.Replacement{Key: stores.Key{Owner: "default", Run: "cut"}, Seen: []byte(good[:30]), Next: []byte(good)}); !errors.Is(err, stores.ErrConflict) {
		t.Errorf("a spoiled row was written over: %v", err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("the folder changed:\n%s", diff)
	}
}

// Names lead nowhere else, and reading makes no folder.
func TestNamesOfFiles(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "store")
	put(t, good, dir, "a_b", "x_y.json")
	put(t, good, dir, "__", "...json")
	put(t, good, dir, "no owner.json")
	put(t, good, filepath.Dir(dir), "above.json")
	before := tree(t, filepath.Dir(dir))
	s := attach(t, dir)
	for _, c := range []struct {
		owner, run string
		found      bool
	}{
		{"a_b", "x_y", true}, {"a.b", "x/y", true}, {"a/b", "x_y", true}, {"..", "..", true}, {"", "no owner", true},
		{"..", "above", false}, {"default", "../a_b/x_y", false}, {"", "../above", false}, {"default", "none", false}, {"a_b", "x_y\x00", false}, {"new", "x", false},
		{"a_b", strings.Repeat("x", 300), false},
	} {
		r, err := s.Latest(t.Context(), stores.Key{Owner: c.owner, Run: c.run})
		if found := err == nil && r.Bad == ""; found != c.found {
			t.Errorf("%q of %q: %v %q", c.run, c.owner, err, r.Bad)
		}
	}
	if diff := cmp.Diff(before, tree(t, filepath.Dir(dir))); diff != "" {
		t.Errorf("looking changed something:\n%s", diff)
	}
	owners, err := s.Owners(t.Context())
	check(t, err)
	if want := []string{"", "__", "a_b"}; !slices.Equal(owners, want) {
		t.Errorf("owners are %q, want %q", owners, want)
	}
}

func TestSniffTakesOnlyWhatIsTeffs(t *testing.T) {
	dir := t.TempDir()
	put(t, `{"name": "x", "version": "1"}`, dir, "node", "package.json")
	put(t, `{"state": {}, "kind": "terraform"}`, dir, "other", "a", "state.json")
	put(t, "text", dir, "file.txt")
	put(t, "", dir, "empty.db")
	check(t, os.Mkdir(filepath.Join(dir, "empty"), 0o755))
	put(t, good, dir, "store", "default", "a.json")
	put(t, "{", dir, "store", "default", "Broken first.json")
	before := tree(t, dir)
	for name, want := range map[string]bool{"node": false, "other": false, "file.txt": false, "empty.db": false, "empty": false, "store": true} {
		ok, found, err := Sniff(t.Context(), filepath.Join(dir, name))
		if err != nil || ok != want {
			t.Errorf("%s: %v, %q, %v", name, ok, found, err)
		}
	}
	if _, _, err := Sniff(t.Context(), filepath.Join(dir, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("of nothing: %v", err)
	}
	if diff := cmp.Diff(before, tree(t, dir)); diff != "" {
		t.Errorf("looking changed something:\n%s", diff)
	}
}

// A file that changes while it is listed is seen as it is then.
func TestChangesAreSeen(t *testing.T) {
	dir := t.TempDir()
	put(t, good, dir, "default", "a.json")
	s := attach(t, dir)
	for i := range 50 { // faster than time stamps tell
		put(t, fmt.Sprintf(`{"state": {"n": 1%02d}, "next_node_id": null, "iteration": %d}`, i, i), dir, "default", "a.json")
		h, err := s.Head(t.Context(), stores.Key{Owner: "default", Run: "a"})
		check(t, err)
		if h.Step != int64(i) || h.Status != stores.StatusDone {
			t.Fatalf("after write %d it is at %d, %s", i, h.Step, h.Status)
		}
	}
}
