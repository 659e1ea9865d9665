package views_test

import (
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// Of a call that ran the result is asked for; that it did not run after all is
// against the record, and asked about once more.
func TestResolvingACallThatRanAsksForItsResult(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("order-7")]
		p.Review[0].Ran = true
		p.InDoubt[0].Ran, p.InDoubt[0].Status, p.InDoubt[0].Why = true, "unrecordable", "it ran, but its result cannot be kept"
		b.Plans[viewstest.Ref("order-7")] = p
	})
	x.keys("e")
	x.settle()
	x.sees("What did email_tickets return?", "it did not run, against the record: it runs again")
	x.keys("j", pause, "enter")
	x.sees("second time. enter says it")
	same(t, len(x.backend.Acted), 0)
	x.keys("esc")
	x.seesNot("second time. enter says it")
	x.keys(pause, "enter", pause, "enter")
	x.settle()
	same(t, x.backend.Acted, []viewer.Request{{Ref: viewstest.Ref("order-7"), Action: viewer.Resolve, Target: "send.1", Version: "order-7@2", NotRun: true}})
}

// The sheet of a recovery says of every call in doubt that it is not idempotent.
func TestRecoverSaysOfACallThatRanThatItIsNotIdempotent(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("order-7")]
		p.InDoubt[0].Ran, p.InDoubt[0].Status, p.InDoubt[0].Why = true, "unrecordable", "it ran, but its result cannot be kept"
		b.Plans[viewstest.Ref("order-7")] = p
	})
	x.keys("R")
	x.settle()
	x.sees("not idempotent", "what ran happens twice")
}
