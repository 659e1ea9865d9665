package views

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// columns of the list. Owner and store are worth their room only when they
// differ.
func (r *runs) columns() []widget.Column {
	var rows []viewer.Row
	if r.table != nil {
		rows = r.table.Rows()
	}
	owner, store := 8, 9 // dropped first
	ownerFrom, storeFrom := 100, 140
	storeMin := 6
	if differ(rows, func(row viewer.Row) string { return row.Owner }) {
		owner, ownerFrom = 1, 0 // one run id may be there of each
	}
	if differ(rows, func(row viewer.Row) string { return row.Store }) {
		store, storeFrom = 3, 0
		for _, info := range stores(r.shared) { // names that differ are worth their room
			storeMin = min(16, max(storeMin, widget.Width(storeName(r.shared, info.Label, info.Label))))
		}
	}
	flowFrom := 0
	if len(rows) > 0 && !slices.ContainsFunc(rows, func(row viewer.Row) bool { return row.Flow != "" }) {
		flowFrom = math.MaxInt // teff's stores do not name flows
	}
	return []widget.Column{
		{Title: "what", Min: 11, Max: 18},
		{Title: "run", Min: 10, Max: 40},
		{Title: "store", Min: storeMin, Max: 24, From: storeFrom, Rank: store},
		{Title: "owner", Min: 6, Max: 16, From: ownerFrom, Rank: owner},
		{Title: "flow", Min: 8, Max: 20, From: flowFrom, Rank: 2},
		{Title: "at", Min: 5, Max: 16, Rank: 5},
		{Title: "step", Min: 5, Max: 10, From: 88, Rank: 7, Right: true},
		{Title: "waiting for", Min: 16, Max: 60, Share: 4},
		{Title: "age", Min: 4, Max: 10, Share: 6, Right: true},
	}
}

func differ(rows []viewer.Row, f func(viewer.Row) string) bool {
	return len(rows) > 1 && slices.ContainsFunc(rows, func(r viewer.Row) bool { return f(r) != f(rows[0]) })
}

// cells of one row, in the order of columns.
func (r *runs) cells(row viewer.Row) []widget.Cell {
	tone := badgeTone(r.shared, row)
	rest := theme.Normal
	if r.unread(row.Ref.Store) != nil {
		tone, rest = theme.Muted, theme.Muted
	}
	return []widget.Cell{
		{Text: badges(r.styles, row.Badges), Tone: tone},
		{Text: row.Run, Tone: rest},
		{Text: storeName(r.shared, row.Ref.Store, row.Store), Tone: rest},
		{Text: row.Owner, Tone: rest},
		{Text: row.Flow, Tone: rest},
		{Text: at(row), Tone: rest},
		{Text: r.step(row), Tone: rest},
		{Text: waitsFor(row), Tone: rest},
		{Text: age(r.now(), row.Updated), Tone: rest},
	}
}

// step is the step and, but for foreign runs, the segment.
func (r *runs) step(row viewer.Row) string {
	if row.Foreign() {
		return fmt.Sprint(row.Step)
	}
	return fmt.Sprintf("%d%s%d", row.Step, r.styles.Dot, row.Segment)
}

// badges is the most urgent one with its word, the others as symbols.
func badges(st *theme.Styles, all []viewer.Badge) string {
	if len(all) == 0 {
		return ""
	}
	first := st.Badge(all[0])
	text := first.Symbol + " " + first.Word
	for i, b := range all[1:] {
		if i == 0 {
			text += " "
		}
		text += st.Badge(b).Symbol
	}
	return text
}

func at(row viewer.Row) string {
	nodes := row.Where()
	if len(nodes) == 0 {
		return "-"
	}
	return strings.Join(nodes, ", ")
}

// waitsFor is the short reason why a run does not move.
func waitsFor(row viewer.Row) string {
	switch {
	case row.Verdict.Bad(): // what it waits for comes to nothing
		return row.Why
	case len(row.Waiting) == 0 && row.NeedsYou():
		if row.Error != "" {
			return row.Error
		}
		if row.Recoverable() { // whose worker is gone says less than what it takes
			return "a recovery: " + row.Why
		}
		return row.Why
	case len(row.Waiting) == 0:
		return ""
	case len(row.Waiting) == 1:
		return waitingText(row.Waiting[0])
	}
	return fmt.Sprintf("%s, %d more", waitingText(row.Waiting[0]), len(row.Waiting)-1)
}
