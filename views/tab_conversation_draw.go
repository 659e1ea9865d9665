package views

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// draw makes the lines of a block: the role at the left, what was said beside it,
// and calls indented under it.
func (t *talkText) draw(b talkBlock) []string {
	m := t.talk.Messages[b.message]
	width := max(1, min(t.width-2-roleWidth, maxTalk))
	role := ""
	if b.call == wholeMessage || t.opensWith(b) {
		role = roleOf(m)
	}
	var body []string
	if b.call == wholeMessage {
		body = t.said(m, width)
	} else {
		body = t.called(m.Calls[b.call], width)
	}
	for i, l := range body {
		head := widget.Space(roleWidth)
		if i == 0 {
			head = t.styles.Strong.Render(widget.Fit(role, roleWidth, ""))
		}
		body[i] = head + l
	}
	return body
}

// opensWith reports that a call is the first that is shown of its message.
func (t *talkText) opensWith(b talkBlock) bool {
	m := t.talk.Messages[b.message]
	return b.call == 0 && m.Text == "" && len(m.Rest) == 0
}

// roleOf is who speaks, in one word.
func roleOf(m viewer.Message) string {
	if m.Odd != "" {
		return "?"
	}
	return widget.Plain(m.Role)
}

// said is what a message says.
func (t *talkText) said(m viewer.Message, width int) []string {
	var lines []string
	switch {
	case m.Odd != "":
		lines = append(lines, t.muted("no message, "+m.Odd+":", width))
		lines = append(lines, t.fold(string(m.Value), width, foldLines, widget.Break)...)
	case m.Text == "":
		lines = append(lines, t.muted("(no text)", width))
	default:
		lines = append(lines, t.fold(m.Text, width, maxInline, widget.Wrap)...)
	}
	if m.Role == "tool" && m.Answers != "" {
		lines = append(lines, t.muted("the result of "+m.Answers, width))
	}
	if len(m.Rest) > 0 {
		lines = append(lines, t.muted("with other keys: "+strings.Join(m.Rest, ", "), width))
	}
	return append(lines, t.masked(m.Masked, width)...)
}

const (
	foldLines = 3 // of arguments and results
	openLines = 8 // of what a person is asked about
)

// called is a call: how it stands, what goes in, what came out.
func (t *talkText) called(c viewer.ToolCall, width int) []string {
	look, most := callLook(t.styles, c.Status), foldLines
	if c.Pending && c.Status != viewer.CallNotRun {
		most = openLines
	}
	word := look.Symbol + " " + widget.Plain(c.Word())
	head := t.styles.Title.Render(toolName(c)) + "  " + t.styles.Tone(look.Tone).Render(word)
	lines := []string{widget.Cut(head+t.styles.Muted.Render(prefixed("  ", widget.Plain(c.Logged()))), width, t.styles.Ellipsis)}
	inner := max(1, width-2)
	rest := t.fold(string(c.Args), inner, most, widget.Break)
	if why := c.Why; why != "" && (c.Answer == 0 || c.Status == viewer.CallUnlogged) {
		rest = append(rest, widget.Wrap(why, inner)...)
	}
	rest = append(rest, t.came(c, inner)...)
	rest = append(rest, t.masked(c.Masked, inner)...)
	for _, l := range rest {
		lines = append(lines, "  "+l)
	}
	return lines
}

// toolName is the tool that a reply named, if it named one.
func toolName(c viewer.ToolCall) string { return cmp.Or(widget.Plain(c.Name), "(no name)") }

// came is what came of a call: what the model was told, else what was logged.
func (t *talkText) came(c viewer.ToolCall, width int) []string {
	label, text := "result ", string(c.Result)
	var plain string
	switch {
	case c.Answer > 0:
		text = t.talk.Messages[c.Answer-1].Text
	case c.Error != "":
		label, text = "error  ", c.Error
	case len(c.Result) == 0:
		return nil
	case json.Unmarshal(c.Result, &plain) == nil:
		text = plain
	}
	if told, failed := strings.CutPrefix(text, "error: "); failed && c.Answer > 0 && c.Status != viewer.CallDone {
		label, text = "error  ", told
	}
	lines := t.fold(text, max(1, width-len(label)), foldLines, widget.Wrap)
	for i, l := range lines {
		head := widget.Space(len(label))
		if i == 0 {
			head = t.styles.Muted.Render(label)
		}
		lines[i] = head + l
	}
	return lines
}

func (t *talkText) muted(text string, width int) string {
	return t.styles.Muted.Render(widget.Cut(widget.Plain(text), width, t.styles.Ellipsis))
}

func (t *talkText) masked(n, width int) []string {
	if n == 0 {
		return nil
	}
	return []string{t.muted(fmt.Sprintf("secrets masked: %d", n), width)}
}

// fold breaks the start of a text into at most as many lines, and says how much
// is left out. It costs the same however long the text is.
func (t *talkText) fold(text string, width, most int, wrap func(string, int) []string) []string {
	head, rest := startOf(text, min(maxInline, most*width*utf8.UTFMax))
	lines := wrap(head, width)
	more := ""
	switch {
	case len(lines) > most && rest == 0:
		more = plural(len(lines)-most, "more line")
		lines = lines[:most:most]
	case len(lines) > most:
		rest += len(strings.Join(lines[most:], ""))
		lines = lines[:most:most]
		fallthrough
	case rest > 0:
		more = size(int64(rest)) + " more"
	}
	if more != "" {
		lines = append(lines, t.styles.Tone(theme.Attention).Render(widget.Cut(t.styles.Ellipsis+" "+more+", enter opens it", width, t.styles.Ellipsis)))
	}
	return lines
}

// startOf is at most n bytes of a text, ending between characters, and how many
// bytes are left out.
func startOf(s string, n int) (head string, rest int) {
	head = start(s, n/utf8.UTFMax, "")
	return head, len(s) - len(head)
}
