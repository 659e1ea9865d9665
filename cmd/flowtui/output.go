package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/widget"
)

// writeJSON writes one compact document and a newline. Numbers stay as they
// are stored, lists that are empty are [].
func writeJSON(w io.Writer, v any) error {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(withLists(v)); err != nil {
		return err
	}
	_, err := w.Write(escapeJSON(buf.Bytes()))
	return err
}

// withLists returns a copy of v in which no list is nil.
func withLists(v any) any {
	in := reflect.ValueOf(v)
	if !in.IsValid() {
		return v
	}
	out := reflect.New(in.Type()).Elem()
	out.Set(in)
	fillLists(out)
	return out.Interface()
}

// fillLists replaces nil lists below v, except bytes: those are raw JSON, which
// is null when there is none.
func fillLists(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fillLists(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		fresh := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(fresh, v)
		for i := range fresh.Len() {
			fillLists(fresh.Index(i))
		}
		v.Set(fresh)
	}
}

// table is text in columns. Widths are counted in cells of the terminal.
type table struct {
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// room is how far a column yields when the table is wider than the terminal.
type room struct {
	least, last int  // cells, while others can yield too and at the end; 0: it yields nothing
	name        bool // it yields before the others, and is cut in its middle: both ends tell it from others
}

// fit cuts columns so that no line is wider than width; 0 is any width. It
// reports whether a name was cut.
func (t *table) fit(width int, columns []room, mark string) (cut bool) {
	widths := t.widths()
	over := 2 * (len(widths) - 1)
	for _, w := range widths {
		over += w
	}
	if over -= width; width == 0 || over <= 0 {
		return false
	}
	for round := range 4 {
		names, last := round%2 == 0, round > 1
		for ; over > 0; over-- {
			widest := -1
			for i, c := range columns {
				least := c.least
				if last {
					least = c.last
				}
				if c.name == names && c.least > 0 && widths[i] > least && (widest < 0 || widths[i] > widths[widest]) {
					widest = i
				}
			}
			if widest < 0 {
				break
			}
			widths[widest]--
			cut = cut || names
		}
	}
	for _, row := range t.rows {
		for i := range row {
			if columns[i].name {
				row[i] = widget.CutMiddle(row[i], widths[i], mark)
			} else if columns[i].least > 0 {
				row[i] = widget.Cut(row[i], widths[i], mark)
			}
		}
	}
	return cut
}

// widths of the columns, in cells.
func (t *table) widths() []int {
	var widths []int
	for _, row := range t.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], ansi.StringWidth(cell))
		}
	}
	return widths
}

func (t *table) write(w io.Writer) {
	widths := t.widths()
	for _, row := range t.rows {
		var line strings.Builder
		for i, cell := range row {
			line.WriteString(cell)
			line.WriteString(strings.Repeat(" ", widths[i]-ansi.StringWidth(cell)+2))
		}
		fmt.Fprintln(w, strings.TrimRight(line.String(), " "))
	}
}

// textWidth is the width of what is written to w: to stderr at once, or as a result,
// which goes to stdout when it is whole.
func (a *app) textWidth(w io.Writer) int {
	if text, ok := w.(textWriter); ok {
		return widthOf(text.Writer)
	}
	return a.width()
}

// leastRoom is how many cells a text needs to be wrapped.
const leastRoom = 20

// linesOf breaks a text at spaces. A flag, an id or a date stays whole, where the
// screens break behind a hyphen: it is here to be copied.
func linesOf(text string, width int) []string {
	const hyphen = "\ue000" // of private use, so that none is left in a text that was scrubbed
	lines := widget.Wrap(strings.ReplaceAll(viewer.Scrub(text), "-", hyphen), width)
	for i, line := range lines {
		lines[i] = strings.ReplaceAll(line, hyphen, "-")
	}
	return lines
}

// wrapped is a text behind its head, broken at spaces so that no line is wider than
// width, under where it begins; 0 is any width.
func wrapped(width int, head, text string) string {
	indent := ansi.StringWidth(head)
	if width == 0 || width-indent < leastRoom {
		return head + text
	}
	return head + strings.Join(linesOf(text, width-indent), "\n"+widget.Space(indent))
}

// continued is a sentence behind a head that stays as it is, however long, broken
// at spaces with room for the "? [y/N] " that follows; 0 is any width. The head
// ends in a space.
func continued(width int, head, text string) string {
	offset := ansi.StringWidth(viewer.Scrub(head))
	if width < leastRoom || offset == 0 {
		return head + text
	}
	offset = (offset-1)%width + 1
	before, after := strings.Repeat("_", offset-1), strings.Repeat("_", len("? [y/N] "))
	lines := strings.Join(linesOf(before+" "+text+after, width), "\n")
	return head + strings.TrimPrefix(strings.TrimSuffix(strings.TrimPrefix(lines, before), after), " ")
}

// wrapLast breaks the last column at spaces, so that no line is wider than width;
// 0 is any width.
func (t *table) wrapLast(width int) {
	room := width
	widths := t.widths()
	for _, w := range widths[:max(0, len(widths)-1)] {
		room -= w + 2
	}
	if width == 0 || room < leastRoom {
		return
	}
	var rows [][]string
	for _, row := range t.rows {
		last := len(row) - 1
		lines := strings.Split(wrapped(room, "", row[last]), "\n")
		rows = append(rows, append(row[:last:last], lines[0]))
		for _, line := range lines[1:] {
			rows = append(rows, append(make([]string, last), line))
		}
	}
	t.rows = rows
}

// dash stands for an empty cell.
func dash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// plural is "1 run", "2 runs".
func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// oneLine is text without line breaks, for a cell.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
