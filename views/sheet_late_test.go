package views_test

import (
	"errors"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

// That it is not known whether a decision was stored stays on the screen until
// somebody reads the run again, however the store fares meanwhile.
func TestAFailedActionIsNotForgotten(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a", pause)
	x.backend.ActErr = viewer.Problem{Code: "failed", Message: "it is not known whether the decision was stored"}
	x.keys("enter", pause)
	x.sees("it is not known whether")
	x.backend.Err = errors.New("the store is down")
	x.wait(2 * views.Heartbeat)
	x.sees("it is not known whether", "the store is down")
	x.backend.Err = nil
	x.wait(2 * views.Heartbeat)
	x.sees("it is not known whether")
	x.seesNot("the store is down")
	x.keys("r", pause)
	x.seesNot("it is not known whether")
}

// A look that was asked for before the action tells nothing of what came after it.
func TestALookOfBeforeTheActionIsDropped(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		opens(b, "order-9", asked(viewer.WaitApproval, "alice.1", "A"), asked(viewer.WaitApproval, "bob.1", "B"))
		b.Then = func(b *viewstest.Backend, r viewer.Request) {
			for i := range b.Rows {
				if b.Rows[i].Ref == r.Ref {
					b.Rows[i].Version, b.Rows[i].Step = "order-9@3", 3
				}
			}
		}
	})
	x.keys("j", "a", pause, "enter", pause)
	x.send(views.Changed())
	late := unbatch(x.pending) // it reads now, and answers later
	x.pending = nil
	x.keys(pause, "enter", pause)
	x.sees("before: ", "id bob.1")
	x.pending = late
	x.run()
	x.seesNot("changed since you looked")
}

// A flow may be another one now though nobody wrote to the run: what a decision leads
// to then has to be seen, and read again, as any other change.
func TestAnotherForecastIsAChange(t *testing.T) {
	t.Parallel()
	leads := func(to string) func(*viewstest.Backend) {
		return planOf("order-9", func(p *viewer.Plan) {
			of(60)(&p.Review[0])
			p.Review[0].IfYes = "charge_card runs once, then " + to
		})
	}
	x := start(t, 80, 24, leads("the run ends"))
	x.keys("j", "a", pause)
	for range 9 {
		x.keys("pgdown")
	}
	x.keys(pause)
	x.seesNot("not yet")
	leads("wire_money runs")(x.backend)
	x.changed()
	x.sees("changed since you looked: what it leads to is another now")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
	x.keys("r", pause)
	x.sees("read to the end first")
}

// With secrets shown the masked look beside them is no change.
func TestRevealedForecastIsNoChange(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("order-9")]
		p.Review = append([]viewer.ReviewEntry(nil), p.Review...)
		p.Review[0].IfYes = "the key is sk-1"
		b.Revealed = map[viewer.Ref]viewer.Plan{viewstest.Ref("order-9"): p}
	})
	x.keys("j", "a", pause, "s", pause)
	x.sees("the key is sk-1")
	x.changed()
	x.seesNot("changed since you looked")
}

// What became of an action whose sheet was closed is told in the footer. Keys that
// were pressed on meanwhile do not take it away before it can be read.
func TestTheEndOfAnActionOutlastsTheNextKeys(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	x := start(t, 80, 24, func(b *viewstest.Backend) { b.Hold = hold })
	x.keys("j", "a", pause)
	x.press("enter")
	x.pending = nil
	x.rest()
	act := x.pending // under way
	x.pending = nil
	x.keys("esc")
	x.backend.ActErr = viewer.Problem{Code: "failed", Message: "it is not known whether the decision was stored"}
	close(hold)
	x.pending = act
	x.run()
	x.sees("it is not known whether")
	x.keys("k", "j", "y") // the last one has something to say too
	x.sees("it is not known whether")
	x.wait(2 * time.Second)
	x.keys("k")
	x.seesNot("it is not known whether")
}
