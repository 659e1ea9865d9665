package views_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

func many(n int, verdict viewer.Verdict) func(*viewstest.Backend) {
	return func(b *viewstest.Backend) {
		b.Rows = nil
		for i := range n {
			r := viewstest.Row(fmt.Sprintf("run-%04d", i), "tickets", time.Minute, viewer.Paused)
			r.Verdict = verdict
			b.Rows = append(b.Rows, r)
		}
	}
}

func TestScenario33PagesAreReadAsTheCursorComesNear(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, many(350, viewer.Verified))
	same(t, len(x.backend.Listed), 1)
	same(t, x.backend.Listed[0].Limit, 100)
	x.keys("G")
	x.sees("run-0099")
	same(t, x.backend.Listed[1].Cursor, "100")
	x.press("G") // the page is read meanwhile
	x.press("G")
	x.sees("loading")
	x.run()
	x.keys("G", "G")
	x.sees("run-0349")
	for _, k := range []string{"g", "j"} {
		x.keys(k)
	}
	x.changed() // as far as it was read
	same(t, x.backend.Listed[len(x.backend.Listed)-1].Limit, 350)
}

func TestScenario33OneReadAtATime(t *testing.T) {
	t.Parallel()
	x := opened(t, 80, 24, false)
	for range 50 {
		x.press("r")
	}
	x.run()
	same(t, len(x.backend.Listed), 2) // the first, and one more for all the others
}

func TestScenario33CountsComeLaterAndSeldom(t *testing.T) {
	t.Parallel()
	x := opened(t, 80, 24, false)
	x.sees("1 Needs you …", "reading…")
	x.run()
	x.sees("1 Needs you 6")
	insert(x.backend, viewstest.Row("new-1", "tickets", time.Second, viewer.InDoubt))
	x.changed()
	x.sees("1 Needs you 6") // not yet
	x.wait(3 * time.Second)
	x.sees("1 Needs you 7")
}

func TestVerdictsComeAfterTheRows(t *testing.T) {
	t.Parallel()
	x := opened(t, 80, 24, false, many(60, viewer.Unchecked))
	x.run()
	same(t, len(x.backend.Verified), 60)
	slices.SortFunc(x.backend.Verified, func(a, b viewer.Ref) int { return len(a.Run) - len(b.Run) })
	x.sees("✓ verified")
	x.changed()
	same(t, len(x.backend.Verified), 60) // once per version
	x.keys("V")
	same(t, len(x.backend.Verified), 61) // unless asked for
}

// What is found without the key is found in the background, too.
func TestRowsWithoutTheirKeyAreLookedAt(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, many(60, viewer.NoKeyGiven))
	same(t, len(x.backend.Verified), 60)
	x.changed()
	same(t, len(x.backend.Verified), 60) // once per version
}

func TestEmptyNeedsYouSaysWhatThereIs(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Rows = slices.DeleteFunc(b.Rows, viewer.Row.NeedsYou)
	})
	x.sees("Nothing needs you. 1 running, 1 done.", "7 shows all runs.")
	x.golden("runs_empty_80x24")
	x.keys("enter", "a", "e", "y") // nothing to act on
	x.keys("7")
	x.sees("order-11")
	x.keys("[")
	x.sees("▸6 Done")
	x.keys("]", "]")
	x.sees("▸1 Needs you")
	x.keys("8", "9")
	x.sees("▸1 Needs you")
}

func TestSlowStoreKeepsKeysAlive(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.send(views.Changed()) // a read that does not come back
	x.pending = nil
	x.now = x.now.Add(8 * time.Second)
	x.sees("last read 8s ago, reading…")
	x.press("j")
	x.sees("▸ ‖ paused")
	x.press("?")
	x.sees("keys: runs")
}
