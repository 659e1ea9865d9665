package views

import (
	"encoding/json"
	"slices"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/widget"
)

// inWords is what a request decides, "" for one that only brings a run on.
func (s *sheet) inWords(r viewer.Request) string {
	at := slices.IndexFunc(s.plan.Review, func(e viewer.ReviewEntry) bool { return e.ID == r.Target })
	if at < 0 {
		return ""
	}
	var text string
	switch e := s.plan.Review[at]; r.Action {
	case viewer.Approve, viewer.Deny:
		text = string(r.Action) + " " + e.Tool + ", " + e.ID
	case viewer.Answer:
		var answer string
		if json.Unmarshal(r.Value, &answer) != nil {
			answer = string(r.Value)
		}
		if e.Turn {
			return "your message: " + answer
		}
		text = "your answer to " + e.Key + ": " + answer
		if r.Unchecked {
			text += "  (sent unchecked)"
		}
	case viewer.Resolve:
		text = e.ID + " returned " + string(r.Value)
		if r.NotRun {
			text = e.ID + " did not run"
		}
	}
	return text + prefixed("  note: ", r.Note)
}

// sentLines are the start of what was decided: all of it was typed or read here.
func (s *sheet) sentLines() []string {
	const most = 4
	head, rest := startOf(s.sent, 8*most*s.inner())
	lines := widget.Wrap(head, s.inner())
	if len(lines) <= most && rest == 0 {
		return lines
	}
	lines = lines[:min(most, len(lines))]
	end := len(lines) - 1
	lines[end] = widget.Cut(lines[end], s.inner()-widget.Width(s.styles.Ellipsis), "") + s.styles.Ellipsis
	return lines
}

// replied reports that a conversation answered what was decided.
func (s *sheet) replied() bool { return s.stage == ended && s.outcome.Reply != "" }

// textLines is what scrolls: what is decided on, and in its place the reply to it when
// there is one.
func (s *sheet) textLines() []string {
	if s.replied() {
		return append([]string{s.styles.Strong.Render("the reply")}, quoted(s.styles, s.outcome.Reply, s.inner())...)
	}
	return s.form.content(s.inner())
}
