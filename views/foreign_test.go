package views_test

import (
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// A run of another program shows what its format has, and says what it lacks.
func TestARunOfTeff(t *testing.T) {
	t.Parallel()
	x := start(t, 100, 40, func(b *viewstest.Backend) {
		row := b.Rows[0]
		delete(b.CallLog, row.Ref)
		delete(b.EventLog, row.Ref)
		row.Kind, row.Status, row.Native, row.Verdict, row.Segment, row.Step = "teff", "paused", "paused", viewer.Unsigned, 0, 5
		row.Badges, row.Children, row.Flow = []viewer.Badge{viewer.Paused}, []string{row.Run + ":sub:legal"}, ""
		b.Rows[0] = row
		child := row
		child.Run, child.Parent, child.Native, child.At, child.Step = row.Run+":sub:legal", row.Run, "unfinished", []string{"sign"}, 2
		b.Details[row.Ref] = viewer.Detail{Row: row, Nested: []viewer.Row{child}, Notes: []string{"the file is that of two ids"}}
	})
	x.keys("enter")
	x.sees("iteration 5", "status paused (paused)", "Below", "order-7:sub:legal: unfinished at sign, iteration 2", "Note", "the file is that of two ids")
	x.seesNot("segment")
	x.keys("3")
	x.sees("This format has no call log.")
	x.keys("5")
	x.sees("This format has no events.")
}

// What a format does not keep is not told as if it were known: whether a call
// was under way, and how the run began.
func TestWhatAStoreOfTeffDoesNotTell(t *testing.T) {
	t.Parallel()
	x := start(t, 100, 40, func(b *viewstest.Backend) {
		row := b.Rows[0]
		delete(b.CallLog, row.Ref)
		delete(b.EventLog, row.Ref)
		row.Kind, row.Status, row.Native, row.Verdict, row.Segment, row.Step = "teff", "running", "unfinished", viewer.Unsigned, 0, 2
		row.Badges, row.Waiting, row.At = []viewer.Badge{viewer.Stuck}, nil, []string{"note"}
		row.Actions = []viewer.Offer{{Action: viewer.Recover, Title: "recover"}}
		b.Rows[0] = row
		b.Details[row.Ref] = viewer.Detail{Row: row, History: []viewer.HistoryStep{{Step: 2, Status: "running", At: row.At}}}
		b.Plans[row.Ref] = viewer.Plan{Run: row.Run, Action: "recover", Row: row, Then: "runs note again"}
	})
	x.keys("enter", "2")
	x.sees("running")
	x.seesNot("start")
	x.keys("R")
	x.sees("this store keeps no log of calls", "runs note again")
	x.seesNot("no call was under way")
}
