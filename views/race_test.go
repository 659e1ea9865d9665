package views_test

import (
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// ben approves order-9, and its run ends.
func ben(b *viewstest.Backend) {
	b.Lock()
	defer b.Unlock()
	ref := viewstest.Ref("order-9")
	p := b.Plans[ref]
	p.Review, p.Action, p.Lately = nil, "none", "ben approved pay.1 at 09:29:58"
	b.Plans[ref] = p
	for i := range b.Rows {
		if r := &b.Rows[i]; r.Ref == ref {
			r.Version, r.Status, r.Step, r.Why = "order-9@5", "done", 5, "it is done"
		}
	}
}

// Who was slower is told who did what and when, and how the run stands now.
func TestLoserOfARaceIsToldWhoWon(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a", pause)
	x.backend.ActErr = viewer.Problem{Code: "conflict", Run: "order-9", Hint: "look at it again before you act",
		Message: `run "order-9": changed since you looked: it is done at step 5; ben approved pay.1 at 09:29:58`}
	ben(x.backend) // no notice of it came yet
	x.keys("enter")
	same(t, len(x.backend.Acted), 1)
	x.sees("not done: it is done at step 5; ben approved pay.1 at 09:29:58", "looked: ben approved pay.1 at 09:29:58, now done, now at", "r reads it again")
	x.golden("race_80x24")
	x.keys(pause, "enter", pause)
	same(t, len(x.backend.Acted), 1) // what is there now is looked at first
	x.keys("r", pause)
	x.sees("nothing is open here any more: ben approved pay.1 at 09:29:58; it is done")
	x.seesNot("not done")
}

// A notice of it comes before the key: then nothing is sent.
func TestRaceIsSeenBeforeItIsLost(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a", pause)
	ben(x.backend)
	x.changed()
	x.sees("changed since you looked: ben approved pay.1 at 09:29:58, now done")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
}

// What was decided before the sheet was opened is no news.
func TestOldDecisionIsNoRace(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("order-9")]
		p.Lately = "ana approved hold.1 at 09:10:00"
		b.Plans[viewstest.Ref("order-9")] = p
	})
	x.keys("j", "a", pause)
	touch(x.backend, "order-9", func(r *viewer.Row) { r.Version, r.Step = "order-9@3", 3 })
	x.changed()
	x.sees("changed since you looked: now at step 3")
	x.seesNot("ana approved")
}

func TestRecoverySheetOfWhatHasEndedSaysWhoDecided(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("G", "R", pause)
	x.backend.Lock()
	ref := viewstest.Ref("sync-2")
	p := x.backend.Plans[ref]
	p.Action, p.Lately = "none", "ben recovered at 09:29:58"
	x.backend.Plans[ref] = p
	x.backend.Unlock()
	touch(x.backend, "sync-2", func(r *viewer.Row) { r.Version, r.Status = "sync-2@9", "done" })
	x.changed()
	x.sees("changed since you looked: ben recovered at 09:29:58, now done")
	x.keys("r", pause)
	x.sees("ben recovered at 09:29:58", "there is nothing to recover")
}
