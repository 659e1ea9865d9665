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
	opened *callKey // the call that is shown in full
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

func (t *callsTab) back() bool {
	was := t.opened != nil
	t.opened = nil
	return was
}

// changed takes the calls that were read. The cursor and the call that is
// open stay by their names.
func (t *callsTab) changed() {
	t.drawn = drawnCall{}
	fresh := len(t.table.Rows()) == 0
	t.table.SetRows(t.r.calls.value)
	if fresh {
		t.follow()
	}
}

// follow goes to the first call that led to the step under the step cursor.
func (t *callsTab) follow() {
	if t.r.step != latest {
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
		{Text: c.ID, Tone: rest},
		{Text: fmt.Sprintf("%d%s%d", c.Step, t.r.styles.Dot, c.Segment), Tone: rest},
		{Text: c.Tool, Tone: rest},
		{Text: look.Symbol + " " + look.Word + timesMade(c), Tone: tone},
		{Text: duration(c, t.r.now()), Tone: rest},
		{Text: started, Tone: rest},
		{Text: c.By, Tone: rest},
	}
}

// timesMade says beside a call's status that it was made more than once.
func timesMade(c viewer.Call) string {
	switch {
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

// aim is the call under the cursor.
func (t *callsTab) aim(a viewer.Action) target {
	c, ok := t.table.Selected()
	if !ok {
		return target{}
	}
	return aimAt(a, c.State, c.ID, c.Digest)
}

// half is half of what can be seen of the table.
func (t *callsTab) half() int { return max(1, (t.r.height-6)/2) }

// masked is how many values are masked in what is shown.
func (t *callsTab) masked() int {
	n := 0
	for _, c := range t.r.calls.value {
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
		if t.r.row().Foreign() {
			return []string{"", "  This format has no call log."}
		}
		return []string{"", "  No call was made."}
	}
	if t.opened != nil {
		return t.one(width, height)
	}
	t.table.SetSize(width, height)
	return t.table.View()
}

// one draws the call that is open.
func (t *callsTab) one(width, height int) []string {
	i := slices.IndexFunc(t.r.calls.value, func(c viewer.Call) bool { return keyOf(c) == *t.opened })
	if i < 0 {
		return []string{"", "  The call is not there any more. esc goes back."}
	}
	if t.drawn.width != width || t.drawn.call != *t.opened {
		t.drawn = drawnCall{width, *t.opened, callLines(t.r, t.r.calls.value[i], max(1, width-2))}
	}
	return paneLines(t.r.styles, &t.pane, t.drawn.lines, height)
}

// drawnCall is what the open call was drawn to: arguments may be long.
type drawnCall struct {
	width int
	call  callKey
	lines []string
}
