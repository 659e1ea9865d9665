package views_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

// tabKeys are the tabs of a run and their keys.
var tabKeys = []struct{ name, key string }{
	{"overview", "1"}, {"timeline", "2"}, {"calls", "3"}, {"state", "4"}, {"events", "5"}, {"verify", "6"},
}

func TestRunGolden(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {140, 40}, {40, 10}} {
		for _, tab := range tabKeys {
			name := fmt.Sprintf("run_%s_%dx%d", tab.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				x := start(t, size[0], size[1], viewstest.Recovered)
				x.keys("enter", tab.key)
				x.golden(name)
			})
		}
	}
}

func TestRunMoreGoldens(t *testing.T) {
	t.Parallel()
	for name, keys := range map[string][]string{
		"call":          {"enter", "3", "j", "enter"},
		"event":         {"enter", "5", "g", "enter"},
		"at_step_2":     {"enter", "2", "h", "h"},
		"only_changes":  {"enter", "4", "{", "{", "{", "D"},
		"state_search":  {"enter", "4", "/", "t", "o", "t", "enter"},
		"needs_answer":  {"j", "j", "enter"},
		"needs_approve": {"j", "enter"},
		"failed":        {"j", "j", "j", "j", "enter"},
		"tampered":      {"j", "j", "j", "enter", "6"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24, viewstest.Recovered, forged)
			x.keys(keys...)
			x.golden("run_" + name + "_80x24")
		})
	}
	x := opened(t, 80, 24, true, viewstest.Recovered)
	x.run()
	x.keys("enter", "2")
	x.golden("run_timeline_ascii_80x24")
}

// forged gives order-3 its findings.
func forged(b *viewstest.Backend) {
	found := []viewer.Finding{
		{Record: "checkpoint", Step: 2, Verdict: viewer.Forged, Reason: "its content was changed after it was signed"},
		{Record: "call", Step: 1, N: 3, Verdict: viewer.Gap, Reason: "record 3 is missing"},
	}
	ref := viewstest.Ref("order-3")
	b.Details[ref] = viewer.Detail{Row: b.Rows[3], Findings: found}
	b.Rows[3].Verdict = viewer.Forged
	b.Report = &viewer.Report{Runs: 1, Findings: found, Rows: []viewer.RunVerdict{{Ref: ref, Verdict: viewer.Forged}}}
}

func TestRunEscGoesBackToTheSameRow(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "j", "enter", "4", "esc")
	if !strings.Contains(x.line("▸ ‖"), "trip-2") {
		t.Fatal(x.view())
	}
}

func TestRunTabsSwitchAndWrapAround(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Recovered)
	x.keys("enter")
	for _, c := range []struct{ key, tab string }{
		{"3", "▸3 Calls"}, {"]", "▸4 State"}, {"[", "▸3 Calls"}, {"1", "▸1 Overview"}, {"[", "▸6 Verify"}, {"]", "▸1 Overview"}, {"7", "▸1 Overview"},
	} {
		x.keys(c.key)
		x.sees(c.tab)
	}
}

func TestRunTabsAreReadWhenTheyAreShown(t *testing.T) {
	t.Parallel()
	x, asked := states(t)
	x.keys("1", "2", "3")
	same(t, *asked, []int64(nil))
	x.keys("4")
	same(t, *asked, []int64{-1, 3}) // and the step before, to compare
	x.keys("5", "4")
	x.changed()
	same(t, *asked, []int64{-1, 3}) // nothing changed
	touchDetail(x, func(d *viewer.Detail) { d.Version = "order-7@5" })
	x.changed()
	same(t, *asked, []int64{-1, 3, -1})
}

// states opens the recovered run and notes which states are asked for.
func states(t *testing.T) (*harness, *[]int64) {
	asked := new([]int64)
	x := start(t, 80, 24, viewstest.Recovered, func(b *viewstest.Backend) {
		b.StateAt = func(_ viewer.Ref, step int64, reveal bool) viewer.StateView {
			*asked = append(*asked, step)
			return viewstest.State(step, reveal)
		}
	})
	x.keys("enter")
	return x, asked
}

func touchDetail(x *harness, f func(*viewer.Detail)) {
	x.backend.Lock()
	defer x.backend.Unlock()
	d := x.backend.Details[viewstest.Ref("order-7")]
	f(&d)
	x.backend.Details[viewstest.Ref("order-7")] = d
}

func TestRunOneStateRequestAtATime(t *testing.T) {
	t.Parallel()
	x, asked := states(t)
	x.press("4")
	late := x.pending // the latest state, not read yet
	x.pending = nil
	for range 3 {
		x.press("{")
		x.send(views.Changed())
	}
	x.run() // the detail is read again, the state is still on its way
	same(t, *asked, []int64(nil))
	x.pending = late
	x.run()
	same(t, *asked, []int64{-1, 1, 0}) // what is late is not shown, what is wanted is asked for
	x.sees("at step 1 of 4", "step 1, 160 bytes", "against step 0")
}

