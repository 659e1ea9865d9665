package views

import (
	"fmt"
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// callsTab lists the calls of the run, and shows one of them in full.
type callsTab struct {
	r      *runScreen
	table  *widget.Table[callKey, viewer.Call]
	only   bool            // those of the step under the step cursor, as the timeline asked for
	twice  map[string]bool // ids that calls of several supersteps have
	opened *callKey        // the call that is shown in full
	drawn  drawnCall
	pane   widget.TextPane
}

func newCallsTab(r *runScreen) *callsTab {
	t := &callsTab{r: r}
	t.table = widget.NewTable(r.styles, callColumns, keyOf, t.cells)
	return t
}

var callColumns = []widget.Column{
	{Title: "call", Min: 8, Max: 24},
	{Title: "step", Min: 6, Max: 12, Right: true, Rank: 2},
	{Title: "tool", Min: 10, Max: 30},
	{Title: "status", Min: 12, Max: 20},
	{Title: "took", Min: 6, Max: 10, Right: true},
	{Title: "started", Min: 8, Max: 8, From: 100, Rank: 4},
	{Title: "by", Min: 8, Max: 24, Rank: 3},
}

func (t *callsTab) title() widget.Tab {
	if !t.r.calls.loaded {
		return widget.Tab{Title: "Calls"}
	}
	return widget.Tab{Title: "Calls", Count: count(int64(len(t.r.calls.value)))}
}

func (t *callsTab) typing() bool      { return false }
func (t *callsTab) failed() *failure  { return t.r.calls.failed() }
func (t *callsTab) ready() bool       { return t.r.calls.loaded }
func (t *callsTab) read(bool) tea.Cmd { return t.r.readCalls() }

// back closes a call, then goes back to the timeline that asked for one step.
func (t *callsTab) back() bool {
	switch {
	case t.opened != nil:
		t.opened = nil
	case t.only:
		t.showAll()
		t.r.at = slices.Index(t.r.tabs, runTab(t.r.timeline))
	default:
		return false
	}
	return true
}

// showStep shows the calls of the step under the step cursor only, until showAll.
func (t *callsTab) showStep() {
	t.only, t.opened = true, nil
	t.changed()
	t.table.Top()
}

func (t *callsTab) showAll() {
	if t.only {
		t.only = false
		t.changed()
		t.follow()
	}
}

// changed takes the calls that were read. The cursor and the call that is
// open stay by their names.
func (t *callsTab) changed() {
	t.drawn = drawnCall{}
	fresh := len(t.table.Rows()) == 0
	seen := map[string]bool{}
	t.twice = map[string]bool{}
	for _, c := range t.r.calls.value {
		t.twice[c.ID] = t.twice[c.ID] || seen[c.ID]
		seen[c.ID] = true
	}
	rows := t.r.calls.value
	if t.only {
		rows = slices.DeleteFunc(slices.Clone(rows), func(c viewer.Call) bool { return !t.ofStep(c) })
	}
	t.table.SetRows(rows)
	if fresh && !t.only {
		t.follow()
	}
}

// ofStep reports whether the step under the step cursor tells of the call. The
// latest one also has what came after it.
func (t *callsTab) ofStep(c viewer.Call) bool {
	at := t.r.stepIndex()
	if at < 0 {
		return false
	}
	h := t.r.history()[at]
	for _, try := range attempts(c) {
		for _, step := range callSteps(t.r.history(), try) {
			if step == h.Step || step == unsaved && t.r.step == latest {
				return true
			}
		}
	}
	return asksFor(t.r.history(), at, c)
}

// follow goes to the first call that led to the step under the step cursor.
func (t *callsTab) follow() {
	switch {
	case t.only:
		t.changed()
	case t.r.step != latest:
		t.goTo(t.r.step)
	}
}

// goTo goes to the first call that led to the step, if there is one.
func (t *callsTab) goTo(step int64) {
	for _, c := range t.table.Rows() {
		if callStep(t.r.history(), c) == step {
			t.table.Select(keyOf(c))
			return
		}
	}
}

// cells of one call. Calls after the step under the step cursor are greyed.
func (t *callsTab) cells(c viewer.Call) []widget.Cell {
	look := callLook(t.r.styles, c.State)
	tone, rest := look.Tone, theme.Normal
	if t.later(c) {
		tone, rest = theme.Muted, theme.Muted
	}
	started := "-"
	if c.Started != nil {
		started = c.Started.UTC().Format(time.TimeOnly)
	}
	return []widget.Cell{
		{Text: t.name(c), Tone: rest},
		{Text: fmt.Sprintf("%d%s%d", c.Step, t.r.styles.Dot, c.Segment), Tone: rest},
		{Text: c.Tool, Tone: rest},
		{Text: look.Symbol + " " + look.Word + timesMade(c), Tone: tone},
		{Text: duration(c, t.r.now()), Tone: rest},
		{Text: started, Tone: rest},
		{Text: c.By, Tone: rest},
	}
}

// name is the call's id, with its step where the replies of one model share it.
func (t *callsTab) name(c viewer.Call) string {
	if t.twice[c.ID] {
		return fmt.Sprintf("%s (step %d)", c.ID, c.Step)
	}
	return c.ID
}

// timesMade says beside a call's status that it was made more than once.
func timesMade(c viewer.Call) string {
	switch {
	case c.Twice():
		return ", ran twice"
	case c.MaybeTwice():
		return ", maybe twice"
	case len(c.Before) > 0:
		return ", run again"
	}
	return ""
}

// later reports a call that was made after the step under the step cursor.
func (t *callsTab) later(c viewer.Call) bool {
	if t.r.step == latest {
		return false
	}
	return c.Step >= t.r.step
}

func (t *callsTab) key(msg tea.KeyMsg) (tea.Cmd, bool) {
	k := t.r.keys.Detail
	switch {
	case key.Matches(msg, k.Reveal):
		if !t.r.reveal && t.masked() == 0 {
			return nil, true
		}
		return t.r.setReveal(!t.r.reveal), true
	case key.Matches(msg, k.Left):
		return t.r.moveStep(-1), true
	case key.Matches(msg, k.Right):
		return t.r.moveStep(1), true
	case t.opened != nil:
		return nil, paneKey(msg, k.Nav, &t.pane)
	case key.Matches(msg, k.Open):
		if c, ok := t.table.Selected(); ok {
			name := keyOf(c)
			t.opened = &name
			t.pane.Reset()
		}
		return nil, true
	}
	return nil, navigate(msg, k.Nav, 2*t.half(), t.table.Move, t.table.Top, t.table.Bottom)
}

// aim is the call that is open, else the one under the cursor.
func (t *callsTab) aim(a viewer.Action) target {
	c, ok := t.table.Selected()
	if t.opened != nil {
		c, ok = t.open()
	}
	if !ok {
		return target{}
	}
	return aimAt(a, c.State, c.ID, c.Digest)
}

// open is the call that is shown in full.
func (t *callsTab) open() (viewer.Call, bool) {
	i := slices.IndexFunc(t.r.calls.value, func(c viewer.Call) bool { return keyOf(c) == *t.opened })
	if i < 0 {
		return viewer.Call{}, false
	}
	return t.r.calls.value[i], true
}

// half is half of what can be seen of the table.
func (t *callsTab) half() int { return max(1, (t.r.height-6)/2) }

// masked is how many values are masked in what is shown.
func (t *callsTab) masked() int {
	n := 0
	for _, c := range t.table.Rows() {
		if t.opened == nil || keyOf(c) == *t.opened {
			n += c.Masked
		}
	}
	return n
}

func (t *callsTab) hints() []keymap.Hint {
	k := t.r.keys.Detail
	none := ""
	if len(t.table.Rows()) == 0 {
		none = "there are no calls"
	}
	open := keymap.Hint{Binding: keymap.Titled(k.Open, "open the call"), Off: none}
	if t.opened != nil {
		open.Off = "it is open"
	}
	return []keymap.Hint{open, t.r.revealHint(t.masked()), {Binding: keymap.Titled(k.Left, "earlier"), More: true}, {Binding: keymap.Titled(k.Right, "later"), More: true}}
}

func (t *callsTab) view(width, height int) []string {
	if len(t.table.Rows()) == 0 {
		switch {
		case t.r.row().Foreign():
			return []string{"", "  This format has no call log."}
		case t.only:
			return []string{"", fmt.Sprintf("  No call is of step %d. esc goes back to the timeline.", t.step())}
		}
		return []string{"", "  No call was made."}
	}
	if t.opened != nil {
		return t.one(width, height)
	}
	if !t.only {
		t.table.SetSize(width, height)
		return t.table.View()
	}
	t.table.SetSize(width, height-1)
	told := fmt.Sprintf("  of step %d; esc goes back to the timeline, 3 shows all calls", t.step())
	return append([]string{t.r.styles.Muted.Render(widget.Fit(told, width, t.r.styles.Ellipsis))}, t.table.View()...)
}

// step is the step whose calls are shown.
func (t *callsTab) step() int64 {
	if at := t.r.stepIndex(); at >= 0 {
		return t.r.history()[at].Step
	}
	return 0
}

// one draws the call that is open.
func (t *callsTab) one(width, height int) []string {
	c, ok := t.open()
	if !ok {
		return []string{"", "  The call is not there any more. esc goes back."}
	}
	if t.drawn.width != width || t.drawn.call != *t.opened {
		t.drawn = drawnCall{width, *t.opened, callLines(t.r, c, max(1, width-2))}
	}
	return paneLines(t.r.styles, &t.pane, t.drawn.lines, height)
}

// drawnCall is what the open call was drawn to: arguments may be long.
type drawnCall struct {
	width int
	call  callKey
	lines []string
}
