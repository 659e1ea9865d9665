package views

import (
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// callKey names a call within its run.
type callKey struct {
	step int64
	id   string
}

func keyOf(c viewer.Call) callKey { return callKey{c.Step, c.ID} }

// callLook is the symbol, the word and the tone of how a call stands: the same
// ones on every tab.
func callLook(st *theme.Styles, state viewer.CallState) theme.Badge {
	like, ok := callBadges[state]
	if !ok {
		return theme.Badge{Symbol: st.Dot, Word: state.Word(), Tone: theme.Muted}
	}
	look := st.Badge(like)
	look.Word = state.Word()
	return look
}

// callBadges are the badges that calls look like.
var callBadges = map[viewer.CallState]viewer.Badge{
	viewer.CallWaiting: viewer.Paused, viewer.CallApproved: viewer.Paused, viewer.CallRunning: viewer.Running, viewer.CallStarted: viewer.Running,
	viewer.CallInDoubt: viewer.InDoubt, viewer.CallLost: viewer.InDoubt, viewer.CallDone: viewer.Done, viewer.CallResolved: viewer.Done,
	viewer.CallFailed: viewer.Failed, viewer.CallDenied: viewer.Failed,
}

// callSpan is when the call ran, as far as that is known.
func callSpan(c viewer.Call) span {
	var s span
	if c.Started != nil {
		s.from = *c.Started
	}
	if c.Ended != nil && c.Status == "done" {
		s.to = *c.Ended
	}
	return s
}

// duration is how long a call took, and for one that runs how long it runs.
func duration(c viewer.Call, now time.Time) string {
	if t := took(callSpan(c)); t != "" {
		return t
	}
	if c.Status == "started" && c.Started != nil && !c.InDoubt {
		return "since " + age(now, *c.Started)
	}
	return "-"
}

// callText is a call in a few words: tool, status as a symbol, duration.
func callText(st *theme.Styles, c viewer.Call) string {
	look := callLook(st, c.State)
	text := widget.Plain(c.Tool) + " " + st.Tone(look.Tone).Render(look.Symbol)
	if t := took(callSpan(c)); t != "" {
		return text + " " + t
	}
	if c.Status != "done" {
		text += " " + st.Tone(look.Tone).Render(widget.Plain(look.Word))
	}
	return text
}
