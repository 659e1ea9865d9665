package widget_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/x/ansi"

	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

func styles() *theme.Styles { return theme.New(theme.NewPlainRenderer(), false) }

var texts = []string{"", "abc", "漢字漢字", "👨‍👩‍👧‍👦👨‍👩‍👧‍👦", "e\u0301e\u0301e\u0301", "🇩🇪🇫🇷", "a\tb\nc", "\x1b[31mred", "\x9b\xff", strings.Repeat("x", 50)}

func TestFitIsExact(t *testing.T) {
	t.Parallel()
	for _, s := range texts {
		for w := range 30 {
			if got := ansi.StringWidth(widget.Fit(widget.Plain(s), w, "…")); got != w {
				t.Errorf("Fit(%q, %d) is %d cells", s, w, got)
			}
			if got := ansi.StringWidth(widget.Ends(widget.Plain(s), "right", w, "…")); got != w {
				t.Errorf("Ends(%q, %d) is %d cells", s, w, got)
			}
		}
	}
}

func TestWrappedLinesFitAndLoseNothing(t *testing.T) {
	t.Parallel()
	for _, s := range texts {
		for w := 2; w < 30; w++ {
			for _, l := range append(widget.Wrap(s, w), widget.Break(s, w)...) {
				if ansi.StringWidth(l) > w {
					t.Errorf("%q in %d cells: %q", s, w, l)
				}
			}
			if got := strings.Join(widget.Break(s, w), ""); got != widget.Plain(s) {
				t.Errorf("Break(%q, %d) lost something: %q", s, w, got)
			}
		}
	}
}

func TestSafeKeepsOnlyStyles(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"\x1b[1;31mred\x1b[0m": "\x1b[1;31mred\x1b[0m",
		"\x1b[2Jx":             "\uFFFD[2Jx",
		"\x1b]0;t\x07":         "\uFFFD]0;t\uFFFD",
		"a\nb":                 "a b",
		"\x1b[31":              "\uFFFD[31",
		"\x9b2J":               "\uFFFD2J",
		"\u202eabc":            "\uFFFDabc",
	} {
		if got := widget.Safe(in); got != want {
			t.Errorf("%q became %q, not %q", in, got, want)
		}
	}
}

func FuzzSafe(f *testing.F) {
	for _, s := range texts {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		safe := widget.Safe(s)
		if widget.Safe(safe) != safe {
			t.Fatalf("%q is not safe", safe)
		}
		if strings.ContainsAny(ansi.Strip(safe), "\n\r\t\x07\x08\x7f") {
			t.Fatalf("%q", safe)
		}
	})
}

type item struct{ id, text string }

func table(ids ...string) (*widget.Table[string, item], func(...string) bool) {
	t := widget.NewTable(styles(), []widget.Column{{Title: "id", Min: 4, Max: 10}, {Title: "text", Min: 5, Max: 20, Rank: 1}},
		func(i item) string { return i.id },
		func(i item) []widget.Cell { return []widget.Cell{{Text: i.id}, {Text: i.text}} })
	set := func(ids ...string) bool {
		rows := make([]item, len(ids))
		for i, id := range ids {
			rows[i] = item{id, "text " + id}
		}
		return t.SetRows(rows)
	}
	t.SetSize(40, 4)
	set(ids...)
	return t, set
}

func selected(t *testing.T, tab *widget.Table[string, item], want string) {
	t.Helper()
	if got, _ := tab.Selected(); got.id != want {
		t.Fatalf("on %q, not on %q", got.id, want)
	}
}

func TestTableCursorStaysOnItsRow(t *testing.T) {
	t.Parallel()
	tab, set := table("a", "b", "c", "d")
	tab.Move(2)
	selected(t, tab, "c")
	if !set("x", "y", "a", "b", "c", "d") {
		t.Fatal("c is said to be gone")
	}
	selected(t, tab, "c")
	set("d", "c", "b", "a")
	selected(t, tab, "c")
	if set("d", "b", "a") {
		t.Fatal("c is said to be there")
	}
	selected(t, tab, "b") // its place in the list
	set()
	if _, ok := tab.Selected(); ok {
		t.Fatal("something is selected in an empty table")
	}
	tab.Move(1)
	tab.Bottom()
	set("a")
	selected(t, tab, "a")
}

