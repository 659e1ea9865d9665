package widget

import "strings"

const gutter = 2 // cells between columns, and for the cursor before the first

// layout decides which columns are shown and how wide: every column that is
// shown has at least its Min, and what is left goes to those with more to say.
func (t *Table[K, R]) layout() {
	t.widths = make([]int, len(t.columns))
	shown := make([]bool, len(t.columns))
	for i, c := range t.columns {
		shown[i] = t.width >= c.From
	}
	for t.minimum(shown) > t.width {
		worst := -1
		for i, c := range t.columns {
			if shown[i] && c.Rank > 0 && (worst < 0 || c.Rank >= t.columns[worst].Rank) {
				worst = i
			}
		}
		if worst < 0 {
			break
		}
		shown[worst] = false
	}
	wanted := t.wanted()
	left := t.width
	for i := range t.columns {
		if shown[i] {
			t.widths[i] = t.columns[i].Min
			left -= t.columns[i].Min + gutter
		}
	}
	for grown := true; grown && left > 0; {
		grown = false
		for i := range t.columns {
			if shown[i] {
				more := max(0, min(left, max(1, t.columns[i].Share), wanted[i]-t.widths[i]))
				t.widths[i] += more
				left -= more
				grown = grown || more > 0
			}
		}
	}
}

func (t *Table[K, R]) minimum(shown []bool) int {
	sum := 0
	for i, c := range t.columns {
		if shown[i] {
			sum += c.Min + gutter
		}
	}
	return sum
}

// wanted is how wide each column would be if there were room enough.
func (t *Table[K, R]) wanted() []int {
	want := make([]int, len(t.columns))
	for i, c := range t.columns {
		want[i] = max(c.Min, Width(c.Title))
	}
	for _, r := range t.rows {
		for i, c := range t.cells(r) {
			if i < len(want) && want[i] < t.columns[i].Max {
				want[i] = min(t.columns[i].Max, max(want[i], Width(c.Text)))
			}
		}
	}
	return want
}

// View draws the titles and the rows, exactly as many lines as it has room for.
func (t *Table[K, R]) View() []string {
	if t.height == 0 {
		return nil
	}
	lines := []string{t.titles()}
	for i := t.top; i < len(t.rows) && len(lines) < t.height; i++ {
		lines = append(lines, t.row(i))
	}
	return Fill(lines, t.width, t.height, "")
}

func (t *Table[K, R]) titles() string {
	var b strings.Builder
	for i, c := range t.columns {
		if t.widths[i] > 0 {
			b.WriteString(Space(gutter) + t.field(i, c.Title))
		}
	}
	return t.styles.Muted.Render(Fit(b.String(), t.width, ""))
}

func (t *Table[K, R]) row(at int) string {
	selected := at == t.cursor
	lead := Space(gutter)
	if selected {
		lead = Fit(t.styles.Cursor, gutter, "")
	}
	var plain, styled strings.Builder
	for i, c := range t.cells(t.rows[at]) {
		if i >= len(t.widths) || t.widths[i] == 0 {
			continue
		}
		text := t.field(i, Plain(c.Text))
		plain.WriteString(lead + text)
		styled.WriteString(lead + t.styles.Tone(c.Tone).Render(text))
		lead = Space(gutter)
	}
	line := Fit(plain.String(), t.width, t.styles.Ellipsis)
	switch {
	case selected:
		return t.styles.Selected.Render(line)
	case t.Stale:
		return t.styles.Muted.Render(line)
	}
	return Fit(styled.String(), t.width, t.styles.Ellipsis)
}

func (t *Table[K, R]) field(i int, text string) string {
	text = Cut(text, t.widths[i], t.styles.Ellipsis)
	if t.columns[i].Right {
		return PadLeft(text, t.widths[i])
	}
	return Pad(text, t.widths[i])
}
