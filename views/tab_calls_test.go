package views

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// listed are the ids of the calls that the tab shows.
func listed(r *loneRun) string {
	var ids []string
	for _, c := range r.called.table.Rows() {
		ids = append(ids, r.called.name(c))
	}
	return strings.Join(ids, " ")
}

// Enter on a step of the timeline shows the calls of that step, and esc goes back
// to the timeline; the tab itself shows all of them.
func TestTheCallsOfAStepAndBack(t *testing.T) {
	t.Parallel()
	r := openRun(t)
	esc := func() { r.do(r.Update(tea.KeyMsg{Type: tea.KeyEsc})) }
	r.press("2", "h", "h", "enter") // step 2
	if got := listed(r); got != "pay.1" || !r.shows(r.called) || !strings.Contains(r.View(), "of step 2; esc goes back") {
		t.Fatalf("%s\n%s", got, r.View())
	}
	r.press("h") // the step before
	if got := listed(r); got != "hold.1" {
		t.Fatal(got)
	}
	r.press("enter")
	esc()
	if got := listed(r); got != "hold.1" || r.called.opened != nil {
		t.Fatalf("esc in a call: %s", got)
	}
	esc()
	if !r.shows(r.timeline) || r.step != 1 {
		t.Fatalf("esc went to tab %d, step %d", r.at, r.step)
	}
	r.press("h", "enter") // where the run starts
	if text := r.View(); !strings.Contains(text, "No call is of step 0. esc goes back to the timeline.") {
		t.Fatal(text)
	}
	r.press("3")
	if got := listed(r); got != "hold.1 pay.1 send.1 send.2" {
		t.Fatal(got)
	}
	r.press("2", "L", "enter")
	if got := listed(r); got != "send.2" {
		t.Fatalf("of the latest step: %s", got)
	}
	r.press("2", "h", "enter") // the claim, and what it cut off
	if got := listed(r); got != "send.1" {
		t.Fatalf("of the claim: %s", got)
	}
}

// Calls of several replies of a model have one id: the step tells them apart.
func TestCallsOfOneIDAreToldApart(t *testing.T) {
	t.Parallel()
	r := openRun(t, func(b *viewstest.Backend) {
		b.CallLog[viewstest.Ref("order-7")] = []viewer.Call{
			called(1, 1, "talk:tools.1", "done", "w", 0, 1), called(3, 1, "talk:tools.1", "done", "w", 2, 3), called(3, 1, "talk:tools.2", "done", "w", 2, 3),
		}
	})
	r.press("3")
	if got, want := listed(r), "talk:tools.1 (step 1) talk:tools.1 (step 3) talk:tools.2"; got != want {
		t.Fatalf("%s, want %s", got, want)
	}
}

// A call that waited at a step is of that step, whatever became of it later.
func TestTheCallsThatWaitedAtAStep(t *testing.T) {
	t.Parallel()
	wait := func(h viewer.HistoryStep, ids ...string) viewer.HistoryStep {
		for _, id := range ids {
			h.Asks = append(h.Asks, viewer.Asked{ID: id})
		}
		return paused(h)
	}
	history := []viewer.HistoryStep{
		saved(0, 1, 0, "tools"), wait(saved(1, 1, 1, "tools"), "tools.1"), claimed(2, 1, 2), saved(3, 1, 3, "tools", ran("tools", 2, 3)),
		wait(saved(4, 1, 5, "tools"), "tools.1"),
	}
	first, second := called(0, 1, "tools.1", "done", "w", 2, 3), called(3, 1, "tools.1", "pending", "w", 5, 0)
	for _, c := range []struct {
		at   int
		call viewer.Call
		want bool
	}{{1, first, true}, {1, second, false}, {3, first, false}, {4, first, false}, {4, second, true}} {
		if got := asksFor(history, c.at, c.call); got != c.want {
			t.Errorf("step %d, call of step %d: %v", c.at, c.call.Step, got)
		}
	}
}

// With a call open in full, the keys of actions are for that one, wherever the step
// cursor moved the one of the table.
func TestActionsAreForTheOpenCall(t *testing.T) {
	t.Parallel()
	r := openRun(t, func(b *viewstest.Backend) {
		for ref, calls := range b.CallLog {
			for i := range calls {
				calls[i].State, calls[i].Digest = viewer.CallInDoubt, "d-"+calls[i].ID
			}
			b.CallLog[ref] = calls
		}
	})
	r.press("3", "g", "enter")
	first := *r.called.opened
	for range 5 {
		if on := r.called.aim(viewer.Resolve); on != (target{first.id, "d-" + first.id}) {
			t.Fatalf("%s is open, and the action is for %+v", first.id, on)
		}
		r.press("h")
	}
	r.press("L") // it stands there, though it is gone from the table
	r.called.opened = &callKey{7, "gone.1"}
	if on := r.called.aim(viewer.Resolve); on != (target{}) {
		t.Fatalf("a call that is gone: %+v", on)
	}
}
