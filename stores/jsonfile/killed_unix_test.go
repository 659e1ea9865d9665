//go:build unix

package jsonfile_test

import (
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testwriter"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestScenario08KilledWriter kills a process that writes, 200 times, at random
// moments, also while it makes the store. What it had acknowledged is there,
// every rule holds, and no lock is left.
func TestScenario08KilledWriter(t *testing.T) {
	kills := 200
	if testing.Short() {
		kills = 20
	}
	steps := 0
	for range kills / 20 { // a store grows all the while, and is checked after each kill
		steps += killWriters(t, filepath.Join(t.TempDir(), "store"), 20)
	}
	if steps < kills/2 {
		t.Errorf("only %d steps in %d rounds: this test proves little", steps, kills)
	}
}

// killWriters returns how many steps the killed ones have saved.
func killWriters(t *testing.T, path string, kills int) int {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	random := rand.New(rand.NewPCG(seed, 0))
	newest := int64(-1)
	var reader *jsonfile.Store // one that has the store open all the time
	for round := range kills {
		c := testwriter.Start(t, path, "r", 0)
		if round%5 != 0 { // else it may be killed while it opens the store
			newest = c.Acknowledged(t)
		}
		timer := time.AfterFunc(time.Duration(random.IntN(40))*time.Millisecond, func() { c.Process.Kill() })
		newest += c.Rest()
		timer.Stop()
		_ = c.Wait() // it was killed
		fresh := open(t, path, jsonfile.Options{Create: true})
		for _, s := range []*jsonfile.Store{fresh, reader} {
			if s == nil {
				continue
			}
			if s == fresh || round%10 == 0 {
				storetest.Check(t, s)
			}
			h, err := s.Head(t.Context(), place("r").Key)
			if newest < 0 && err != nil {
				continue
			}
			if err != nil || h.Step < newest || h.Step > newest+1 {
				t.Fatalf("round %d, seed %d: step %d was acknowledged, the head is %+v, %v", round, seed, newest, h, err)
			}
		}
		if h, err := fresh.Head(t.Context(), place("r").Key); err == nil {
			newest = h.Step
		}
		if info, err := fresh.Info(t.Context()); reader == nil && err == nil && info.ID != "" {
			reader = open(t, path, jsonfile.Options{ReadOnly: true})
		}
		if err := fresh.Close(); err != nil {
			t.Fatal(err)
		}
		if t.Failed() {
			t.Fatalf("in round %d, seed %d", round, seed)
		}
	}
	steps, err := reader.History(t.Context(), place("r").Key, stores.HistoryQuery{Limit: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	return len(steps)
}