func TestTableKeepsTheRowOnItsLine(t *testing.T) {
	t.Parallel()
	tab, set := table("a", "b", "c", "d", "e", "f")
	tab.Move(4)
	at := func() int {
		return slices.IndexFunc(tab.View(), func(l string) bool { return strings.HasPrefix(l, "▸") })
	}
	before := at()
	set("x", "y", "a", "b", "c", "d", "e", "f")
	selected(t, tab, "e")
	if at() != before {
		t.Fatalf("moved from line %d to %d", before, at())
	}
}

func TestTableDropsColumnsByRank(t *testing.T) {
	t.Parallel()
	tab, _ := table("a")
	tab.SetSize(10, 3)
	if got := strings.Join(tab.View(), "\n"); strings.Contains(got, "text") || !strings.Contains(got, "id") {
		t.Fatal(got)
	}
}

func TestTabsShowTheChosenOneAtEveryWidth(t *testing.T) {
	t.Parallel()
	tabs := []widget.Tab{{Title: "Needs you", Count: "12"}, {Title: "Running", Count: "1.2M"}, {Title: "Paused"}, {Title: "All"}}
	for chosen, tab := range tabs {
		for w := 1; w < 80; w++ {
			bar := widget.Tabs(styles(), tabs, chosen, w)
			if ansi.StringWidth(bar) != w {
				t.Fatalf("%d cells in %d", ansi.StringWidth(bar), w)
			}
			if w >= 20 && !strings.Contains(bar, tab.Title) {
				t.Fatalf("no %s in %q", tab.Title, bar)
			}
		}
	}
}

func key(name string) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(name)} }

func TestFieldEdits(t *testing.T) {
	t.Parallel()
	f := widget.NewField(styles(), 100, true)
	for _, s := range []string{"ab", "👨‍👩‍👧‍👦", "e", "\u0301"} {
		f.Key(key(s))
	}
	f.Key(tea.KeyMsg{Type: tea.KeyBackspace}) // the accent goes with its letter
	f.Key(tea.KeyMsg{Type: tea.KeyBackspace})
	if f.Value() != "ab" {
		t.Fatalf("%q", f.Value())
	}
	f.Key(tea.KeyMsg{Type: tea.KeyLeft})
	f.Key(key("X"))
	f.Key(tea.KeyMsg{Type: tea.KeyCtrlJ})
	if f.Value() != "aX\nb" {
		t.Fatalf("%q", f.Value())
	}
	if got := strings.Join(f.View(10, 5, true), "|"); got != "aX        |▏b        " {
		t.Fatalf("%q", got)
	}
	f.Key(tea.KeyMsg{Type: tea.KeyCtrlU})
	f.Key(tea.KeyMsg{Type: tea.KeyDelete})
	if f.Value() != "" {
		t.Fatalf("%q", f.Value())
	}
}

func TestFieldOfOneLineTakesNoNewLine(t *testing.T) {
	t.Parallel()
	f := widget.NewField(styles(), 100, false)
	f.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("a\nb\r\nc"), Paste: true})
	f.Key(tea.KeyMsg{Type: tea.KeyCtrlJ})
	if f.Value() != "a b c" {
		t.Fatalf("%q", f.Value())
	}
}

