package jsonfile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/storetest"
)

// goodAndBad makes a store with the runs good and bad, each with three steps, a
// call record and events, and returns it and the journal and the head file of bad.
func goodAndBad(t *testing.T) (path, journal, head string) {
	t.Helper()
	path = atRest(t, "good", "bad")
	s := open(t, path, jsonfile.Options{})
	for _, run := range []string{"good", "bad"} {
		p := place(run)
		err := s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(p, 1, 1)})
		for n := range int64(2) {
			err = errors.Join(err, s.Save(t.Context(), storetest.Step(p, n+1)))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(path, "owners", "default")
	return path, filepath.Join(dir, "bad.jsonl"), filepath.Join(dir, "bad.head.json")
}

// listedBad checks that the list has both runs, each as it is, whatever the page.
func listedBad(t *testing.T, s *jsonfile.Store, run, says string) {
	t.Helper()
	for _, limit := range []int{1, 100} {
		seen := map[string]string{}
		for cursor, more := "", true; more; more = cursor != "" {
			page, err := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}, Limit: limit, Cursor: cursor})
			if err != nil {
				t.Fatal(err)
			}
			for _, h := range page.Heads {
				seen[h.Run] = h.Bad
			}
			cursor = page.Next
		}
		if bad, ok := seen["good"]; len(seen) != 2 || !ok || bad != "" || !strings.Contains(seen[run], says) || seen[run] == "" {
			t.Errorf("listed %q in pages of %d, want a bad run that says %q", seen, limit, says)
		}
	}
}

// refused checks that the run can be looked at and not gone on from.
func refused(t *testing.T, s *jsonfile.Store) {
	t.Helper()
	ctx, p := t.Context(), place("bad")
	last, err := s.Latest(ctx, p.Key)
	if err != nil || last.Bad == "" || last.Run != "bad" {
		t.Errorf("latest is %+v, %v", last, err)
	}
	next := storetest.Step(p, last.Step+1)
	reborn := storetest.Step(p, 0)
	reborn.Checkpoint.Incarnation, reborn.Head.Incarnation = "second", "second"
	for name, err := range map[string]error{
		"save":   s.Save(ctx, next),
		"start":  s.Save(ctx, reborn),
		"record": s.RecordCall(ctx, stores.CallWrite{Call: storetest.Record(p, 1, 2)}),
	} {
		if !errors.Is(err, stores.ErrUnreadable) || !strings.Contains(err.Error(), "bad.jsonl") {
			t.Errorf("%s: got %v, want %v with the path", name, err, stores.ErrUnreadable)
		}
	}
	if good, err := s.Latest(ctx, place("good").Key); err != nil || good.Bad != "" || good.Step != 2 {
		t.Errorf("the other run is %+v, %v", good, err)
	}
	if owners, err := s.Owners(ctx); err != nil || len(owners) != 1 {
		t.Errorf("owners %q, %v", owners, err)
	}
	if _, err := s.ListUnfinished(ctx, stores.AnyOwner); err != nil {
		t.Error(err)
	}
}

