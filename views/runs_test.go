package views_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

func TestRunsGolden(t *testing.T) {
	t.Parallel()
	for name, size := range map[string][2]int{"runs_80x24": {80, 24}, "runs_140x40": {140, 40}, "runs_40x10": {40, 10}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			start(t, size[0], size[1]).golden(name)
		})
	}
}

// That nothing is there of one owner is not told as if nothing were there.
func TestRunsOfOtherOwnersAreTold(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Rows, b.Others = nil, viewer.Counts{viewer.TabAll: 300, viewer.TabPaused: 170}
	})
	x.sees("no runs of this owner here, and 300 of other owners.", "--owner '*'")
	x.seesNot("Nothing needs you")
	x.keys("7")
	x.sees("300 of other owners.")
	x.backend.Rows = viewstest.Rows()
	x.changed()
	x.wait(5 * time.Second) // counts come at their own pace
	x.seesNot("other owners")
	x.backend.Rows = nil
	x.backend.Others = nil
	x.changed()
	x.wait(5 * time.Second)
	x.sees("There are no runs in this store.")
	x.seesNot("other owners")
}

// A word that a query of ls would take is no word of a query here, which is said.
func TestFilterSaysThatItIsForRunIDs(t *testing.T) {
	t.Parallel()
	x := start(t, 60, 24)
	x.keys("/")
	for _, r := range "is:paused" {
		x.keys(string(r))
	}
	x.sees(`No run id contains "is:paused" here.`, "looked for in run ids only", "the tabs show", "o whose runs", "ls --query")
	x.exact(60, 24)
	x.keys("esc", "/", "z", "z")
	x.seesNot("in run ids only")
}

// What a filter leaves out may be in another tab, or of another owner.
func TestAnEmptyFilterSaysWhereElseToLook(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) { b.Infos[0].AnyOwner = true })
	x.keys("/", "z", "z", "enter")
	x.sees(`No run id contains "zz" here.`, "7 shows all runs.", "o shows another owner, or all of them.")
	x.keys("7")
	x.sees(`No run id contains "zz" here.`, "esc clears the filter.", "o shows another owner, or all of them.")
	x.seesNot("7 shows all runs.")
	x = start(t, 80, 24, func(b *viewstest.Backend) { b.Infos[0].AnyOwner, b.Infos[0].Owner = true, "*" })
	x.keys("7", "/", "z", "z", "enter")
	x.sees("esc clears the filter.")
	x.seesNot("7 shows all runs.", "another owner")
}

// What is more urgent and comes later is seen, unless somebody is somewhere
// else in the list; and the list says what is not on the screen.
func TestRunsThatComeFirstAreSeen(t *testing.T) {
	t.Parallel()
	tampered := func(run string) viewer.Row { return viewstest.Row(run, "tickets", time.Hour, viewer.Tampered) }
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Rows = nil
		for i := range 30 {
			b.Rows = append(b.Rows, viewstest.Row(fmt.Sprintf("failed-%02d", i), "tickets", time.Hour, viewer.Failed))
		}
	})
	shown := func() int { return strings.Count(x.view(), "! failed") }
	n := shown()
	x.sees("failed-00", fmt.Sprintf("─ %d below ─", 30-n))
	x.seesNot("above")
	come := func(runs ...string) {
		for _, run := range runs {
			x.backend.Rows = append([]viewer.Row{tampered(run)}, x.backend.Rows...)
		}
		x.changed()
	}
	come("bad-1", "bad-2")
	x.sees("bad-2", "bad-1", "▸ ! failed     failed-00", fmt.Sprintf("─ %d below ─", 32-n))
	come("bad-3")
	x.sees("bad-3", "failed-00", fmt.Sprintf("─ %d below ─", 33-n))
	x.sees("▸ ! failed     failed-00") // the cursor stays on its run
	for range n + 5 {
		x.keys("j")
	}
	before := x.line("failed-12")
	x.sees(" above, ", " below ─")
	come("bad-4")
	x.seesNot("bad-4")
	same(t, x.line("failed-12"), before)
	x.keys("G")
	x.sees(fmt.Sprintf("─ %d above ─", 34-n))
	x.seesNot("below")
	x.keys("g")
	x.sees("bad-4", fmt.Sprintf("─ %d below ─", 34-n))
	come("bad-5")
	x.sees("bad-5")
}

// A column that has nothing to say leaves its room to the others.
func TestRunsWithoutFlowsHaveNoColumnForThem(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		for i := range b.Rows {
			b.Rows[i].Flow = ""
		}
	})
	if l := x.line("waiting for"); strings.Contains(l, "flow") {
		t.Error(l)
	}
	x.exact(80, 24)
	x = start(t, 80, 24)
	if l := x.line("waiting for"); !strings.Contains(l, "flow") {
		t.Error(l)
	}
}

// Whoever asks for a verification is told what came of it.
func TestVerifyingARunTellsItsOutcome(t *testing.T) {
	t.Parallel()
	sound := start(t, 80, 24)
	sound.keys("V")
	sound.sees("order-7: ✓ verified")

	cut := start(t, 80, 24, func(b *viewstest.Backend) {
		ref := viewstest.Ref("order-7")
		b.Report = &viewer.Report{Runs: 1, Rows: []viewer.RunVerdict{{Ref: ref, Verdict: viewer.Gap}}, Findings: []viewer.Finding{
			{Run: "order-7", Record: "checkpoint", Verdict: viewer.NoKeyGiven, Reason: "no key was given"},
			{Run: "order-7", Record: "call", N: 3, Verdict: viewer.Gap, Reason: "call record 3 of segment 1 is missing"},
		}}
	})
	cut.seesNot("order-7: ")
	cut.keys("V")
	cut.sees("order-7: ✗ gap, call record 3 of segment 1 is missing")

	down := start(t, 80, 24)
	down.backend.Err = errors.New("the disk is gone")
	down.keys("V")
	down.sees("order-7 could not be verified: the disk is gone")
}

// A store of which runs may be missing is no all-clear.
func TestAStoreThatWasReadInPartIsNoAllClear(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Rows = nil
		b.Problems = []viewer.StoreProblem{{Store: "demo.db", Partly: true, Since: viewstest.Now, Problem: viewer.Problem{
			Code: "corrupt", Message: "runs may be missing in demo.db: its manifest is damaged", Hint: "get the bundle again",
		}}}
	})
	x.sees("demo.db read only in part", "runs may be missing in demo.db: its manifest is damaged",
		"What is here is not known: a store cannot be read whole: runs may be missing.", "get the bundle again")
	x.seesNot("Nothing needs you", "not read since")
}

// Why a run does not verify is told before what it waits for: that comes to nothing.
func TestATamperedRunThatWaitsTellsWhy(t *testing.T) {
	t.Parallel()
	x := start(t, 120, 24, func(b *viewstest.Backend) {
		r := &b.Rows[1] // it waits for an approval
		r.Badges, r.Verdict, r.Why = []viewer.Badge{viewer.Tampered, viewer.Paused}, viewer.Forged, "step 2 is forged: it was changed"
		b.Rows = b.Rows[1:2]
	})
	row := ""
	for line := range strings.Lines(x.app.View()) {
		if row == "" && strings.Contains(line, "tampered") {
			row = line
		}
	}
	if !strings.Contains(row, "step 2 is") || strings.Contains(row, "charge_card") {
		t.Errorf("the row is %q", row)
	}
}
