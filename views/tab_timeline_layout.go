package views

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/flowtui/flowtui/viewer"
)

// unsaved is the step of what runs, or ran, after the last saved step.
const unsaved int64 = -2

// timeRow is one line of a timeline. It is text and times only; how wide it
// gets is decided when it is drawn.
type timeRow struct {
	step    int64 // the saved step that it belongs to, or unsaved
	first   bool  // the first row of its step
	segment int64
	name    string // the node that ran, or what was saved
	bar     span   // nothing is drawn for the zero value
	cut     bool   // work was cut off here
	open    bool   // it still runs
	note    string // behind the calls
	calls   []viewer.Call
	divider string // a sentence across the line, instead of all else
	verdict viewer.Verdict
}

// span is a time from when to when. A clock that went backwards, or two clocks
// that differ, make an end before the start.
type span struct{ from, to time.Time }

func (s span) none() bool { return s.from.IsZero() && s.to.IsZero() }

func (s span) skewed() bool { return s.to.Before(s.from) }

// length is never negative.
func (s span) length() time.Duration {
	if s.none() || s.skewed() {
		return 0
	}
	return s.to.Sub(s.from)
}

// present is what is known of the work after the last saved step.
type present struct {
	now    time.Time
	alive  bool   // a worker is on it
	gone   bool   // no worker is on it any more
	holder string // of the lease
	// partial: the first step of the history is not the run's first.
	partial bool
}

// timelineOf lays out a run's history: a row for each node of a saved step, one
// for each worker that was cut off, and sentences for claims and long waits.
func timelineOf(history []viewer.HistoryStep, calls []viewer.Call, p present) []timeRow {
	b := timelineBuilder{history: history, present: p, calls: map[int64][]viewer.Call{}}
	for _, c := range calls {
		for _, try := range attempts(c) {
			for _, s := range callSteps(history, try) {
				b.calls[s] = append(b.calls[s], try)
			}
		}
	}
	for i := range history {
		if taken(history, i) {
			b.claim(i)
		} else {
			b.saved(i)
		}
	}
	b.unsaved()
	return foldWaits(b.rows)
}

// attempts are a call as it was each time that it was made.
func attempts(c viewer.Call) []viewer.Call {
	list := make([]viewer.Call, 0, len(c.Before)+1)
	for _, b := range c.Before {
		try := c
		try.Segment, try.Status, try.State, try.Started, try.Ended, try.By, try.Error = b.Segment, b.Status, b.State, b.Started, b.Ended, b.By, b.Error
		try.Before, try.Result, try.Why = nil, nil, ""
		list = append(list, try)
	}
	return append(list, c)
}

// callSteps are the saved steps that tell of a call: that which it led to, and of one
// that waited in vain also that with which its superstep ended.
func callSteps(history []viewer.HistoryStep, c viewer.Call) []int64 {
	at := callStep(history, c)
	if c.Status != "pending" || c.State == viewer.CallWaiting || c.State == viewer.CallApproved {
		return []int64{at}
	}
	for i, h := range history {
		if h.Step > c.Step && h.Step != at && h.Status != "paused" && h.Segment >= c.Segment && !taken(history, i) && !decided(history, i) {
			return []int64{at, h.Step}
		}
	}
	return []int64{at}
}

// callStep is the saved step that a call led to: the step whose superstep made
// it, or the claim that came while it was not finished. It is unsaved for a
// call that no later step knows of.
//
// A call names the step that its superstep started from, and several saves may
// follow before the superstep is finished: pauses, stored decisions, claims.
func callStep(history []viewer.HistoryStep, c viewer.Call) int64 {
	last := unsaved
	after := sort.Search(len(history), func(i int) bool { return history[i].Step > c.Step })
	for i := after; i < len(history); i++ {
		h := history[i]
		if taken(history, i) {
			if c.Segment < h.Segment && !finished(c) {
				return h.Step
			}
			continue
		}
		if h.Segment < c.Segment || decided(history, i) {
			continue
		}
		last = h.Step
		ended := c.Started
		if c.Ended != nil {
			ended = c.Ended
		}
		if h.Status != "paused" || ended == nil || !h.Time.Before(*ended) {
			return last
		}
	}
	return last
}

