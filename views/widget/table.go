package widget

import (
	"slices"

	"github.com/flowtui/flowtui/views/theme"
)

// Column is a column of a [Table].
type Column struct {
	Title string
	Min   int // cells it needs to be worth showing
	Max   int // cells it uses at most
	From  int // width of the table from which it is shown
	Share int // of the room that is left over, against 1 for the others
	Rank  int // columns of the highest rank go first when it gets narrow; 0 stays
	Right bool
}

// Cell is the plain text of one field, with its tone.
type Cell struct {
	Text string
	Tone theme.Tone
}

// Table shows rows. Its cursor stands on the row with a key, not on a line: it
// stays on its row when others come, go or change places.
type Table[K comparable, R any] struct {
	styles  *theme.Styles
	key     func(R) K
	cells   func(R) []Cell
	columns []Column
	rows    []R
	widths  []int // 0: not shown
	cursor  int
	top     int
	moved   bool // the cursor, by a person: what they look at stays where it is
	width   int
	height  int
	// Stale greys the rows: they are what was last read.
	Stale bool
}

// NewTable makes an empty table. cells gives as many cells as there are columns.
func NewTable[K comparable, R any](st *theme.Styles, columns []Column, key func(R) K, cells func(R) []Cell) *Table[K, R] {
	return &Table[K, R]{styles: st, columns: columns, key: key, cells: cells}
}

// SetColumns replaces the columns; the rows stay.
func (t *Table[K, R]) SetColumns(columns []Column) {
	t.columns = columns
	t.layout()
}

// SetRows replaces the rows. It reports whether the row under the cursor is
// still there; if not, the cursor stays at its place in the list.
func (t *Table[K, R]) SetRows(rows []R) bool {
	kept := true
	if old, ok := t.Selected(); ok {
		k := t.key(old)
		at := slices.IndexFunc(rows, func(r R) bool { return t.key(r) == k })
		kept = at >= 0
		if kept {
			t.top += at - t.cursor // the row stays on its line of the screen
			t.cursor = at
		}
	}
	if t.moved = t.moved && len(rows) > 0; !t.moved {
		t.top = 0 // what comes first is seen first
	}
	t.rows = rows
	t.layout()
	t.clamp()
	return kept
}

// SetSize gives the table its room, one line of it for the titles.
func (t *Table[K, R]) SetSize(width, height int) {
	if width == t.width && height == t.height {
		return
	}
	t.width, t.height = max(0, width), max(0, height)
	t.layout()
	t.clamp()
}

// Rows are the rows as they were set.
func (t *Table[K, R]) Rows() []R { return t.rows }

// Selected is the row under the cursor.
func (t *Table[K, R]) Selected() (R, bool) {
	if t.cursor < 0 || t.cursor >= len(t.rows) {
		var none R
		return none, false
	}
	return t.rows[t.cursor], true
}

// Select puts the cursor on the row with the key, if there is one.
func (t *Table[K, R]) Select(k K) bool {
	at := slices.IndexFunc(t.rows, func(r R) bool { return t.key(r) == k })
	if at >= 0 {
		t.cursor = at
		t.clamp()
	}
	return at >= 0
}

// Move moves the cursor by n rows.
func (t *Table[K, R]) Move(n int) {
	t.moved = true
	t.cursor += n
	t.clamp()
}

// Page moves the cursor by n half pages.
func (t *Table[K, R]) Page(halves int) { t.Move(halves * max(1, t.body()/2)) }

// Top moves the cursor to the first row.
func (t *Table[K, R]) Top() {
	t.Move(-len(t.rows))
	t.moved = false // as in the beginning
}

// Bottom moves the cursor to the last row.
func (t *Table[K, R]) Bottom() { t.Move(len(t.rows)) }

// NearEnd reports that less than a screen of rows is left below the cursor.
func (t *Table[K, R]) NearEnd() bool { return len(t.rows)-t.cursor <= max(1, t.body()) }

// Hidden is how many rows are above and below those that are shown.
func (t *Table[K, R]) Hidden() (above, below int) {
	return t.top, max(0, len(t.rows)-t.top-t.body())
}

// Body is how many rows fit.
func (t *Table[K, R]) body() int { return max(0, t.height-1) }

func (t *Table[K, R]) clamp() {
	t.cursor = max(0, min(t.cursor, len(t.rows)-1))
	body := t.body()
	t.top = min(t.top, t.cursor)
	t.top = max(t.top, t.cursor-body+1)
	t.top = max(0, min(t.top, len(t.rows)-body))
}
