package views

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

const (
	// besideFrom is the width from which on the block under the cursor is shown
	// in full beside the conversation.
	besideFrom = 140
	// maxAsked is how many of the things that the run waits for are named below.
	maxAsked = 3
)

func (t *conversationTab) view(width, height int) []string {
	if t.opened {
		return paneLines(t.r.styles, &t.pane, t.block(max(1, width-2), maxJSON).lines, height)
	}
	foot := t.foot(width, height)
	room, left := max(0, height-1-len(foot)), leftOf(width)
	t.text.fit(left, room)
	body := widget.Fill(t.text.view(), left, room, t.r.styles.Ellipsis)
	if len(t.text.blocks) == 0 {
		body = widget.Fill([]string{"", "  " + t.none()}, left, room, t.r.styles.Ellipsis)
	}
	if left < width {
		body = t.withBlock(body, width-left)
	}
	return append(append([]string{t.summary(width)}, body...), foot...)
}

// leftOf is how much of the width the conversation has.
func leftOf(width int) int {
	if width < besideFrom {
		return width
	}
	return width * 3 / 5
}

// none says that there is no message, and where.
func (t *conversationTab) none() string {
	if t.now.value.Latest {
		return "No message yet."
	}
	return fmt.Sprintf("No message yet at step %d.", t.now.value.Step)
}

// withBlock puts the block under the cursor beside the conversation, as much of
// it as there is room for.
func (t *conversationTab) withBlock(body []string, width int) []string {
	st := t.r.styles
	inner := max(1, width-3)
	lines := t.block(inner, len(body)*inner).lines
	more := len(lines) - len(body)
	for i := range body {
		right := ""
		switch {
		case more > 0 && i == len(body)-1:
			right = st.Tone(theme.Attention).Render(widget.Cut(st.More+" "+plural(more+1, "more line")+", enter opens it", inner, st.Ellipsis))
		case i < len(lines):
			right = lines[i]
		}
		body[i] += st.Muted.Render(st.Bar) + " " + right
	}
	return body
}

// summary says which messages these are.
func (t *conversationTab) summary(width int) string {
	v, st := t.now.value, t.r.styles
	text := fmt.Sprintf(" %s at step %d", plural(len(v.Messages), "message"), v.Step)
	if !t.shown.sameStep(t.wanted()) {
		text += ", reading another" + st.Ellipsis
	}
	if v.Key != "" {
		text += fmt.Sprintf(", %q in the state", v.Key)
	}
	if len(v.Others) > 0 {
		text += "; messages also in " + strings.Join(v.Others, ", ")
	}
	masked, below := "", ""
	if v.Masked > 0 && !t.open {
		masked = fmt.Sprintf("secrets masked: %d", v.Masked)
	}
	if t.text.below() {
		below = st.More + " more below"
	}
	right := strings.Join(nonEmpty(masked, below), "  ") + " "
	return st.Muted.Render(widget.Ends(widget.Plain(text), right, width, st.Ellipsis))
}

// foot is what the run waits for now and the key that acts, wherever the text
// was scrolled to.
func (t *conversationTab) foot(width, height int) []string {
	st, row := t.r.styles, t.r.row()
	var lines []string
	say := func(tone theme.Tone, text, right string) {
		lines = append(lines, widget.Ends(" "+st.Tone(tone).Render(widget.Plain(text)), right+" ", width, st.Ellipsis))
	}
	switch look := firstBadge(t.r.shared, row); {
	case t.r.step != latest:
		say(theme.Attention, fmt.Sprintf("the past: step %d of %d", t.now.value.Step, row.Step), t.keyFor(t.r.keys.Detail.Latest))
	case len(row.Waiting) > 0:
		for i, w := range row.Waiting {
			if i == maxAsked {
				say(look.Tone, "  "+fmt.Sprintf("%d more", len(row.Waiting)-maxAsked), "")
				break
			}
			say(look.Tone, waitingLook(t.r.shared, w).Symbol+" "+waitingText(w)+prefixed("  ", w.ID), t.actsOn(w))
		}
	case row.Status != "done" && row.Why != "":
		say(look.Tone, look.Symbol+" "+row.Why, t.acts(viewer.Recover))
	}
	if len(lines) == 0 || height < 8 {
		return lines
	}
	return append([]string{st.Muted.Render(widget.Rule(st.Rule, width))}, lines...)
}

func firstBadge(s *shared, row viewer.Row) theme.Badge {
	if len(row.Badges) == 0 {
		return theme.Badge{Symbol: s.styles.Dot, Tone: theme.Muted}
	}
	return s.styles.Badge(row.Badges[0])
}

func waitingLook(s *shared, w viewer.Waiting) theme.Badge {
	if w.Type == viewer.WaitInDoubt {
		return s.styles.Badge(viewer.InDoubt)
	}
	return s.styles.Badge(viewer.Paused)
}

// actsOn is the key that decides on something, or why it does nothing.
func (t *conversationTab) actsOn(w viewer.Waiting) string {
	switch w.Type {
	case viewer.WaitApproval:
		return t.acts(viewer.Approve)
	case viewer.WaitInDoubt:
		return t.acts(viewer.Resolve)
	}
	return t.acts(viewer.Answer)
}

