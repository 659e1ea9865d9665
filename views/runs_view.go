package views

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// wide is the width from which the preview is on the right.
const wide = 120

var tabTitles = map[viewer.Tab]string{
	viewer.TabNeedsYou: "Needs you", viewer.TabRunning: "Running", viewer.TabPaused: "Paused",
	viewer.TabInDoubt: "In doubt", viewer.TabFailed: "Failed", viewer.TabDone: "Done", viewer.TabAll: "All",
}

// layout is where the parts of the list go.
type layout struct {
	head         int // lines above the table
	tableW, rows int
	sideW, below int // size of the preview; one of them is 0
}

func (r *runs) layout() layout {
	l := layout{head: 3, tableW: r.width}
	l.head += len(r.troubleLines())
	if r.typing || r.filter.Value() != "" {
		l.head++
	}
	left := max(0, r.height-l.head)
	if r.width >= wide {
		l.sideW = min(70, r.width/3)
		l.tableW = r.width - l.sideW - 2
		l.rows = left
		return l
	}
	l.below = min(max(4, r.height/4), max(0, left-4))
	l.rows = max(0, left-l.below-1)
	return l
}

func (r *runs) arrange() {
	l := r.layout()
	r.table.SetSize(l.tableW, l.rows)
}

// View implements Screen.
func (r *runs) View() string {
	r.arrange()
	l := r.layout()
	lines := []string{header(r.shared, r.missing(), r.freshness(), r.width), r.tabs(), r.hidden()}
	lines = append(lines, r.troubleLines()...)
	if r.typing || r.filter.Value() != "" {
		lines = append(lines, r.filterLine())
	}
	lines = append(lines, r.body(l)...)
	return strings.Join(widget.Fill(lines, r.width, r.height, r.styles.Ellipsis), "\n")
}

func (r *runs) rule() string { return r.styles.Muted.Render(widget.Rule(r.styles.Rule, r.width)) }

// hidden is the line over the table. It says how many rows are above and below
// those that are shown.
func (r *runs) hidden() string {
	above, below := r.table.Hidden()
	var parts []string
	if above > 0 {
		parts = append(parts, count(int64(above))+" above")
	}
	switch {
	case r.next != "":
		parts = append(parts, count(int64(below))+"+ below")
	case below > 0:
		parts = append(parts, count(int64(below))+" below")
	}
	if len(parts) == 0 {
		return r.rule()
	}
	text := " " + strings.Join(parts, ", ") + " "
	return r.styles.Muted.Render(widget.Rule(r.styles.Rule, max(0, r.width-widget.Width(text)-1))) + text + r.styles.Muted.Render(widget.Rule(r.styles.Rule, 1))
}

func (r *runs) tabs() string {
	tabs := make([]widget.Tab, len(viewer.Tabs))
	for i, t := range viewer.Tabs {
		tabs[i].Title = tabTitles[t]
		n, known := r.counts[t]
		switch {
		case t == viewer.TabAll:
		case known && r.troubled():
			tabs[i].Count, tabs[i].Old = count(n), true
		case known:
			tabs[i].Count = count(n)
		default:
			tabs[i].Count = r.styles.Ellipsis
		}
	}
	return widget.Tabs(r.styles, tabs, r.tab, r.width)
}

func (r *runs) filterLine() string {
	label := " / "
	text := r.filter.View(max(1, r.width-widget.Width(label)), 1, r.typing)[0]
	return label + text
}

// body is the table and the preview, or a sentence when there are no rows.
func (r *runs) body(l layout) []string {
	table := r.table.View()
	if len(r.table.Rows()) == 0 {
		table = widget.Fill(append([]string{""}, r.empty()...), l.tableW, l.rows, r.styles.Ellipsis)
	} else if last := r.lastLine(); last != "" && len(table) > 0 {
		table[len(table)-1] = r.styles.Muted.Render(widget.Fit("  "+last, l.tableW, ""))
	}
	side := r.preview(max(l.sideW, r.width*min(1, l.below)), cmp.Or(l.below, l.rows))
	if l.sideW == 0 {
		lines := append(table, r.rule())
		return append(lines, widget.Fill(side, r.width, l.below, r.styles.Ellipsis)...)
	}
	side = widget.Fill(side, l.sideW, l.rows, r.styles.Ellipsis)
	bar := r.styles.Muted.Render(r.styles.Bar)
	for i := range table {
		table[i] = widget.Fit(table[i], l.tableW, r.styles.Ellipsis) + " " + bar + side[i]
	}
	return table
}

// lastLine stands under the rows when they are not all.
func (r *runs) lastLine() string {
	switch {
	case r.more.busy:
		return "loading" + r.styles.Ellipsis
	case r.next != "" && len(r.table.Rows()) >= maxRows && r.table.NearEnd():
		return fmt.Sprintf("these are the first %d: / finds the others", len(r.table.Rows()))
	}
	return ""
}

func (r *runs) preview(width, height int) []string {
	row, ok := r.table.Selected()
	if !ok {
		return nil
	}
	return preview(r.shared, row, width, height)
}

