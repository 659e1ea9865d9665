//go:build unix

package sqlite_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testwriter"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/sqlite"
	"github.com/flowtui/flowtui/stores/storetest"
)

// TestKilledCreator kills processes while they create a store; another one can
// go on from whatever is there.
func TestKilledCreator(t *testing.T) {
	for range 40 {
		path := filepath.Join(t.TempDir(), "runs.db")
		c := testwriter.Start(t, path, "theirs", 0)
		for begun := false; !begun; runtime.Gosched() {
			_, err := os.Stat(path)
			begun = err == nil
		}
		<-time.After(time.Duration(rand.IntN(4000)) * time.Microsecond)
		c.Process.Kill()
		_ = c.Wait() // it was killed
		left := names(files(t, filepath.Dir(path)))
		s := open(t, path, sqlite.Options{Create: true})
		if _, err := s.List(t.Context(), stores.Query{Filter: stores.Filter{Owner: stores.AnyOwner}}); err != nil {
			t.Errorf("%q: %v", left, err)
		}
		if err := s.Save(t.Context(), storetest.Step(place("mine"), 0)); err != nil {
			t.Errorf("%q: %v", left, err)
		}
		storetest.Check(t, s)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