func TestRunStepCursorIsShared(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Recovered)
	x.keys("enter", "2")
	x.sees("step 4, segment 2")
	x.keys("k", "h")
	x.sees("at step 2 of 4")
	x.keys("3")
	if !strings.Contains(x.line("▸ "), "pay.1") {
		t.Fatal(x.view())
	}
	x.keys("4")
	x.sees("step 2, 200 bytes", "against step 1: +1 ~1 -0")
	x.keys("{")
	x.sees("at step 1 of 4", "against step 0: +4 ~0 -1")
	x.keys("L")
	x.sees("step 4, segment 2", "step 4, 280 bytes")
	x.keys("2", "g")
	x.sees("at step 0 of 4")
	x.keys("4")
	x.seesNot("against step")
	x.keys("2", "G")
	x.seesNot("at step")
	x.keys("enter") // the calls of the step, also of the latest one
	if !strings.Contains(x.line("▸ "), "send.2") {
		t.Fatal(x.view())
	}
	x.keys("2", "h", "l") // onto the last step: follows the newest again
	x.seesNot("at step")
}

func TestRunStepThatIsGone(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Recovered)
	x.keys("enter", "2", "g")
	touchDetail(x, func(d *viewer.Detail) { d.History = d.History[2:] })
	x.changed()
	x.sees("not there any more")
	x.seesNot("at step")
}

func TestRunSecrets(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Recovered)
	x.keys("enter", "4")
	x.seesNot("4242424242424242", "secrets shown")
	x.keys("s")
	x.sees("4242424242424242", "secrets shown")
	x.keys("1")
	x.seesNot("secrets shown")
	x.keys("4")
	x.backend.Err = errors.New("demo.db is locked")
	x.keys("s") // hiding needs no store
	x.seesNot("4242424242424242", "secrets shown")
}

func TestRunDeadStoreKeepsWhatWasReadAndTriesAgain(t *testing.T) {
	t.Parallel()
	for _, tab := range tabKeys {
		t.Run(tab.name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24, viewstest.Recovered)
			x.keys("enter", tab.key)
			before := strings.Split(x.view(), "\n")[5]
			x.backend.Err = errors.New("demo.db is locked")
			x.changed()
			x.wait(time.Second)
			x.sees("demo.db is locked (since 09:30:00 UTC), next try in 4s; no actions until then.", "last read 1s ago")
			if !strings.Contains(x.view(), strings.TrimSpace(before)) {
				t.Fatalf("%q is gone\n%s", before, x.view())
			}
			x.backend.Err = nil
			x.wait(5 * time.Second)
			x.seesNot("locked")
			x.sees("live")
		})
	}
}

func TestRunThatCannotBeReadAtAll(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.backend.Err = viewer.Problem{Code: "failed", Message: "demo.db is locked", Hint: "close the other program"}
	x.keys("enter", "4")
	x.sees("order-7", "not read yet", "demo.db is locked", "close the other program")
	x.keys("esc")
	x.sees("Needs you")
}

func TestRunActionsOpenTheSheets(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("enter", "3", "e")
	x.sees("Did email_tickets run?")
	x.keys("esc", "a")
	x.sees("order-7: the run waits for no approval")
	x.backend.Err = errors.New("demo.db is locked")
	x.changed()
	x.keys("e")
	x.sees("order-7: the run cannot be read: demo.db is locked")
}

func TestRunVerifiesWhenTheTabIsOpenedAndOnV(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Recovered)
	x.keys("enter", "6")
	same(t, len(x.backend.Verified), 1)
	x.changed()
	x.keys("1", "6")
	same(t, len(x.backend.Verified), 1)
	touchDetail(x, func(d *viewer.Detail) { d.Version = "order-7@5" })
	x.changed()
	x.sees("written to since, V verifies again")
	x.keys("1", "V")
	x.sees("▸6 Verify")
	x.seesNot("written to since")
	same(t, len(x.backend.Verified), 2)
}

func TestRunFollowsEventsAtTheEnd(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Recovered)
	x.keys("enter", "5")
	more := func(n int64) {
		ref := viewstest.Ref("order-7")
		x.backend.EventLog[ref] = append(x.backend.EventLog[ref], viewer.Event{N: n, Time: viewstest.Now, Type: "late"})
		x.changed()
	}
	more(10)
	x.sees("Events 10", "▸    10", "new ones follow")
	x.keys("k", "k")
	more(11)
	x.sees("Events 11", "▸     8")
	x.seesNot("new ones follow")
	x.keys("G", "enter")
	more(12)
	x.sees("11  late") // the event that is open stays
}

func TestRunCallStaysOpenByItsName(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Recovered)
	x.keys("enter", "3", "j", "enter")
	x.sees("charge_card", `"charge": "ch_81"`)
	ref := viewstest.Ref("order-7")
	first := viewstest.Calls()[0]
	first.ID = "early.1"
	x.backend.CallLog[ref] = append([]viewer.Call{first}, x.backend.CallLog[ref]...)
	x.changed()
	x.sees(`"charge": "ch_81"`)
	x.keys("esc")
	if !strings.Contains(x.line("▸ "), "pay.1") {
		t.Fatal(x.view())
	}
}
