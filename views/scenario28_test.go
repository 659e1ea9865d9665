package views_test

import (
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// settle lets enough time pass that a sheet takes keys.
func (x *harness) settle() { x.now = x.now.Add(time.Second) }

func insert(b *viewstest.Backend, rows ...viewer.Row) {
	b.Lock()
	defer b.Unlock()
	b.Rows = append(rows, b.Rows...)
}

func remove(b *viewstest.Backend, run string) {
	b.Lock()
	defer b.Unlock()
	var kept []viewer.Row
	for _, r := range b.Rows {
		if r.Run != run {
			kept = append(kept, r)
		}
	}
	b.Rows = kept
}

func touch(b *viewstest.Backend, run string, f func(*viewer.Row)) {
	b.Lock()
	defer b.Unlock()
	for i := range b.Rows {
		if b.Rows[i].Run == run {
			f(&b.Rows[i])
		}
	}
}

func TestScenario28CursorStaysOnItsRunWhenRowsAreInserted(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j")
	if !strings.HasPrefix(x.line("▸ "), "▸ ‖ paused     order-9") {
		t.Fatal(x.view())
	}
	insert(x.backend, viewstest.Row("new-1", "tickets", time.Second, viewer.InDoubt),
		viewstest.Row("new-2", "tickets", time.Second, viewer.InDoubt))
	x.changed()
	x.sees("new-1", "new-2")
	if !strings.Contains(x.line("▸ ‖"), "order-9") {
		t.Fatal(x.view())
	}
}

func TestScenario28SheetActsOnTheRunItWasOpenedFor(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j")
	x.press("a") // the plan is still on its way
	x.sees("order-9, tickets")
	insert(x.backend, viewstest.Row("new-1", "tickets", time.Second, viewer.Paused))
	x.run()
	x.changed()
	x.settle()
	x.keys("enter")
	same(t, x.backend.Acted, []viewer.Request{{Ref: viewstest.Ref("order-9"), Action: viewer.Approve, Target: "pay.1", Version: "order-9@2"}})
}

func TestScenario28LateRepliesAreDropped(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("enter") // order-7
	x.sees("order-7")
	x.press("r")
	late := x.pending
	x.pending = nil
	x.keys("esc", "j", "enter") // order-9
	x.pending = append(x.pending, late...)
	x.run()
	x.seesNot("email_tickets")
	x.sees("order-9")
}

func TestScenario28TabOfAnOlderRequestIsNotShown(t *testing.T) {
	t.Parallel()
	x := opened(t, 80, 24, false) // the first page is on its way
	x.press("6")
	x.run()
	x.sees("▸6 Done", "order-1")
	x.seesNot("order-9")
}

func TestScenario28VanishedRunCancelsTheAction(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a")
	x.settle()
	remove(x.backend, "order-9")
	x.changed()
	x.sees("there is no run order-9")
	x.keys("enter")
	x.sees("the run is gone")
	if len(x.backend.Acted) > 0 {
		t.Fatalf("acted: %v", x.backend.Acted)
	}
	x.keys("esc")
	if got := x.line("▸ "); strings.Contains(got, "order-9") {
		t.Fatal(got)
	}
}

func TestScenario28ChangedRunMustBeReadAgain(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a")
	x.settle()
	touch(x.backend, "order-9", func(r *viewer.Row) { r.Version, r.Step = "order-9@3", 3 })
	x.changed()
	x.sees("changed since you looked: now at step 3, segment 1")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
	x.keys("r")
	x.seesNot("changed since")
	x.keys("enter")
	x.sees("look, then press enter again")
	x.settle()
	x.keys("enter")
	same(t, x.backend.Acted[0].Version, "order-9@3")
}

func TestScenario28FilterThatRemovesTheSelectedRow(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("/", "t", "r", "i", "p", "enter")
	x.sees("▸ ‖ paused     trip-2")
	x.keys("enter")
	x.sees("trip-2  approval")
}

func TestScenario28KeysInFlightDoNotConfirm(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "a", "enter", "enter")
	x.now = x.now.Add(300 * time.Millisecond)
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
	x.settle()
	x.keys("enter")
	same(t, len(x.backend.Acted), 1)
}

func TestScenario28HeldKeysMoveOneByOne(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("jjj")
	if !strings.Contains(x.line("▸ "), "order-3") && !strings.Contains(x.line("▸ ✗"), "order-3") {
		t.Fatal(x.view())
	}
}
