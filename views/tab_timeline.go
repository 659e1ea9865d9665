package views

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// timelineTab draws the saved steps over time. Its cursor is the step cursor
// of the screen.
type timelineTab struct {
	r     *runScreen
	rows  []timeRow
	axis  axis
	names int  // cells of the longest name
	laid  bool // rows are those of what was read last
	lines scroller
}

func newTimelineTab(r *runScreen) *timelineTab { return &timelineTab{r: r} }

func (t *timelineTab) title() widget.Tab { return widget.Tab{Title: "Timeline"} }
func (t *timelineTab) back() bool        { return false }
func (t *timelineTab) typing() bool      { return false }
func (t *timelineTab) failed() *failure  { return t.r.calls.failed() }
func (t *timelineTab) ready() bool       { return t.r.calls.loaded }
func (t *timelineTab) read(bool) tea.Cmd { return t.r.readCalls() }

// changed makes the rows anew before they are drawn the next time.
func (t *timelineTab) changed() { t.laid = false }

// ticked lets the bars of running work grow.
func (t *timelineTab) ticked() {
	if t.alive() {
		t.laid = false
	}
}

func (t *timelineTab) alive() bool { return slices.Contains(t.r.row().Badges, viewer.Running) }

func (t *timelineTab) layout() {
	if t.laid {
		return
	}
	badges := t.r.row().Badges
	p := present{now: t.r.now(), alive: t.alive(),
		gone: slices.Contains(badges, viewer.Stuck) || slices.Contains(badges, viewer.InDoubt)}
	if h := t.r.history(); t.r.row().Foreign() && len(h) > 0 {
		p.partial = h[0].Step > 0 // its store keeps the newest one only
	}
	if l := t.r.row().Lease; l != nil {
		p.holder = l.Holder
	}
	t.rows = timelineOf(t.r.history(), t.r.calls.value, p)
	t.axis = axisOf(t.rows)
	t.names = 4
	for _, row := range t.rows {
		t.names = max(t.names, widget.Width(widget.Plain(row.name)))
	}
	t.laid = true
	t.follow()
}

// follow moves to the step under the step cursor.
func (t *timelineTab) follow() {
	at := t.r.stepIndex()
	if at < 0 {
		return
	}
	step := t.r.history()[at].Step
	t.lines.n = len(t.rows)
	last := 0
	for i, row := range t.rows {
		if row.step == step {
			last = i
		}
	}
	if t.r.step == latest {
		last = len(t.rows) - 1 // what is not saved yet is seen too
	}
	t.lines.set(last)
}

func (t *timelineTab) key(msg tea.KeyMsg) (tea.Cmd, bool) {
	k := t.r.keys.Detail
	var cmd tea.Cmd
	switch {
	case key.Matches(msg, k.Open):
		cmd = t.r.show(t.r.called)
		t.r.called.showStep()
		return cmd, true
	case key.Matches(msg, k.Left):
		return t.r.moveStep(-1), true
	case key.Matches(msg, k.Right):
		return t.r.moveStep(1), true
	}
	all := len(t.r.history())
	done := navigate(msg, k.Nav, t.lines.height,
		func(n int) { cmd = t.r.moveStep(n) }, func() { cmd = t.r.moveStep(-all) }, func() { cmd = t.r.setStep(latest) })
	return cmd, done
}

func (t *timelineTab) hints() []keymap.Hint {
	k := t.r.keys.Detail
	none := ""
	if len(t.r.history()) < 2 {
		none = "there are no other steps"
	}
	return []keymap.Hint{{Binding: keymap.Titled(k.Left, "earlier"), Off: none}, {Binding: keymap.Titled(k.Right, "later"), Off: none},
		{Binding: keymap.Titled(k.Open, "calls of the step")}}
}

// The columns of a timeline. The lane and what is told beside it share the rest.
const (
	stepCells  = 7
	segCells   = 4
	leadCells  = 2
	fixedCells = leadCells + stepCells + segCells
)

type timeLayout struct{ name, lane, note int }

func (t *timelineTab) columns(width int) timeLayout {
	left := max(0, width-fixedCells)
	name := min(t.names+2, min(20, left/4))
	left -= name
	lane := left * 2 / 5
	if width >= wide {
		lane = left / 2
	}
	return timeLayout{name, lane, max(0, left-lane-1)}
}

func (t *timelineTab) view(width, height int) []string {
	t.layout()
	if len(t.rows) == 0 {
		return []string{"", "  No steps are saved."}
	}
	c := t.columns(width)
	t.lines.fit(len(t.rows), height-1)
	lines := []string{t.titles(c, width)}
	chosen := unsaved
	if at := t.r.stepIndex(); at >= 0 {
		chosen = t.r.history()[at].Step
	}
	from, to := t.lines.window()
	for _, row := range t.rows[from:to] {
		lines = append(lines, t.row(row, c, width, row.step == chosen))
	}
	return lines
}

