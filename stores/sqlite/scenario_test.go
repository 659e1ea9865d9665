package sqlite_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testwriter"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestScenario01BusyAlthoughATimeoutWasSet: one process saves every 5 ms, this
// one lists and saves; neither sees an error, and no list comes back empty.
func TestScenario01BusyAlthoughATimeoutWasSet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	other := testwriter.Start(t, path, "theirs", 5*time.Millisecond)
	other.Acknowledged(t)
	s := open(t, path, sqlite.Options{})
	ctx := t.Context()
	for n := range 50 {
		run := fmt.Sprintf("mine %d", n)
		if err := s.Save(ctx, storetest.Step(place(run), 0)); err != nil {
			t.Fatalf("save %d: %v", n, err)
		}
		if err := s.Save(ctx, storetest.Step(place(run), 1)); err != nil {
			t.Fatalf("second save %d: %v", n, err)
		}
		page, err := s.List(ctx, stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
		if err != nil || len(page.Heads) != n+2 {
			t.Fatalf("list %d has %d heads: %v", n, len(page.Heads), err)
		}
	}
	last := other.Acknowledged(t)
	if err := other.Stop(); err != nil {
		t.Fatalf("the other process failed: %v", err)
	}
	if h, err := s.Head(ctx, place("theirs").Key); err != nil || h.Step < last {
		t.Errorf("the other process saved step %d, the head is %+v, %v", last, h, err)
	}
	storetest.Check(t, s)
}

