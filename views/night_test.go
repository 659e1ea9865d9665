package views_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// Who acted on a run finds the cursor on it again when it came back meanwhile,
// and not on its neighbour.
func TestCursorIsOnTheRunThatWasActedOn(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a", pause)
	turn := func(badge viewer.Badge) {
		touch(x.backend, "order-9", func(r *viewer.Row) { r.Badges = []viewer.Badge{badge} })
		x.changed()
	}
	turn(viewer.Running)
	turn(viewer.Paused)
	x.keys("esc")
	if l := x.line("▸ "); !strings.Contains(x.line("▸ ‖"), "order-9") {
		t.Fatal(l)
	}
	x.seesNot("left this tab")
	turn(viewer.Running) // before the eyes of who looks at the list it leaves
	x.sees("order-9 left this tab")
	turn(viewer.Paused)
	if strings.Contains(x.line("▸ ‖"), "order-9") {
		t.Fatal("the cursor jumped back")
	}
}

// A cursor that was moved meanwhile stays where it was put.
func TestCursorThatWasMovedDoesNotJump(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a", pause)
	touch(x.backend, "order-9", func(r *viewer.Row) { r.Badges = []viewer.Badge{viewer.Running} })
	x.changed()
	x.keys("esc", "G")
	touch(x.backend, "order-9", func(r *viewer.Row) { r.Badges = []viewer.Badge{viewer.Paused} })
	x.changed()
	if l := x.line("▸ ◌"); !strings.Contains(l, "sync-2") {
		t.Fatal(l)
	}
}

// Running a call again is approving it once more: its arguments are shown, and
// all of them were on the screen before.
func TestRerunShowsWhatIsRunAgain(t *testing.T) {
	t.Parallel()
	args := `{"to":"` + strings.Repeat("0123456789", 150) + `","end":1}`
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("order-7")]
		p.InDoubt = append([]viewer.Call(nil), p.InDoubt...)
		p.InDoubt[0].Args, p.InDoubt[0].Masked = json.RawMessage(args), 1
		b.Plans[viewstest.Ref("order-7")] = p
	})
	x.keys("R", pause)
	x.sees(`{"to":"0123456789`, "s show secrets")
	x.seesNot(`"end":1`)
	x.keys("j", "enter", pause)
	x.sees("recover, run again: not yet, read to the end first")
	x.keys("enter", pause)
	same(t, len(x.backend.Acted), 0)
	for range 20 {
		x.keys("pgdown")
	}
	x.sees(`"end":1`)
	x.keys(pause, "enter", pause, "enter")
	same(t, len(x.backend.Acted), 1)
	same(t, x.backend.Acted[0].RerunInDoubt, true)
}

// A step whose row was changed is marked where what it says is drawn.
func TestForgedStepIsMarkedOnEveryTab(t *testing.T) {
	t.Parallel()
	x := start(t, 100, 24, viewstest.Recovered, func(b *viewstest.Backend) {
		d := b.Details[viewstest.Ref("order-7")]
		d.History[2].Verdict, d.History[3].Verdict = viewer.Forged, viewer.Gap
		b.Details[viewstest.Ref("order-7")] = d
	})
	x.keys("enter", "2")
	if l := x.line("charge_card"); !strings.Contains(l, "✗ forged") {
		t.Error(l)
	}
	if l := x.line("claimed segment 2"); !strings.Contains(l, "✗") {
		t.Error(l)
	}
	if l := x.line("hold_seats"); strings.Contains(l, "forged") {
		t.Error(l)
	}
	x.keys("4", "{", "{")
	x.sees("step 2", "✗ forged: what is shown of this step may be made up")
	x.keys("{")
	x.seesNot("may be made up")
}

