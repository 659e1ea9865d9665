package views

import (
	"fmt"
	"slices"
	"time"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/keymap"
	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/widget"
)

const (
	// maxEvents bounds what is kept; the oldest go first.
	maxEvents = 50_000
	// slack is how many more there may be before the oldest go: not one by one,
	// it costs a copy.
	slack = 1000
)

// eventsTab lists the log of the run. With the cursor on the last event it
// follows the log.
type eventsTab struct {
	r      *runScreen
	source source[[]viewer.Event]
	all    []viewer.Event
	whole  bool // the request in flight reads from the start
	gone   int  // events that are not kept any more
	lines  scroller
	opened bool // the event under the cursor is shown in full
	pane   widget.TextPane
}

func (e *eventsTab) title() widget.Tab {
	if !e.source.loaded {
		return widget.Tab{Title: "Events"}
	}
	return widget.Tab{Title: "Events", Count: count(int64(len(e.all) + e.gone))}
}

func (e *eventsTab) typing() bool     { return false }
func (e *eventsTab) ready() bool      { return e.source.loaded }
func (e *eventsTab) failed() *failure { return e.source.failed() }

func (e *eventsTab) back() bool {
	was := e.opened
	e.opened = false
	return was
}

// read reads what came since, or all when that is not enough.
func (e *eventsTab) read(again bool) tea.Cmd {
	if e.source.wait() {
		return nil
	}
	e.whole = again || !e.source.loaded
	after := int64(0)
	if n := len(e.all); n > 0 && !e.whole {
		after = e.all[n-1].N
	}
	return loadEvents(e.r.env, e.source.ask(e.r.env), e.r.ref, after)
}

func (e *eventsTab) got(msg reply[[]viewer.Event]) tea.Cmd {
	if !e.source.got(msg, e.r.now()) {
		return nil
	}
	if msg.Problem == nil {
		e.add(msg.Value)
		e.source.value = nil
	}
	if e.source.again {
		return e.read(false)
	}
	return nil
}

// add takes events. The cursor stays on its event, or at the end.
func (e *eventsTab) add(list []viewer.Event) {
	follows := e.lines.atEnd() && !e.opened
	var n int64
	if !follows && len(e.all) > 0 {
		n = e.all[e.lines.cursor].N
	}
	if e.whole {
		e.all, e.gone = nil, 0
	}
	e.all = append(e.all, list...)
	if more := len(e.all) - maxEvents; more > slack {
		e.all = slices.Clone(e.all[more:])
		e.gone += more
	}
	e.lines.fit(len(e.all), e.lines.height)
	if follows {
		e.lines.set(len(e.all) - 1)
		return
	}
	at, _ := slices.BinarySearchFunc(e.all, n, func(v viewer.Event, n int64) int { return int(v.N - n) })
	e.lines.set(at)
}

func (e *eventsTab) key(msg tea.KeyMsg) (tea.Cmd, bool) {
	k := e.r.keys.Detail
	switch {
	case e.opened:
		return nil, paneKey(msg, k.Nav, &e.pane)
	case key.Matches(msg, k.Open):
		e.opened = len(e.all) > 0
		e.pane.Reset()
		return nil, true
	}
	return nil, e.lines.key(msg, k.Nav)
}

func (e *eventsTab) hints() []keymap.Hint {
	open := keymap.Hint{Binding: keymap.Titled(e.r.keys.Detail.Open, "open the event")}
	switch {
	case len(e.all) == 0:
		open.Off = "there are no events"
	case e.opened:
		open.Off = "it is open"
	}
	return []keymap.Hint{open}
}

func (e *eventsTab) view(width, height int) []string {
	if len(e.all) == 0 {
		if e.r.row().Foreign() {
			return []string{"", "  This format has no events."}
		}
		return []string{"", "  No events are recorded."}
	}
	if e.opened {
		return e.one(width, height)
	}
	e.lines.fit(len(e.all), height-1)
	head := "  " + widget.PadLeft("n", eventN) + "  " + widget.Pad("time UTC", eventTime) + "  " + widget.Pad("event", eventType) + "  what happened"
	right := ""
	if e.gone > 0 {
		right = fmt.Sprintf("earlier left out: %d ", e.gone)
	} else if e.lines.atEnd() {
		right = "new ones follow "
	}
	lines := []string{e.r.styles.Muted.Render(widget.Ends(head, right, width, ""))}
	from, to := e.lines.window()
	for i := from; i < to; i++ {
		lines = append(lines, e.line(i, width))
	}
	return lines
}

const (
	eventN    = 5
	eventType = 17
	eventTime = len("15:04:05.000")
)

func (e *eventsTab) line(i, width int) string {
	st := e.r.styles
	v := e.all[i]
	at := widget.Space(eventTime)
	if !v.Time.IsZero() {
		at = v.Time.UTC().Format("15:04:05.000")
	}
	head := widget.PadLeft(fmt.Sprint(v.N), eventN) + "  " + at + "  "
	what := widget.Pad(widget.Plain(v.Type), eventType)
	data := eventText(v)
	if len(data) > 4*width { // more cannot be seen
		data = data[:4*width]
	}
	data = "  " + widget.Plain(data)
	if i == e.lines.cursor {
		return st.Selected.Render(widget.Fit(widget.Fit(st.Cursor, 2, "")+head+what+data, width, st.Ellipsis))
	}
	return widget.Fit("  "+st.Muted.Render(head)+st.Strong.Render(what)+data, width, st.Ellipsis)
}

// one draws the event under the cursor in full.
func (e *eventsTab) one(width, height int) []string {
	v := e.all[max(0, min(e.lines.cursor, len(e.all)-1))]
	inner := max(1, width-2)
	head := fmt.Sprintf("%d  %s  %s", v.N, v.Type, v.Time.UTC().Format("2006-01-02 "+time.TimeOnly+".000 UTC"))
	lines := []string{e.r.styles.Strong.Render(widget.Cut(widget.Plain(head), inner, e.r.styles.Ellipsis)), ""}
	lines = append(lines, jsonLines(v.Data, inner)...)
	return paneLines(e.r.styles, &e.pane, lines, height)
}