// missing names the stores that could not be read, and since when.
func (r *runs) missing() string {
	var all []string
	for _, info := range stores(r.shared) {
		if p := r.unread(info.Label); p != nil {
			how := " not read since " + clock(p.Since)
			if p.Partly {
				how = " read only in part"
			}
			all = append(all, storeName(r.shared, info.Label, info.Label)+how)
		}
	}
	if r.failed != nil {
		all = []string{storeNames(r.shared) + " not read since " + clock(r.failedAt)}
	}
	return strings.Join(all, ", ")
}

// empty says why there are no rows, and what to do.
func (r *runs) empty() []string {
	all := fmt.Sprintf("  %d shows all runs.", len(viewer.Tabs))
	switch {
	case r.failed != nil:
		return []string{"  " + widget.Plain(r.failed.Hint)}
	case r.troubled():
		how := "."
		if r.partial[0].Partly {
			how = " whole: runs may be missing."
		}
		return append([]string{"  What is here is not known: a store cannot be read" + how}, nonEmpty(prefixed("  ", widget.Plain(r.partial[0].Problem.Hint)))...)
	case !r.loaded:
		return []string{"  reading" + r.styles.Ellipsis}
	case r.others > 0:
		return []string{"  There are no runs of this owner here, and " + count(r.others) + " of other owners.", r.howToSeeOthers()}
	case r.filter.Value() != "":
		return r.emptyFilter(all)
	case viewer.Tabs[r.tab] == viewer.TabNeedsYou:
		sentence := "  Nothing needs you."
		if r.counts != nil {
			sentence += fmt.Sprintf(" %s running, %s done.", count(r.counts[viewer.TabRunning]), count(r.counts[viewer.TabDone]))
		}
		return []string{sentence, all}
	case viewer.Tabs[r.tab] == viewer.TabAll:
		return []string{"  There are no runs in this store."}
	}
	return []string{"  No runs here.", all}
}

// emptyFilter says what else there may be than what the filter leaves: in other
// tabs, of other owners.
func (r *runs) emptyFilter(all string) []string {
	if viewer.Tabs[r.tab] == viewer.TabAll {
		all = ""
	}
	lines := []string{fmt.Sprintf("  No run id contains %q here.", r.filter.Value()), "  esc clears the filter." + all}
	if strings.Contains(r.filter.Value(), ":") { // as flowtui ls --query takes it
		lines = append(lines, "  It is looked for in run ids only: the tabs show what stands how,", "  and "+r.keys.List.Owner.Help().Key+" whose runs are shown; flowtui ls --query also takes flow:NAME.")
	}
	if keptTo(r.shared) == "" && ownerLabel(r.shared) != "all owners" {
		lines = append(lines, r.howToSeeOthers())
	}
	return lines
}

func (r *runs) howToSeeOthers() string {
	if keptTo(r.shared) != "" {
		return "  Start with --owner '*' to see all of them."
	}
	return "  " + r.keys.List.Owner.Help().Key + " shows another owner, or all of them."
}

func (r *runs) troubleLines() []string {
	return troubleLines(r.shared, r.trouble(), r.width, r.height)
}

// troubleLines are what could not be read and what to do, in as many lines as the
// window has room for.
func troubleLines(s *shared, text string, width, height int) []string {
	if text == "" {
		return nil
	}
	lines := widget.Wrap(widget.Plain(text), max(1, width-2))
	if most := max(1, height/8); len(lines) > most {
		lines = append(lines[:most-1], strings.Join(lines[most-1:], " "))
	}
	for i, l := range lines {
		lines[i] = s.styles.Tone(theme.Danger).Render(widget.Fit(" "+l, width, s.styles.Ellipsis))
	}
	return lines
}

// trouble is the sentence about what could not be read, "" when all is well.
func (r *runs) trouble() string {
	wait := retryAfter - r.now().Sub(r.tried)
	next := "next try in " + short(max(0, wait))
	if r.page.busy {
		next = "trying again now"
	}
	switch {
	case r.failed != nil:
		return fmt.Sprintf("%s (since %s), %s; no actions until then.", advised(strings.TrimSuffix(r.failed.Message, "."), r.failed.Hint), clock(r.failedAt), next)
	case len(r.partial) > 0:
		p := r.partial[0]
		return fmt.Sprintf("%s (since %s), %s.", advised(inStore(p.Store, p.Problem.Message), p.Problem.Hint), clock(p.Since), next)
	}
	return ""
}

// off is why nothing can be done to the row now, "" when it can.
func (r *runs) off(row viewer.Row) string {
	if r.failed != nil {
		return "the store cannot be read: " + r.failed.Message
	}
	if p := r.unread(row.Ref.Store); p != nil {
		return p.Store + " cannot be read: " + p.Problem.Message
	}
	return ""
}

// freshness says whether the rows are live.
func (r *runs) freshness() string {
	switch {
	case r.read.IsZero() && r.down() && !r.page.busy:
		return "not live"
	case r.read.IsZero():
		return "reading" + r.styles.Ellipsis
	}
	return r.shared.freshness(r.read, r.page, r.down())
}