func (t *timelineTab) titles(c timeLayout, width int) string {
	text := widget.Space(leadCells) + widget.Fit(widget.PadLeft("step", stepCells-2), stepCells, "") +
		widget.Fit("seg", segCells, "") + widget.Fit("node", c.name, "")
	if !t.axis.from.IsZero() {
		layout := time.TimeOnly
		if t.axis.to.Sub(t.axis.from) >= 24*time.Hour {
			layout = "2006-01-02"
		}
		ends := t.axis.from.UTC().Format(layout) + " UTC"
		to := t.axis.to.UTC().Format(layout)
		if all := took(span{t.axis.from, t.axis.to}); strings.HasPrefix(ends, to) && all != "" {
			to = "+" + all // within one second the same would stand at both ends
		}
		if widget.Width(ends)+widget.Width(to)+1 <= c.lane {
			ends = widget.Ends(ends, to, c.lane, "")
		}
		text += widget.Fit(ends, c.lane, "")
	}
	return t.r.styles.Muted.Render(widget.Fit(text, width, ""))
}

// row draws one line: where it is, the bar, and what happened.
func (t *timelineTab) row(row timeRow, c timeLayout, width int, chosen bool) string {
	st := t.r.styles
	lead := widget.Space(leadCells)
	if chosen && row.first {
		lead = widget.Fit(st.Cursor, leadCells, "")
	}
	text := ""
	if row.divider != "" {
		dashes := strings.Repeat(st.Wait, 2)
		told := st.Muted.Render(dashes + " " + widget.Plain(row.divider) + " " + dashes)
		text = widget.Space(stepCells+segCells) + told
		if row.step != unsaved {
			text = t.place(row) + strings.Join(nonEmpty(badVerdict(st, row.verdict), told), " ")
		}
	} else {
		text = t.place(row) + widget.Fit(widget.Cut(widget.Plain(row.name), max(0, c.name-1), st.Ellipsis), c.name, "") +
			t.bar(row, c.lane) + " " + widget.Cut(t.notes(row), c.note, st.Ellipsis)
	}
	line := widget.Fit(lead+text, width, st.Ellipsis)
	if chosen {
		return st.Strong.Render(line)
	}
	return line
}

// badVerdict marks a step whose row was changed or cannot be read, "" for any
// other: what is drawn of it may be made up.
func badVerdict(st *theme.Styles, verdict viewer.Verdict) string {
	if !verdict.Bad() {
		return ""
	}
	v := st.Verdict(verdict)
	return st.Tone(v.Tone).Render(v.Symbol + " " + widget.Plain(v.Word))
}

// place is the step and the segment of a row; only the first row of a step
// names the step.
func (t *timelineTab) place(row timeRow) string {
	step := ""
	switch {
	case row.cut || row.step == unsaved:
		step = "-" // it was never saved
	case row.first:
		step = fmt.Sprint(row.step)
	}
	return widget.Fit(widget.PadLeft(step, stepCells-2), stepCells, "") + widget.Fit(fmt.Sprint(row.segment), segCells, "")
}

// bar draws when something ran, in a lane of width cells.
func (t *timelineTab) bar(row timeRow, width int) string {
	st := t.r.styles
	if width <= 0 {
		return ""
	}
	if row.bar.none() || row.bar.from.IsZero() {
		return widget.Space(width)
	}
	from, to := t.axis.cells(row.bar, width)
	tone, end := theme.Accent, ""
	if row.cut {
		end = st.Cross
		to = min(to+1, width-1)
		from = min(from, max(0, to-1))
	}
	blocks := max(0, to-from+1-widget.Width(end))
	text := widget.Space(from) + st.Tone(tone).Render(strings.Repeat(st.Block, blocks)) + st.Tone(theme.Danger).Render(end)
	return widget.Fit(text, width, "")
}

// notes is what is told beside a bar.
func (t *timelineTab) notes(row timeRow) string {
	st := t.r.styles
	var parts []string
	if bad := badVerdict(st, row.verdict); bad != "" {
		parts = append(parts, bad)
	}
	for _, c := range row.calls {
		text := callText(st, c)
		switch {
		case row.cut && c.By != "" && c.Status != "resolved":
			text += ", " + widget.Plain(c.By) + " was cut off"
		case c.Status == "resolved" && c.By != "":
			text += " by " + widget.Plain(c.By)
		}
		if again := c.Again(); again != "" {
			text += ", " + widget.Plain(again)
		}
		parts = append(parts, text)
	}
	if row.note != "" {
		parts = append(parts, widget.Plain(row.note))
	}
	if len(row.calls) == 0 || row.bar.skewed() {
		if text := took(row.bar); text != "" && row.bar.length() > 0 || row.bar.skewed() {
			parts = append(parts, text)
		}
	}
	if row.open {
		parts = append(parts, "runs")
	}
	return strings.Join(parts, ", ")
}
