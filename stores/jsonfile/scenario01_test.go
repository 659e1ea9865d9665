package jsonfile

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

// Scenario 1: two that have the store open write to one run in turns, and
// neither is told that it is busy.
func TestScenario01WritersWaitForOneAnother(t *testing.T) {
	path, run := filepath.Join(t.TempDir(), "store"), placeOf("default", "r")
	one, two := openAt(t, path), openAt(t, path)
	if err := one.Save(t.Context(), storetest.Step(run, 0)); err != nil {
		t.Fatal(err)
	}
	const each = 50
	ended := make(chan error, 2)
	for i, s := range []*Store{one, two} {
		go func() {
			var err error
			for n := range int64(each) {
				if i == 0 {
					err = errors.Join(err, s.Save(t.Context(), storetest.Step(run, n+1)))
				} else {
					err = errors.Join(err, s.Save(t.Context(), storetest.Step(placeOf("default", "other"), n)))
					err = errors.Join(err, s.RecordCall(t.Context(), stores.CallWrite{Call: storetest.Record(run, 1, n+1)}))
				}
			}
			ended <- err
		}()
	}
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	storetest.Check(t, one)
}

// A writer that keeps the lock for longer than the timeout makes the store busy:
// nothing was saved, other runs and readers go on, and a second try succeeds.
func TestScenario01BusyIsSaid(t *testing.T) {
	path, run := filepath.Join(t.TempDir(), "store"), placeOf("default", "r")
	holder := openAt(t, path)
	if err := holder.Save(t.Context(), storetest.Step(run, 0)); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{BusyTimeout: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	root, err := os.OpenRoot(path)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	free, err := holder.lock(t.Context(), root, stripe(run.Key))
	if err != nil {
		t.Fatal(err)
	}
	err = s.Save(t.Context(), storetest.Step(run, 1))
	if !errors.Is(err, stores.ErrBusy) || !strings.Contains(err.Error(), "nothing was saved, try again") {
		t.Errorf("got %v", err)
	}
	other := placeOf("default", "other")
	if stripe(other.Key) == stripe(run.Key) {
		t.Fatal("both runs have one lock: choose other names")
	}
	if err := s.Save(t.Context(), storetest.Step(other, 0)); err != nil {
		t.Errorf("another run: %v", err)
	}
	if last, err := s.Latest(t.Context(), run.Key); err != nil || last.Step != 0 {
		t.Errorf("reading it: step %d, %v", last.Step, err)
	}
	free()
	if err := s.Save(t.Context(), storetest.Step(run, 1)); err != nil {
		t.Errorf("afterwards: %v", err)
	}
	storetest.Check(t, s)
}
