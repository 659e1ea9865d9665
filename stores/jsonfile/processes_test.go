package jsonfile_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testwriter"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestCreateRace: many processes create one store; it gets one id.
func TestCreateRace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
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
	s := open(t, path, jsonfile.Options{})
	storetest.Check(t, s)
	if n, err := s.Count(t.Context(), stores.Filter{Owner: stores.AnyOwner}); err != nil || n.ByStatus[stores.StatusRunning] != int64(len(children)) {
		t.Errorf("counted %+v, %v", n, err)
	}
}

// TestOpenWhileMade: a folder that becomes a store between two looks at it is
// that store.
func TestOpenWhileMade(t *testing.T) {
	for n := range 40 {
		path := filepath.Join(t.TempDir(), fmt.Sprint(n))
		maker := open(t, path, jsonfile.Options{Create: true})
		made := make(chan error)
		go func() { made <- maker.Prepare(t.Context()) }()
		for done := false; !done; {
			select {
			case err := <-made:
				if err != nil {
					t.Fatal(err)
				}
				done = true
			default:
			}
			s, err := jsonfile.Open(t.Context(), path, jsonfile.Options{Create: true})
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
		}
	}
}

// TestReadBesideAWriter: another process writes; what it acknowledged is seen at
// once, in the list and in the run, and the two agree.
func TestReadBesideAWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	other := testwriter.Start(t, path, "theirs", time.Millisecond)
	other.Acknowledged(t)
	s := open(t, path, jsonfile.Options{})
	ctx := t.Context()
	for n := range 30 {
		step := other.Acknowledged(t)
		if last, err := s.Latest(ctx, place("theirs").Key); err != nil || last.Step < step || last.Bad != "" {
			t.Fatalf("step %d is saved, the newest is %+v, %v", step, last, err)
		}
		save(t, s, fmt.Sprintf("mine %d", n))
		page, err := s.List(ctx, stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}})
		if err != nil || len(page.Heads) != n+2 {
			t.Fatalf("list %d has %d heads: %v", n, len(page.Heads), err)
		}
		for _, h := range page.Heads {
			if h.Bad != "" || h.Run == "theirs" && h.Step < step {
				t.Fatalf("step %d is saved, the list has %+v", step, h)
			}
		}
	}
	if err := other.Stop(); err != nil {
		t.Fatalf("the other process failed: %v", err)
	}
	storetest.Check(t, s)
}

// TestScenario10TwoWritersFromOneParent: two stores of one folder, as two
// processes have them, hold the same parent; one of them goes on.
func TestScenario10TwoWritersFromOneParent(t *testing.T) {
	path := atRest(t, "r")
	a, b := open(t, path, jsonfile.Options{}), open(t, path, jsonfile.Options{})
	for n := range int64(20) {
		errs := make([]error, 2)
		var both sync.WaitGroup
		for i, s := range []*jsonfile.Store{a, b} {
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
		for _, s := range []*jsonfile.Store{a, b} {
			last, err := s.Latest(t.Context(), place("r").Key)
			if err != nil || string(last.Payload) != fmt.Sprint(winner) {
				t.Errorf("step %d is %q, %d won: %v", n+1, last.Payload, winner, err)
			}
		}
	}
	storetest.Check(t, a)
}

// TestWatchSeesOtherProcesses, while they write and when they come later.
func TestWatchSeesOtherProcesses(t *testing.T) {
	path := atRest(t, "r")
	s := open(t, path, jsonfile.Options{ReadOnly: true})
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
	// When nothing happens any more, neither do notices: the last change may be
	// told of twice.
	quiet := time.NewTimer(10 * time.Second)
	defer quiet.Stop()
	for silent := 0; silent < 4; {
		select {
		case <-notices:
			silent = 0
		case <-time.After(500 * time.Millisecond):
			silent++
		case <-quiet.C:
			t.Fatal("notices do not end")
		}
	}
}

// TestDeletedAndStartedAnew by another process, with a journal as long as before:
// what is remembered of the old one is forgotten.
func TestDeletedAndStartedAnew(t *testing.T) {
	path := atRest(t, "r")
	mine, other := open(t, path, jsonfile.Options{}), open(t, path, jsonfile.Options{})
	ctx, p := t.Context(), place("r")
	for n := range 10 {
		if last, err := mine.Latest(ctx, p.Key); err != nil || last.Bad != "" {
			t.Fatalf("%+v, %v", last, err)
		}
		if err := other.Delete(ctx, p.Key); err != nil {
			t.Fatal(err)
		}
		reborn := p
		reborn.Incarnation = fmt.Sprintf("life%d", n)[:5]
		w := storetest.Step(reborn, 0)
		w.Events = []stores.Event{storetest.Event(reborn, 1)}
		if err := other.Save(ctx, w); err != nil {
			t.Fatal(err)
		}
		last, err := mine.Latest(ctx, p.Key)
		if err != nil || last.Incarnation != reborn.Incarnation || last.Bad != "" {
			t.Fatalf("life %d: %+v, %v", n, last, err)
		}
		if h, err := mine.Head(ctx, p.Key); err != nil || h.Incarnation != reborn.Incarnation {
			t.Fatalf("life %d: %+v, %v", n, h, err)
		}
	}
}
