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
	look := func(b viewer.Badge, word string) theme.Badge {
		l := st.Badge(b)
		l.Word = word
		return l
	}
	switch state {
	case viewer.CallInDoubt:
		return look(viewer.InDoubt, "in doubt")
	case viewer.CallFailed:
		return look(viewer.Failed, "failed")
	case viewer.CallDenied:
		return look(viewer.Failed, "denied")
	case viewer.CallDone:
		return look(viewer.Done, "done")
	case viewer.CallResolved:
		return look(viewer.Done, "resolved")
	case viewer.CallWaiting:
		return look(viewer.Paused, "waits for approval")
	case viewer.CallApproved:
		return look(viewer.Paused, "approved, not run")
	case viewer.CallRunning:
		return look(viewer.Running, "running")
	case viewer.CallStarted:
		return look(viewer.Running, "started")
	case viewer.CallLost:
		return look(viewer.InDoubt, "result lost")
	case viewer.CallNotRun:
		return theme.Badge{Symbol: st.Dot, Word: "not run", Tone: theme.Muted}
	case viewer.CallUnlogged:
		return theme.Badge{Symbol: st.Dot, Word: "not logged", Tone: theme.Muted}
	}
	return theme.Badge{Symbol: st.Dot, Word: string(state), Tone: theme.Muted}
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
