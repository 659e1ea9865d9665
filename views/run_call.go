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

// callLook is the symbol, the word and the tone of a call's status.
func callLook(st *theme.Styles, c viewer.Call) theme.Badge {
	look := func(b viewer.Badge, word string) theme.Badge {
		l := st.Badge(b)
		l.Word = word
		return l
	}
	switch {
	case c.InDoubt:
		return look(viewer.InDoubt, "in doubt")
	case c.Status == "done" && c.Error != "":
		return look(viewer.Failed, "failed")
	case c.Status == "done":
		return look(viewer.Done, "done")
	case c.Status == "resolved":
		return look(viewer.Done, "resolved")
	case c.Status == "pending":
		return look(viewer.Paused, "waits for approval")
	case c.Status == "started":
		return look(viewer.Running, "started")
	case c.Status == "unrecordable":
		return look(viewer.InDoubt, "result lost")
	}
	return theme.Badge{Symbol: st.Dot, Word: c.Status, Tone: theme.Muted}
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
	look := callLook(st, c)
	text := widget.Plain(c.Tool) + " " + st.Tone(look.Tone).Render(look.Symbol)
	if t := took(callSpan(c)); t != "" {
		return text + " " + t
	}
	if c.Status != "done" {
		text += " " + st.Tone(look.Tone).Render(widget.Plain(look.Word))
	}
	return text
}
