package views

import (
	"slices"
	"strings"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/widget"
)

// talk is the end of the run's conversation: what the user wanted last, what
// the model said last, and which of its calls have no result.
func (o *overviewTab) talk(width int) []string {
	if !o.r.talks() {
		return nil
	}
	if p := o.r.talk.now.problem; p != nil {
		return labelled(o.r.shared, "Talk", "the conversation cannot be read: "+p.Message, width)
	}
	v, ok := o.r.talk.newest()
	if !ok {
		return nil
	}
	lines := o.line("User", lastSaid(v, "user"), width)
	lines = append(lines, o.line("Model", lastSaid(v, "assistant"), width)...)
	return append(lines, o.line("Calls", pendingCalls(v), width)...)
}

// line is the start of a text behind a word, on at most two lines.
func (o *overviewTab) line(word, text string, width int) []string {
	const most = 2
	head, rest := startOf(text, 8*most*width)
	lines := labelled(o.r.shared, word, strings.Join(strings.Fields(head), " "), width)
	if len(lines) <= most && rest == 0 {
		return lines
	}
	lines = lines[:min(most, len(lines))]
	end := len(lines) - 1
	lines[end] = widget.Cut(lines[end], width-1, "") + o.r.styles.Ellipsis
	return lines
}

// lastSaid is the last text of a role.
func lastSaid(v viewer.Conversation, role string) string {
	for _, m := range slices.Backward(v.Messages) {
		if m.Role == role && m.Odd == "" && strings.TrimSpace(m.Text) != "" {
			return m.Text
		}
	}
	return ""
}

// pendingCalls are the calls of the newest reply that have no result, and how
// they stand.
func pendingCalls(v viewer.Conversation) string {
	var calls []string
	for _, m := range slices.Backward(v.Messages) {
		for _, c := range m.Calls {
			if c.Pending {
				calls = append(calls, toolName(c)+" "+c.Word())
			}
		}
		if len(calls) > 0 {
			break
		}
	}
	return strings.Join(calls, "; ")
}