// TestScenario01ReadThenWrite: the other writer commits between the read and
// the write of one transaction. With the lock taken first it has to wait.
func TestScenario01ReadThenWrite(t *testing.T) {
	path := atRest(t, "runs.db", "r")
	a, b := open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})
	var writers sync.WaitGroup
	for _, s := range []*sqlite.Store{a, b} {
		writers.Go(func() {
			for n := range 100 {
				run := fmt.Sprintf("%p %d", s, n)
				if err := s.Save(t.Context(), storetest.Step(place(run), 0)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	storetest.Check(t, a)
}

// TestScenario07LatestIsByStep: the clock went back, and as text "9" is newer
// than "10". No order but that of the steps makes a row the latest.
func TestScenario07LatestIsByStep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	s := open(t, path, sqlite.Options{Create: true})
	p := place("r")
	for n := range int64(11) {
		back := func(c *stores.Checkpoint) { c.Time = storetest.Epoch.Add(-time.Duration(n) * time.Minute) }
		if err := s.Save(t.Context(), storetest.Step(p, n, back)); err != nil {
			t.Fatal(err)
		}
	}
	last, err := s.Latest(t.Context(), p.Key)
	if err != nil || last.Step != 10 {
		t.Errorf("latest is step %d, %v", last.Step, err)
	}
	h, err := s.Head(t.Context(), p.Key)
	if err != nil || h.Step != 10 {
		t.Errorf("the head is step %d, %v", h.Step, err)
	}
}

// TestScenario10TwoWritersFromOneParent: two processes hold the same parent;
// one of them goes on.
func TestScenario10TwoWritersFromOneParent(t *testing.T) {
	path := atRest(t, "runs.db", "r")
	a, b := open(t, path, sqlite.Options{}), open(t, path, sqlite.Options{})
	for n := range int64(20) {
		errs := make([]error, 2)
		var both sync.WaitGroup
		for i, s := range []*sqlite.Store{a, b} {
			both.Go(func() {
				w := storetest.Step(place("r"), n+1, func(c *stores.Checkpoint) { c.Payload = fmt.Append(nil, i) })
				w.Events = []stores.Event{storetest.Event(place("r"), n+2)}
				errs[i] = s.Save(t.Context(), w)
			})
		}
		both.Wait()
		winner, loser := 0, 1
		if errs[0] != nil {
			winner, loser = 1, 0
		}
		if errs[winner] != nil || !errors.Is(errs[loser], stores.ErrConflict) {
			t.Fatalf("step %d: %v and %v", n+1, errs[0], errs[1])
		}
		last, err := a.Latest(t.Context(), place("r").Key)
		if err != nil || string(last.Payload) != fmt.Sprint(winner) {
			t.Errorf("step %d is %q, %d won: %v", n+1, last.Payload, winner, err)
		}
	}
	storetest.Check(t, a)
}

// TestScenario34ListsReadNoState: with the checkpoints out of reach, and 80 MB
// of them before that, lists are as they were.
func TestScenario34ListsReadNoState(t *testing.T) {
	path := atRest(t, "runs.db", "small")
	s := open(t, path, sqlite.Options{Synchronous: "NORMAL"})
	state := bytes.Repeat([]byte("80 MB of state. "), 80<<20/16)
	large := storetest.Step(place("large"), 0, func(c *stores.Checkpoint) { c.Payload = state })
	if err := s.Save(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	lists := func() {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		page, err := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
		if err != nil || len(page.Heads) != 2 {
			t.Errorf("list: %+v, %v", page, err)
		}
		if n, err := s.Count(t.Context(), stores.Filter{Owner: stores.AnyOwner}); err != nil || n.ByStatus[stores.StatusRunning] != 2 {
			t.Errorf("count: %+v, %v", n, err)
		}
		if h, err := s.Head(t.Context(), place("large").Key); err != nil || h.Step != 0 {
			t.Errorf("head: %+v, %v", h, err)
		}
		if heads, err := s.ListUnfinished(t.Context(), stores.AnyOwner); err != nil || len(heads) != 2 {
			t.Errorf("unfinished: %+v, %v", heads, err)
		}
		if owners, err := s.Owners(t.Context()); err != nil || len(owners) != 1 {
			t.Errorf("owners: %q, %v", owners, err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 4<<20 {
			t.Errorf("lists allocated %d bytes", used)
		}
	}
	lists()
	steps, err := s.History(t.Context(), place("large").Key, stores.HistoryQuery{})
	if err != nil || steps[0].Payload != nil || steps[0].Size != int64(len(state)) {
		t.Errorf("history without payload: %d bytes, size %d, %v", len(steps[0].Payload), steps[0].Size, err)
	}
	last, err := s.Latest(t.Context(), place("large").Key)
	if err != nil || !bytes.Equal(last.Payload, state) {
		t.Errorf("the state came back with %d bytes, %v", len(last.Payload), err)
	}
	execute(t, path, "ALTER TABLE checkpoints RENAME TO gone")
	lists()
	if _, err := s.Latest(t.Context(), place("large").Key); err == nil {
		t.Error("the table is not gone: this test proves nothing")
	}
}

// TestWatchSeesOtherProcesses, while they write and when they come later.
func TestWatchSeesOtherProcesses(t *testing.T) {
	path := atRest(t, "runs.db", "r")
	s := open(t, path, sqlite.Options{ReadOnly: true})
	notices, err := s.Watch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	wait := func(after string) {
		t.Helper()
		select {
		case <-notices:
		case <-time.After(10 * time.Second):
			t.Fatalf("no notice after %s", after)
		}
	}
	for round := range 2 {
		other := testwriter.Start(t, path, "theirs", time.Millisecond)
		for range 3 {
			other.Acknowledged(t)
			wait(fmt.Sprintf("a save in round %d", round))
		}
		if err := other.Stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCreateRace: many processes create one store; it gets one id.
func TestCreateRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "runs.db")
	var children []*testwriter.Process
	for n := range 6 {
		children = append(children, testwriter.Start(t, path, fmt.Sprint(n), time.Millisecond))
	}
	for _, c := range children {
		c.Acknowledged(t)
	}
	for _, c := range children {
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
	}
	s := open(t, path, sqlite.Options{})
	storetest.Check(t, s)
	if n, err := s.Count(t.Context(), stores.Filter{Owner: stores.AnyOwner}); err != nil || n.ByStatus[stores.StatusRunning] != int64(len(children)) {
		t.Errorf("counted %+v, %v", n, err)
	}
	if _, err := os.Stat(path + "-wal"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a store at rest has a -wal file: %v", err)
	}
}
