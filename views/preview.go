package views

import (
	"fmt"
	"strings"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// preview tells of one run what one must know before acting: who and where it
// is, why it does not move, what can be done, and what it waits for. Sentences
// that go on below the height are marked.
func preview(s *shared, r viewer.Row, width, height int) []string {
	width = max(0, width-1)
	lines := identityLines(s, r, width)
	lines = append(lines, labelled(s, "Why", r.Why, width)...)
	lines = append(lines, labelled(s, "Next", r.Next, width)...)
	if r.Error != "" && !strings.Contains(r.Why, r.Error) {
		lines = append(lines, labelled(s, "Error", r.Error, width)...)
	}
	if last := height - 1; last >= 0 && len(lines) > height {
		cut := widget.Cut(lines[last], max(0, width-widget.Width(s.styles.Ellipsis)), "")
		lines = append(lines[:last], cut+s.styles.Ellipsis)
	}
	for _, w := range r.Waiting {
		lines = append(lines, waitingLine(s, w, width))
	}
	lines = append(lines, verdictLine(s, r, width))
	for i := range lines {
		lines[i] = " " + lines[i]
	}
	return lines
}

// identityLines names the run and says where it is; on one line when both fit.
func identityLines(s *shared, r viewer.Row, width int) []string {
	name := strings.Join(nonEmpty(r.Flow, ownerShown(s, r), prefixed("user ", r.User), thread(r.Thread)), "  ")
	place := progressOf(r) + ", " + lease(s, r)
	left := s.styles.Title.Render(widget.Plain(r.Run)) + "  " + widget.Plain(name)
	if widget.Width(left)+widget.Width(place)+2 <= width {
		return []string{widget.Ends(left, place, width, s.styles.Ellipsis)}
	}
	return []string{widget.Fit(left, width, s.styles.Ellipsis), widget.Fit(place, width, s.styles.Ellipsis)}
}

// progressOf is how far a run is saved. Foreign runs have no segments.
func progressOf(r viewer.Row) string {
	if r.Foreign() {
		return fmt.Sprintf("iteration %d", r.Step)
	}
	return fmt.Sprintf("step %d, segment %d", r.Step, r.Segment)
}

func thread(t string) string { return prefixed("thread ", t) }

// ownerShown names the owner of a run when it is not the one that everything in
// its store belongs to anyway.
func ownerShown(s *shared, r viewer.Row) string { return prefixed("owner ", foreignOwner(s, r)) }

// foreignOwner is the owner of a run when it is not the one that everything
// in its store belongs to anyway.
func foreignOwner(s *shared, r viewer.Row) string {
	for _, info := range stores(s) {
		if info.Label == r.Ref.Store && info.Owner == r.Ref.Owner {
			return ""
		}
	}
	return r.Owner
}

func nonEmpty(all ...string) []string {
	var some []string
	for _, s := range all {
		if s != "" {
			some = append(some, s)
		}
	}
	return some
}

// lease says who works on the run.
func lease(s *shared, r viewer.Row) string {
	silent := "silent " + age(s.now(), r.Updated)
	if age(s.now(), r.Updated) == "clock skew" {
		silent = "clock skew"
	}
	if r.Status == "done" || r.Status == "failed" {
		return r.Status + " " + age(s.now(), r.Updated) + " ago"
	}
	for _, info := range stores(s) {
		if info.Label == r.Ref.Store && info.NoLease {
			return "holder unknown, " + silent
		}
	}
	switch {
	case r.Lease == nil || r.Lease.Holder == "":
		return "nobody holds it, " + silent
	case r.Lease.Expires.Before(s.now()):
		return r.Lease.Holder + " lost it " + age(s.now(), r.Lease.Expires) + " ago"
	}
	return "held by " + r.Lease.Holder
}

// labelIndent is the room for the word before a sentence.
const labelIndent = 6

// labelled is a word and a wrapped sentence.
func labelled(s *shared, label, text string, width int) []string {
	if text == "" {
		return nil
	}
	lines := widget.Wrap(text, max(1, width-labelIndent))
	for i, l := range lines {
		head := widget.Space(labelIndent)
		if i == 0 {
			head = s.styles.Strong.Render(widget.Fit(label, labelIndent, ""))
		}
		lines[i] = head + l
	}
	return lines
}

// waitingLine is one thing that the run waits for, with the start of its
// arguments: all of them are in the sheet.
func waitingLine(s *shared, w viewer.Waiting, width int) string {
	text := waitingText(w)
	if len(w.Args) > 0 {
		text += "  " + string(w.Args)
	}
	masked := ""
	if w.Masked > 0 {
		masked = fmt.Sprintf("secrets masked: %d", w.Masked)
	}
	return widget.Ends(widget.Plain(text), masked, width, s.styles.Ellipsis)
}

// waitingText says in a few words what a run waits for.
func waitingText(w viewer.Waiting) string {
	switch w.Type {
	case viewer.WaitApproval:
		return "approve " + w.Tool
	case viewer.WaitInDoubt:
		return w.Doubt()
	}
	if w.Turn {
		return "the next message"
	}
	if w.Prompt == "" {
		return "an answer for " + w.Key
	}
	return `"` + w.Prompt + `"`
}

func verdictLine(s *shared, r viewer.Row, width int) string {
	v := s.styles.Verdict(r.Verdict)
	return s.styles.Tone(v.Tone).Render(widget.Cut(v.Symbol+" "+widget.Plain(v.Word), width, s.styles.Ellipsis))
}

// tone of a row's first badge.
func badgeTone(s *shared, r viewer.Row) theme.Tone {
	if len(r.Badges) == 0 {
		return theme.Muted
	}
	return s.styles.Badge(r.Badges[0]).Tone
}
