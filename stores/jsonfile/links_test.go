package jsonfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestLinksAreNotFollowed: a link in place of a journal, a temporary file or an
// owner's folder leads nowhere. The store itself may be behind a link.
func TestLinksAreNotFollowed(t *testing.T) {
	if runtime.GOOS == "windows" {
		return // making links needs a privilege there
	}
	ctx := t.Context()
	path, outside := atRest(t, "good", "bad"), atRest(t, "bad", "a")
	dir, theirs := filepath.Join(path, "owners", "default"), filepath.Join(outside, "owners", "default")
	store := filepath.Join(t.TempDir(), "link")
	for _, err := range []error{
		os.Remove(filepath.Join(dir, "bad.jsonl")),
		os.Symlink(filepath.Join(theirs, "bad.jsonl"), filepath.Join(dir, "bad.jsonl")),
		os.Symlink(filepath.Join(dir, "good.jsonl"), filepath.Join(dir, "new.jsonl.tmp")),
		os.Symlink(filepath.Join(theirs, "a.head.json"), filepath.Join(dir, "good.head.json.tmp")),
		os.Symlink(theirs, filepath.Join(path, "owners", "alice")),
		os.Symlink("default", filepath.Join(path, "owners", "bob")),
		os.Symlink(path, store),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	good, err := os.ReadFile(filepath.Join(dir, "good.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	unchanged(t, outside, func() {
		s := open(t, store, jsonfile.Options{})
		last, err := s.Latest(ctx, place("bad").Key)
		if err != nil || !strings.Contains(last.Bad, "link") || last.Payload != nil {
			t.Errorf("behind a link: %+v, %v", last, err)
		}
		for _, owner := range []string{"alice", "bob"} {
			hers := stores.Place{Key: stores.Key{Owner: owner, Run: "a"}, Store: "test", Incarnation: "first"}
			if _, err := s.Latest(ctx, hers.Key); !errors.Is(err, stores.ErrUnreadable) {
				t.Errorf("the folder is a link: %v", err)
			}
			if err := s.Save(ctx, storetest.Step(hers, 0)); err == nil {
				t.Error("saved behind a link")
			}
		}
		page, err := s.List(ctx, stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
		bad := map[string]bool{}
		for _, h := range page.Heads {
			bad[h.Owner+"/"+h.Run] = strings.Contains(h.Bad, "link")
		}
		if err != nil || len(bad) != 4 || bad["default/good"] || !bad["default/bad"] || !bad["alice/(every run)"] || !bad["bob/(every run)"] {
			t.Errorf("listed %v, %v", bad, err)
		}
		save(t, s, "new")
		if now, err := os.ReadFile(filepath.Join(dir, "good.jsonl")); err != nil || string(now) != string(good) {
			t.Errorf("a temporary file was written through a link: %v", err)
		}
		if err := s.Save(ctx, storetest.Step(place("good"), 1)); err != nil {
			t.Error(err)
		}
	})
}

// TestLostIDs: the files of a run with a long id are spoiled so that nothing says
// the id any more. It is still listed, by its file's name, and hides no other.
func TestLostIDs(t *testing.T) {
	long := strings.Repeat("Long ", 100)
	k := stores.Key{Owner: long, Run: long}
	path := atRest(t, "good")
	s := open(t, path, jsonfile.Options{})
	if err := s.Save(t.Context(), storetest.Step(stores.Place{Key: k, Store: "test", Incarnation: "first"}, 0)); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(path, "owners", "*~*", "*~*"))
	if err != nil || len(found) != 2 {
		t.Fatalf("%q, %v", found, err)
	}
	dir := filepath.Dir(found[0])
	list := func() stores.Head {
		t.Helper()
		page, err := open(t, path, jsonfile.Options{}).List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
		if err != nil || len(page.Heads) != 2 {
			t.Fatalf("listed %+v, %v", page, err)
		}
		if page.Heads[0].Run == "good" {
			return page.Heads[1]
		}
		return page.Heads[0]
	}
	head := strings.TrimSuffix(found[0], filepath.Ext(found[0]))
	if err := os.Remove(strings.TrimSuffix(head, ".head") + ".head.json"); err != nil {
		t.Fatal(err)
	}
	if h := list(); h.Key != k || h.Bad != "" {
		t.Errorf("without its head file: %+v", h)
	}
	journals, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil || len(journals) != 1 {
		t.Fatalf("%q, %v", journals, err)
	}
	name := strings.TrimSuffix(filepath.Base(journals[0]), ".jsonl")
	if err := os.Truncate(journals[0], 20); err != nil {
		t.Fatal(err)
	}
	if h := list(); h.Owner != long || h.Run != name || h.Bad == "" {
		t.Errorf("with a torn journal: %+v", h)
	}
	if err := os.Remove(filepath.Join(dir, "owner.json")); err != nil {
		t.Fatal(err)
	}
	if h := list(); h.Owner != filepath.Base(dir) || h.Run != name || h.Bad == "" {
		t.Errorf("without the owner's name: %+v", h)
	}
}