// finished reports that the call's worker knew how it ended.
func finished(c viewer.Call) bool { return c.Status == "done" || c.Status == "pending" }

// decided reports that the step only stores what a person decided: it follows
// a pause in the same segment, and no node ran.
func decided(history []viewer.HistoryStep, i int) bool {
	h := history[i]
	return i > 0 && len(h.Nodes) == 0 && (h.Status == "running" || h.Status == "paused") &&
		history[i-1].Segment == h.Segment && history[i-1].Status == "paused"
}

// taken reports that a worker took the run over with the step. The viewer calls
// every save that finishes no superstep a claim; only a new segment is one.
func taken(history []viewer.HistoryStep, i int) bool {
	return history[i].Claim && (i == 0 || history[i-1].Segment != history[i].Segment)
}

type timelineBuilder struct {
	history []viewer.HistoryStep
	present
	calls map[int64][]viewer.Call // by the step that they led to
	rows  []timeRow
}

// saved adds the rows of a step: one for each node that ran.
func (b *timelineBuilder) saved(i int) {
	h := b.history[i]
	calls := b.calls[h.Step]
	point := timeRow{step: h.Step, first: true, segment: h.Segment, bar: span{h.Time, h.Time}, verdict: h.Verdict}
	switch {
	case decided(b.history, i):
		point.name, point.note = "decision", cmp.Or(decisions(h.Decided), "was stored")
	case i == 0 && len(h.Nodes) == 0 && !b.partial:
		point.name = "start"
	case len(h.Nodes) == 0:
		point.name = cmp.Or(h.Status, "saved")
	}
	if h.Status == "paused" && point.note == "" {
		if point.note = "paused"; len(h.At) > 0 {
			point.note += " at " + strings.Join(h.At, ", ")
		}
		calls = stoodThen(h, calls)
	}
	if len(h.Nodes) == 0 {
		point.calls = calls
		b.rows = append(b.rows, point)
		return
	}
	for n, run := range h.Nodes {
		row := timeRow{step: h.Step, first: n == 0, segment: h.Segment, name: run.Node, bar: span{run.Started, run.Ended}, verdict: h.Verdict}
		if run.Error != "" {
			row.note = run.Error
		} else if n == len(h.Nodes)-1 {
			row.note = point.note
		}
		row.calls, calls = take(calls, run.Node)
		b.rows = append(b.rows, row)
	}
	last := &b.rows[len(b.rows)-1]
	last.calls = append(last.calls, calls...)
}

// stoodThen are the calls of a step at which the run paused as they stood then: what
// waits for an approval, whatever was decided later.
func stoodThen(h viewer.HistoryStep, calls []viewer.Call) []viewer.Call {
	var out []viewer.Call
	for _, c := range calls {
		asked := slices.ContainsFunc(h.Asks, func(a viewer.Asked) bool { return a.ID == c.ID })
		switch {
		case c.Status != "pending":
			out = append(out, c)
		case !asked:
			c.State = viewer.CallWaiting
			out = append(out, c)
		}
	}
	for _, a := range h.Asks {
		out = append(out, viewer.Call{ID: a.ID, Node: a.Node, Tool: a.Tool, Step: h.Step, Segment: h.Segment, Status: "pending", State: viewer.CallWaiting})
	}
	return out
}

// asksFor reports whether the run waits for an approval of the call at a step: of
// calls with one id that of the newest superstep before it.
func asksFor(history []viewer.HistoryStep, at int, c viewer.Call) bool {
	if c.Step >= history[at].Step || !slices.ContainsFunc(history[at].Asks, func(a viewer.Asked) bool { return a.ID == c.ID }) {
		return false
	}
	// Pauses and decisions lie within one superstep; what else was saved since ended the call's.
	for i := at - 1; i >= 0 && history[i].Step > c.Step; i-- {
		if history[i].Status != "paused" && !decided(history, i) && !taken(history, i) {
			return false
		}
	}
	return true
}

