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

func TestScenario9SheetOfARunThatGoesOn(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("enter", "R")
	x.settle()
	touch(x.backend, "order-7", func(r *viewer.Row) { r.Version, r.Status, r.Step = "order-7@3", "done", 3 })
	x.changed()
	x.sees("changed since you looked")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
}

func TestScenario27ListAndRunSayTheSame(t *testing.T) {
	t.Parallel()
	x := start(t, 140, 40)
	x.keys("7")
	for range x.backend.Rows {
		what := strings.Fields(strings.TrimPrefix(x.line("▸ "), "▸ "))
		x.keys("enter")
		x.sees(what[0]+" "+what[1], "▸1 Overview")
		x.keys("esc", "j")
	}
}

// The error of an earlier try must not stay.
func TestScenario27OldFailureIsReplaced(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "j", "j", "j", "enter")
	x.sees("HTTP 503")
	touch(x.backend, "sync-1", func(r *viewer.Row) {
		r.Error = "disk full\nno room for 3 rows"
		r.Why, r.Version = "load failed", "sync-1@3"
	})
	x.changed()
	x.seesNot("HTTP 503")
	x.sees("it failed with", "disk full", "no room for 3 rows")
}

func TestScenario27AFailedReadIsNoStatus(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("enter")
	remove(x.backend, "order-7")
	x.changed()
	x.sees("there is no run order-7", "not there any more", "last read")
	x.seesNot("✓ verified", "? in doubt")
	x.keys("e")
	x.sees("the run cannot be read")
}

// What was known of a run is told as what it was while its store does not answer.
func TestTheHeaderOfAnUnreadRunIsOfThePast(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("enter")
	x.backend.Err = errors.New("the disk is gone")
	x.changed()
	x.sees("was ✓ verified", "was ? in doubt")
	x.backend.Err = nil
	x.wait(views.Heartbeat)
	x.sees("✓ verified")
	x.seesNot("was ")
}

// A store that is gone may be put back: its runs are not gone.
func TestAStoreThatIsGoneAndPutBack(t *testing.T) {
	t.Parallel()
	gone := viewer.Problem{Code: "not-found", Message: "the store is gone: there is nothing at /srv/demo.db any more", Hint: "put it back, or open the one that you mean"}
	x := start(t, 80, 24)
	x.keys("j", "a", pause)
	x.backend.Err, x.backend.ActErr = gone, gone
	x.keys("r", pause)
	x.sees("the store is gone", "put it back")
	x.seesNot("the run is gone")
	x.keys("enter")
	x.sees("the store is gone")
	x.seesNot("the run is gone")
	x.keys("esc")
	x.backend.Err, x.backend.ActErr = nil, nil
	x.backend.Problems = []viewer.StoreProblem{{Store: "demo.db", Since: x.now, Problem: gone}}
	x.wait(views.Heartbeat)
	x.sees("not read since", "not live, last read", "put it back")
	x.seesNot("last read 0s ago")
	x.backend.Problems = nil
	x.keys("r", "a", pause)
	x.sees("charge_card wants your approval")
}

func TestScenario28RunIsNotMixedUpWithAnother(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Recovered)
	x.press("enter")
	x.press("4")
	late := x.pending
	x.pending = nil
	x.keys("esc", "j", "enter", "3")
	x.pending = late
	x.run()
	x.sees("order-9", "No call was made")
	x.seesNot("hold_seats", "order-7")
}

// A store that drops runs by itself says when, and a run that stays says nothing.
func TestOverviewTellsWhenARunIsDropped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		left time.Duration
		want string
	}{{26*time.Hour + 30*time.Minute, "the store drops it in 26h, unless it is written to"}, {-time.Second, "the store drops it now"}} {
		x := start(t, 80, 40, viewstest.Recovered, func(b *viewstest.Backend) {
			d := b.Details[viewstest.Ref("order-7")]
			at := viewstest.Now.Add(c.left)
			d.Expires = &at
			b.Details[viewstest.Ref("order-7")] = d
		})
		x.keys("enter")
		x.sees(c.want)
	}
	x := start(t, 80, 40, viewstest.Recovered)
	x.keys("enter")
	x.seesNot("drops it")
}

func TestScenario26RunFromTheFuture(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Recovered, func(b *viewstest.Backend) {
		d := b.Details[viewstest.Ref("order-7")]
		d.Updated = viewstest.Now.Add(10*time.Minute + time.Second)
		d.History[2].Nodes[0].Ended = viewstest.Clock(-600)
		d.History[3].Time = viewstest.Clock(-3600)
		b.Details[viewstest.Ref("order-7")] = d
	})
	x.keys("enter")
	x.sees("in the future: clock skew 10m")
	x.keys("2")
	x.sees("charge_card ✓ 1.9s, clock skew", "claimed segment 2, clock skew")
	x.seesNot("-10m", "-600")
}
