package views_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

// die lets the worker of order-11 be dead without a write: the backend says so
// when it is asked, and nobody gives notice.
func die(b *viewstest.Backend) {
	touch(b, "order-11", func(r *viewer.Row) {
		r.Badges, r.Why = []viewer.Badge{viewer.Stuck}, "its worker is gone."
	})
}

func TestDeadWorkerIsNoticedWhenItsLeaseEnds(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		touch(b, "order-11", func(r *viewer.Row) { r.Lease.Expires = viewstest.Now.Add(3 * time.Second) })
	})
	x.keys("2")
	x.sees("order-11", "2 Running 1")
	die(x.backend)
	x.wait(time.Second)
	x.sees("order-11")
	x.wait(2 * time.Second)
	x.sees("2 Running 0", "1 Needs you 7", "No runs here.", "order-11 left this tab")
	n := len(x.backend.Listed)
	x.wait(time.Second) // not again for the same lease
	same(t, len(x.backend.Listed), n)
}

func TestHeartbeatReadsTheListOncePerBeat(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	n := len(x.backend.Listed)
	for range 40 {
		x.wait(time.Second)
		x.sees("live")
	}
	if got := len(x.backend.Listed) - n; got < 4 || got > 6 {
		t.Errorf("%d reads in 40 seconds", got)
	}
	x.keys("?") // an overlay does not hide what is under it
	n = len(x.backend.Listed)
	x.wait(views.Heartbeat)
	same(t, len(x.backend.Listed), n+1)
	x.keys("esc", "enter") // a run in front of it does
	n = len(x.backend.Listed)
	x.wait(views.Heartbeat)
	same(t, len(x.backend.Listed), n)
	x.keys("esc")
	x.wait(time.Second)
	same(t, len(x.backend.Listed), n+1)
}

func TestHeartbeatDoesNotOverlap(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	n := len(x.backend.Listed)
	var reads int
	for range 30 { // the store does not answer
		x.now = x.now.Add(time.Second)
		x.send(views.Tick(x.now))
		if len(x.pending) > 1 {
			reads++
		}
	}
	x.sees("reading…", "last read 30s ago")
	x.run()
	same(t, len(x.backend.Listed), n+1)
	x.sees("live")
}

func TestLiveIsSaidOnlyOfWhatIsFresh(t *testing.T) {
	t.Parallel()
	for _, keys := range [][]string{{}, {"enter"}} {
		x := start(t, 80, 24)
		x.keys(keys...)
		x.sees("live")
		x.now = x.now.Add(views.Heartbeat + time.Second) // no tick came
		x.sees("last read 11s ago")
		x.wait(0)
		x.sees("live")
		x.seesNot("last read")
	}
}

func TestRunScreenNoticesADeadWorker(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("2", "enter")
	x.sees("▶ running")
	die(x.backend)
	x.wait(5 * time.Second)
	x.sees("▶ running")
	x.wait(views.Heartbeat)
	x.sees("◌ stuck", "its worker is gone.")
}

func TestOpenSheetNoticesThatTheLeaseEnded(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		ref, why := viewstest.Ref("sync-2"), "worker-2 works on it"
		p := b.Plans[ref]
		p.Blocked, p.Lease = &why, &viewer.Lease{Holder: "worker-2", Expires: viewstest.Now.Add(12 * time.Second)}
		b.Plans[ref] = p
		b.Rows[5].Lease = p.Lease
	})
	x.keys("G", "R")
	x.wait(3 * time.Second)
	x.sees("take it over: worker-2 is cut off")
	x.backend.Lock()
	p := x.backend.Plans[viewstest.Ref("sync-2")]
	p.Blocked, p.Lease = nil, nil
	x.backend.Plans[viewstest.Ref("sync-2")] = p
	x.backend.Unlock()
	x.wait(9 * time.Second)
	x.sees("changed since you looked: nobody holds the run now")
	x.keys("r")
	x.seesNot("take it over")
}

func TestChangingTabsCountsAgain(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	die(x.backend)
	x.now = x.now.Add(3 * time.Second)
	x.keys("3")
	x.sees("2 Running 0")
}

func TestDeadStoreKeepsItsCounts(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(*viewstest.Backend){
		"read fails": func(b *viewstest.Backend) { b.Err = errors.New("demo.db is gone") },
		"problem": func(b *viewstest.Backend) { // counted as empty, as the viewer does
			b.Problems = []viewer.StoreProblem{{Store: "demo.db", Since: viewstest.Now, Problem: viewer.Problem{Message: "it is gone"}}}
			b.Rows = nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24)
			breaks(x.backend)
			x.wait(views.Heartbeat)
			x.sees("1 Needs you 6", "6 Done 1", "demo.db not read since", "not live", "gone", "order-9")
			x.seesNot("key 3f9a ok", "read-write")
			x.wait(views.Heartbeat)
			x.sees("1 Needs you 6", "order-9")
			x.keys("6")
			x.sees("6 Done 1")
			x.seesNot("No runs here")
		})
	}
}

func TestCountsThatWentDownAreTakenWhenAllWasRead(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	remove(x.backend, "order-1")
	x.wait(views.Heartbeat)
	x.sees("6 Done 0")
}

func TestDeadStoreIsNamedOnTheRunScreen(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("enter")
	x.backend.Err = errors.New("the file is gone")
	x.wait(views.Heartbeat)
	if l := x.line("the file is gone"); !strings.Contains(l, "demo.db") {
		t.Error(l)
	}
	x.sees("not live, last read")
}