// decisions says what people decided, "" for nothing.
func decisions(list []viewer.Decided) string {
	did := map[viewer.Action]string{viewer.Approve: "approved", viewer.Deny: "denied", viewer.Answer: "answered"}
	var said []string
	for _, d := range list {
		what := d.Tool + prefixed(" (", d.ID) + ")"
		if d.Type == viewer.Answer {
			what = cmp.Or(d.Key, d.ID)
		}
		said = append(said, fmt.Sprintf("%s %s %s%s", d.By, cmp.Or(did[d.Type], string(d.Type)), what, prefixed(": ", d.Note)))
	}
	return strings.Join(said, "; ")
}

// take parts the calls of a node from the others.
func take(calls []viewer.Call, node string) (own, rest []viewer.Call) {
	for _, c := range calls {
		if c.Node == node {
			own = append(own, c)
		} else {
			rest = append(rest, c)
		}
	}
	return own, rest
}

// claim adds what the old worker left behind, and who took over when.
func (b *timelineBuilder) claim(i int) {
	h := b.history[i]
	var before viewer.HistoryStep
	if i > 0 {
		before = b.history[i-1]
	}
	quiet := before.Time
	lost := b.calls[h.Step]
	if i > 0 && before.Status == "running" && !decided(b.history, i-1) || len(lost) > 0 {
		rows := b.cutOff(lost, before, h.Step)
		b.rows = append(b.rows, rows...)
		for _, r := range rows {
			quiet = latestOf(quiet, r.bar.to)
		}
	}
	text := fmt.Sprintf("%s claimed segment %d", b.worker(h.Segment), h.Segment)
	switch wait := h.Time.Sub(quiet); {
	case quiet.IsZero():
	case wait < 0:
		text += ", clock skew"
	default:
		text += ", " + words(wait) + " later"
	}
	b.rows = append(b.rows, timeRow{step: h.Step, first: true, segment: h.Segment,
		bar: span{h.Time, h.Time}, divider: text, verdict: h.Verdict})
}

// cutOff is a row for each call whose end nobody saw; without any, one that
// says where the work stood.
func (b *timelineBuilder) cutOff(calls []viewer.Call, before viewer.HistoryStep, step int64) []timeRow {
	var rows []timeRow
	for _, c := range calls {
		row := timeRow{step: step, segment: c.Segment, name: c.Node, cut: true, calls: []viewer.Call{c}}
		if c.Started != nil {
			row.bar = span{*c.Started, *c.Started}
		}
		rows = append(rows, row)
	}
	if len(rows) == 0 {
		rows = []timeRow{{step: step, segment: before.Segment, name: strings.Join(before.At, ", "), cut: true,
			bar: span{before.Time, before.Time}, note: "the worker was cut off"}}
	}
	return rows
}

// worker is who worked in the segment, as far as the calls and the lease tell.
func (b *timelineBuilder) worker(segment int64) string {
	for _, step := range slices.Sorted(maps.Keys(b.calls)) {
		for _, c := range b.calls[step] {
			if c.Segment == segment && c.By != "" && c.Status != "resolved" {
				return c.By
			}
		}
	}
	if n := len(b.history); b.holder != "" && b.history[n-1].Segment == segment {
		return b.holder
	}
	return "a worker"
}

// unsaved adds the calls after the last saved step: they run, or their worker
// is gone.
func (b *timelineBuilder) unsaved() {
	calls := b.calls[unsaved]
	for _, c := range calls {
		row := timeRow{step: unsaved, segment: c.Segment, name: c.Node, calls: []viewer.Call{c}}
		if c.Started != nil {
			row.bar = span{*c.Started, *c.Started}
		}
		switch {
		case c.Ended != nil:
			row.bar.to = *c.Ended
		case c.Status == "started" && b.alive:
			row.open, row.bar.to = true, latestOf(b.now, row.bar.to)
		case !finished(c):
			row.cut = b.gone || c.InDoubt
		}
		b.rows = append(b.rows, row)
	}
	if n := len(b.history); n > 0 && len(calls) == 0 && b.alive {
		last := b.history[n-1]
		b.rows = append(b.rows, timeRow{step: unsaved, segment: last.Segment, name: strings.Join(last.At, ", "), open: true,
			bar: span{last.Time, latestOf(b.now, last.Time)}})
	}
}