func (t *conversationTab) acts(a viewer.Action) string {
	for _, k := range actionKeys(t.r.keys.Detail.Actions) {
		if k.action != a {
			continue
		}
		if off := k.refusal(t.r.row(), t.r.off()); off != "" {
			if a == viewer.Recover {
				return "" // nobody asked for it
			}
			return t.r.styles.Muted.Render("not now: " + widget.Plain(off))
		}
		return t.keyFor(k.binding)
	}
	return ""
}

// drawnBlock is what a block was drawn to: it may be long.
type drawnBlock struct {
	block talkBlock
	width int
	most  int
	lines []string
}

// block draws the block under the cursor in full, at most so many bytes of each
// text.
func (t *conversationTab) block(width, most int) drawnBlock {
	m, c, ok := t.text.block()
	if !ok {
		return drawnBlock{}
	}
	at := t.text.blocks[t.text.cursor.block]
	if d := t.beside; d.lines != nil && d.block == at && d.width == width && d.most == most {
		return d
	}
	d := drawnBlock{block: at, width: width, most: most}
	if c == nil {
		d.lines = t.messageLines(m, width, most)
	} else {
		d.lines = t.callLines(*c, width, most)
	}
	t.beside = d
	return d
}

// messageLines are a message in full.
func (t *conversationTab) messageLines(m viewer.Message, width, most int) []string {
	st := t.r.styles
	head := st.Title.Render(roleOf(m)) + "  " + fmt.Sprintf("message %d of %d", m.N, len(t.now.value.Messages))
	lines := []string{widget.Cut(head, width, st.Ellipsis), ""}
	if m.Odd != "" {
		lines = append(lines, widget.Wrap("no message: "+m.Odd, width)...)
		lines = append(lines, t.whole(string(m.Value), width, most, widget.Break)...)
	} else {
		lines = append(lines, t.whole(m.Text, width, most, widget.Wrap)...)
	}
	if len(m.Rest) > 0 {
		lines = append(lines, "", st.Muted.Render(widget.Cut(widget.Plain("other keys, shown by State: "+strings.Join(m.Rest, ", ")), width, st.Ellipsis)))
	}
	return lines
}

// whole is a text, as much of it as is drawn. What is left out is said.
func (t *conversationTab) whole(text string, width, most int, wrap func(string, int) []string) []string {
	head, rest := startOf(text, most)
	lines := wrap(head, width)
	if rest > 0 {
		more := fmt.Sprintf("(%s more left out, flowtui state prints all)", size(int64(rest)))
		lines = append(lines, t.r.styles.Tone(theme.Attention).Render(widget.Cut(more, width, t.r.styles.Ellipsis)))
	}
	return lines
}

// callLines are a call in full: as the Calls tab shows it when it was logged,
// else what the reply asked for and what the model was told.
func (t *conversationTab) callLines(c viewer.ToolCall, width, most int) []string {
	logged := slices.IndexFunc(t.r.calls.value, func(l viewer.Call) bool { return c.Call != "" && keyOf(l) == callKey{c.Step, c.Call} })
	if logged >= 0 && t.now.value.Latest {
		return callLines(t.r, t.r.calls.value[logged], width)
	}
	st := t.r.styles
	look := callLook(st, c.Status)
	word := st.Tone(look.Tone).Render(look.Symbol + " " + widget.Plain(c.Word()))
	lines := []string{widget.Cut(st.Title.Render(toolName(c))+"  "+word, width, st.Ellipsis)}
	lines = append(lines, labelled(t.r.shared, "Why", c.Why, width)...)
	lines = append(lines, labelled(t.r.shared, "Id", strings.Join(nonEmpty(c.ID, c.Logged()), ", in the call log "), width)...)
	lines = append(lines, "", st.Strong.Render("arguments"))
	lines = append(lines, orNone(t.wholeJSON(c.Args, width, most))...)
	if c.Answer > 0 {
		lines = append(lines, "", st.Strong.Render("the model was told"))
		return append(lines, t.whole(t.now.value.Messages[c.Answer-1].Text, width, most, widget.Wrap)...)
	}
	if c.Error != "" {
		lines = append(lines, "", st.Tone(theme.Danger).Render("error"))
		return append(lines, t.whole(c.Error, width, most, widget.Wrap)...)
	}
	lines = append(lines, "", st.Strong.Render("result"))
	return append(lines, orNone(t.wholeJSON(c.Result, width, most))...)
}

func (t *conversationTab) wholeJSON(raw json.RawMessage, width, most int) []string {
	if len(raw) > most {
		return t.whole(string(raw), width, most, widget.Break)
	}
	return jsonLines(raw, width)
}

// keyFor is a key and what it does.
func (t *conversationTab) keyFor(b key.Binding) string {
	return t.r.styles.Key.Render(t.r.styles.KeyName(b.Help().Key)) + " " + b.Help().Desc
}