func TestPaneKnowsWhetherAllWasSeen(t *testing.T) {
	t.Parallel()
	var p widget.TextPane
	lines := []string{"1", "2", "3", "4", "5", "6", "7", "8"}
	p.SetHeight(3)
	p.SetLines(lines)
	var now time.Time
	look := func(unseen int) { // until all was seen that came on the screen
		t.Helper()
		p.Look(now)
		now = now.Add(widget.Glance)
		if p.Look(now); p.Unseen() != unseen || p.Read() != (unseen == 0) {
			t.Fatalf("%d lines unseen, want %d; read: %v", p.Unseen(), unseen, p.Read())
		}
	}
	look(5)
	p.Bottom()
	look(2) // a jump shows nothing of what lies between
	p.Scroll(-1)
	look(1)
	p.SetLines(lines[:7]) // other lines have to be seen again
	look(4)
	p.Top()
	look(1)
	p.Page(1)
	look(0)
	p.SetLines(lines)
	look(0) // what was read was read
	p.Reset()
	look(5)
	var none widget.TextPane
	none.Look(now)
	if none.Look(now.Add(time.Hour)); none.Read() {
		t.Fatal("nothing was read")
	}
}

// What is passed on the way to somewhere else was not on the screen, however the
// pane got there; what moves within it stays there.
func TestPaneSeesOnlyWhatStood(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.Repeat("x", 100), "")
	pane := func(height int) (*widget.TextPane, time.Time) {
		p, now := &widget.TextPane{}, time.Unix(0, 0)
		p.SetHeight(height)
		p.SetLines(lines[:40])
		p.Look(now)
		return p, now
	}
	const early = widget.Glance - time.Millisecond

	p, now := pane(10)
	if p.Unseen() != 30 || p.Read() || !p.Fresh() { // on the screen, but not for long enough
		t.Fatal(p.Unseen(), p.Read(), p.Fresh())
	}
	for range 10 { // pages that come in one burst
		p.Page(1)
		p.Look(now)
	}
	if p.Unseen() != 30 || p.Read() || !p.Fresh() {
		t.Fatal(p.Unseen(), p.Read(), p.Fresh())
	}
	if p.Look(now.Add(widget.Glance)); p.Unseen() != 30 || p.Fresh() {
		t.Fatal(p.Unseen(), p.Fresh())
	}

	p, now = pane(10)
	for range 3 { // pages that pass, at 0, 9, 18 and 27
		now = now.Add(early)
		p.Page(1)
		p.Look(now)
	}
	if p.Unseen() != 28 || p.Read() { // those on two pages, 9 and 18, and the ten on the screen
		t.Fatal(p.Unseen(), p.Read())
	}

	p, now = pane(10)
	now = now.Add(widget.Glance)
	for range 30 { // line by line as fast as a key comes that is held down
		now = now.Add(widget.Glance / 3)
		p.Look(now)
		p.Scroll(1)
		p.Look(now)
	}
	if p.Unseen() != 0 || p.Read() || !p.Fresh() {
		t.Fatal(p.Unseen(), p.Read(), p.Fresh())
	}
	if p.Look(now.Add(widget.Glance)); !p.Read() || p.Fresh() {
		t.Fatal(p.Unseen(), p.Read(), p.Fresh())
	}

	p, now = pane(40)
	p.Hide(now.Add(early))
	if p.Look(now.Add(time.Hour)); p.Read() { // it was hidden meanwhile
		t.Fatal(p.Unseen())
	}
	p.Hide(now.Add(2 * time.Hour))
	if !p.Read() || p.Unseen() != 0 {
		t.Fatal(p.Unseen())
	}

	p, now = pane(40)
	p.SetLines(lines) // before anybody can have seen those
	if p.Look(now.Add(time.Hour)); p.Read() || p.Unseen() != 60 {
		t.Fatal(p.Unseen())
	}
	p.Reset()
	if p.Look(now.Add(2 * time.Hour)); p.Unseen() != 60 || !p.Fresh() {
		t.Fatal(p.Unseen())
	}
}

func TestOverIsExact(t *testing.T) {
	t.Parallel()
	st := styles()
	for w := 6; w < 40; w++ {
		base := widget.Fill([]string{strings.Repeat("漢", 30), "x", "👨‍👩‍👧‍👦", ""}, w, 8, "")
		box := widget.Box(st, "title", []string{"line", strings.Repeat("字", 40)}, min(w, 11))
		for _, l := range widget.Over(st, base, box, w) {
			if ansi.StringWidth(l) != w {
				t.Fatalf("%d cells in %d: %q", ansi.StringWidth(l), w, l)
			}
		}
	}
}