// Times say that they are UTC, and an axis within one second how long it is.
func TestTimesSayTheirZone(t *testing.T) {
	t.Parallel()
	x := start(t, 120, 30, viewstest.Recovered, func(b *viewstest.Backend) {
		d := b.Details[viewstest.Ref("order-7")]
		d.History = []viewer.HistoryStep{
			{Step: 0, Segment: 1, Status: "running", Time: viewstest.Clock(0)},
			{Step: 1, Segment: 1, Status: "done", Time: viewstest.Clock(0.25), Nodes: []viewer.NodeRun{{Node: "hold", Started: viewstest.Clock(0), Ended: viewstest.Clock(0.25)}}},
		}
		b.Details[viewstest.Ref("order-7")] = d
		b.CallLog = nil
	})
	x.keys("enter", "2")
	if l := x.line("node"); !strings.Contains(l, "09:10:00 UTC") || !strings.Contains(l, "+250ms") || strings.Count(l, "09:10:00") != 1 {
		t.Error(l)
	}
	x.keys("5")
	x.sees("time UTC")

	x = start(t, 100, 30)
	x.now = x.now.In(time.FixedZone("here", 3*3600)) // the clock of the machine is another one
	x.backend.Err = viewer.Problem{Code: "failed", Message: "demo.db is locked"}
	x.changed()
	x.sees("demo.db not read since 09:30:00 UTC", "demo.db is locked (since 09:30:00 UTC)")
}

// Several open calls of one tool are not told as the same sentence over and over.
func TestOverviewCountsWhatIsOffered(t *testing.T) {
	t.Parallel()
	x := start(t, 100, 40, func(b *viewstest.Backend) {
		r := &b.Rows[1]
		r.Actions = nil
		for i := range 3 {
			r.Actions = append(r.Actions, viewer.Offer{Action: viewer.Approve, Target: fmt.Sprintf("pay.%d", i), Title: "approve charge_card"})
		}
		r.Actions = append(r.Actions, viewer.Offer{Action: viewer.Approve, Target: "hold.1", Title: "approve hold_seats"})
	})
	x.keys("j", "enter")
	x.sees("a  approve charge_card, 3 times; approve hold_seats")
}

// Owner and user of a run are told apart.
func TestOwnerAndUserAreNamed(t *testing.T) {
	t.Parallel()
	x := start(t, 140, 30, func(b *viewstest.Backend) {
		b.Infos[0].Owner = "*"
		b.Rows[0].Owner, b.Rows[0].Ref.Owner, b.Rows[0].User = "acme", "acme", "alice"
		p := b.Plans[viewstest.Ref("order-7")]
		b.Plans[b.Rows[0].Ref] = p
	})
	x.sees("owner acme  user alice")
	x.keys("e", pause)
	x.sees("order-7, tickets, owner acme, user alice, step 2")
	x.keys("esc", "enter")
	x.sees("owner acme  user alice")
}

// What was found out goes into the log with where it was found out; it is never
// taken over to another call.
func TestResolveTakesANote(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("e", pause)
	x.sees("note n types one", "n note")
	x.keys("tab", "\"", "o", "k", "\"", "enter", pause, "n", "s", "e", "e", "n", " ", "n", "enter", pause)
	x.golden("resolve_note_80x24")
	x.keys("enter")
	same(t, len(x.backend.Acted), 1)
	same(t, string(x.backend.Acted[0].Value), `"ok"`)
	same(t, x.backend.Acted[0].Note, "seen n")

	alice, bob := asked(viewer.WaitInDoubt, "alice.1", ""), asked(viewer.WaitInDoubt, "bob.1", "")
	x = start(t, 80, 30, func(b *viewstest.Backend) { opens(b, "order-7", alice, bob) })
	x.keys("e", pause, "enter", pause, "n", "m", "i", "n", "e", "enter", pause)
	x.sees("id alice.1", "note mine")
	x.keys("esc", pause, "j", "enter", pause)
	x.sees("id bob.1")
	x.seesNot("mine")
	x.keys("j", pause, "enter")
	same(t, len(x.backend.Acted), 1)
	same(t, x.backend.Acted[0].Note, "")
}
