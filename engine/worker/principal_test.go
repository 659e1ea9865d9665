package worker

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// The run is deleted and its id is used again, for a principal that this worker
// may not act for, between the list and the look.
func TestPrincipalOfAnotherLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, w := newFlaky(), newWorld()
		defer s.Close()
		crash(t, s, w.tickets(), "r", afterStart, true)
		var did atomic.Bool
		s.set(func(op string, k stores.Key) error {
			if op == "head" && did.CompareAndSwap(false, true) {
				if err := s.Store.Delete(context.Background(), k); err != nil {
					t.Error(err)
				}
				crash(t, s.Store, w.tickets(), "r", afterStart, true, func(st *engine.Start) { st.Identity = stores.Identity{User: "bob", Principal: "bob"} })
			}
			return nil
		}, nil)
		sw, _ := sweeper(t, s, w.tickets())
		stop := running(t, sw)
		synctest.Wait()
		time.Sleep(time.Second)
		stop()
		c, err := s.Store.Latest(context.Background(), key("r"))
		t.Log(did.Load(), c.Status, c.Principal, err)
		if c.Status == stores.StatusDone {
			t.Error("a worker that may act for no principal has acted for bob")
		}
	})
}