// TestScenario08TornFiles: one good run, and one whose file is spoiled in some
// way. It is listed as unreadable, hides no other and is never written to.
func TestScenario08TornFiles(t *testing.T) {
	rewrite := func(change func(b []byte) []byte) func(journal, head string) error {
		return func(journal, _ string) error {
			b, err := os.ReadFile(journal)
			if err != nil {
				return err
			}
			return os.WriteFile(journal, change(b), 0o600)
		}
	}
	lines := func(b []byte) [][]byte { return bytes.SplitAfter(bytes.TrimSuffix(b, []byte("\n")), []byte("\n")) }
	for name, c := range map[string]struct {
		spoil func(journal, head string) error
		says  string
	}{
		"0 bytes":           {rewrite(func([]byte) []byte { return nil }), "empty"},
		"0 bytes, no head":  {func(j, h string) error { return errors.Join(os.Truncate(j, 0), os.Remove(h)) }, "empty"},
		"all NUL":           {rewrite(func(b []byte) []byte { return make([]byte, len(b)) }), "whole line"},
		"cut in the middle": {rewrite(func(b []byte) []byte { return b[:len(b)/2] }), "were committed"},
		"last line is lost": {rewrite(func(b []byte) []byte { return b[:len(b)-len(lines(b)[3])] }), "were committed"},
		"last line is NUL":  {rewrite(func(b []byte) []byte { clear(b[len(b)-len(lines(b)[3]) : len(b)-1]); return b }), "were committed"},
		"other shape":       {rewrite(func([]byte) []byte { return []byte("{\"name\": [1, 2]}\n") }), "whole line"},
		"not JSON":          {rewrite(func([]byte) []byte { return []byte("hello\nhello\n") }), "line 1"},
		"first line lost":   {rewrite(func(b []byte) []byte { return b[len(lines(b)[0]):] }), "line 1"},
		"another run's":     {func(j, _ string) error { return copyFile(strings.Replace(j, "bad", "good", 1), j) }, `belongs to run "good"`},
		"journal missing":   {func(j, _ string) error { return os.Remove(j) }, "missing"},
		"only the .tmp":     {func(j, _ string) error { return os.Rename(j, j+".tmp") }, "missing"},
		"folder":            {func(j, _ string) error { return errors.Join(os.Remove(j), os.Mkdir(j, 0o700)) }, "folder"},
		"head is ahead": {func(_, h string) error {
			return copyFile(strings.Replace(h, "bad", "good", 1), h)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			path, journal, head := goodAndBad(t)
			if err := c.spoil(journal, head); err != nil {
				t.Fatal(err)
			}
			if name == "head is ahead" { // the head file of another run is none
				readAll(t, open(t, path, jsonfile.Options{}), 2)
				return
			}
			unchanged(t, filepath.Join(path, "owners"), func() {
				s := open(t, path, jsonfile.Options{})
				listedBad(t, s, "bad", c.says)
				refused(t, s)
				listedBad(t, s, "bad", journal)
				// Who had it open before sees it, too.
				s.Close()
			})
			s := open(t, path, jsonfile.Options{})
			if err := s.Delete(t.Context(), place("bad").Key); err != nil {
				t.Fatalf("delete: %v", err)
			}
			readAll(t, s, 1)
			save(t, s, "bad")
			readAll(t, s, 2)
		})
	}
}

func copyFile(from, to string) error {
	b, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, b, 0o600)
}

// TestDamagedLine: a line in the middle was changed without changing its length,
// which no list sees; whoever opens the run does. Its other lines are there.
func TestDamagedLine(t *testing.T) {
	for name, spoil := range map[string]func(line []byte){
		"a byte":       func(line []byte) { line[len(line)-20] ^= 1 },
		"its checksum": func(line []byte) { line[10] ^= 1 },
		"zeros":        func(line []byte) { clear(line[20 : len(line)-1]) },
	} {
		t.Run(name, func(t *testing.T) {
			path, journal, _ := goodAndBad(t)
			before := open(t, path, jsonfile.Options{})
			if _, err := before.Latest(t.Context(), place("bad").Key); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(journal)
			if err != nil {
				t.Fatal(err)
			}
			second := bytes.SplitAfter(b, []byte("\n"))[1] // the call record; it shares b's bytes
			spoil(second)
			if err := os.WriteFile(journal, b, 0o600); err != nil {
				t.Fatal(err)
			}
			s := open(t, path, jsonfile.Options{})
			refused(t, s)
			ctx, k := t.Context(), place("bad").Key
			calls, err := s.Calls(ctx, k, 0)
			if err != nil || len(calls) != 1 || !strings.Contains(calls[0].Bad, "line 2") {
				t.Errorf("calls %+v, %v", calls, err)
			}
			steps, err := s.History(ctx, k, stores.HistoryQuery{Payload: true})
			sound := 0
			for _, step := range steps {
				if step.Bad == "" && len(step.Payload) > 0 {
					sound++
				}
			}
			if err != nil || sound < 2 {
				t.Errorf("history %+v, %v", steps, err)
			}
		})
	}
}

// TestSpoiledSmallFiles: a lease or a graph that cannot be read.
func TestSpoiledSmallFiles(t *testing.T) {
	path, journal, _ := goodAndBad(t)
	s := open(t, path, jsonfile.Options{})
	lease := strings.Replace(journal, ".jsonl", ".lease.json", 1)
	graph := filepath.Join(path, "graphs", "digest.json")
	for _, contents := range []string{"", "\x00\x00\x00", `{"holder": 5}`, "{}"} {
		err1 := os.WriteFile(lease, []byte(contents), 0o600)
		err2 := os.WriteFile(graph, []byte(contents), 0o600)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		if l, err := s.Lease(t.Context(), place("bad").Key); l != nil || err != nil {
			t.Errorf("%q: lease %+v, %v", contents, l, err)
		}
		if _, err := s.Graph(t.Context(), "digest"); !errors.Is(err, stores.ErrUnreadable) {
			t.Errorf("%q: graph: %v", contents, err)
		}
	}
	w := storetest.Step(place("new"), 0)
	w.Graph = []byte("graph")
	if err := s.Save(t.Context(), w); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(graph); err != nil || string(b) != "{}" {
		t.Errorf("the spoiled graph was overwritten: %q, %v", b, err)
	}
}
