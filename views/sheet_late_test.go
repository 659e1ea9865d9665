package views_test

import (
	"errors"
	"testing"

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
