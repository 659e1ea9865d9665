package views

import (
	"github.com/charmbracelet/x/ansi"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// talkBlock is what the cursor can stand on: a message, or a call of it.
type talkBlock struct{ message, call int }

// wholeMessage is the call of a block that is the message itself.
const wholeMessage = -1

// talkPlace is a line of a block.
type talkPlace struct{ block, line int }

func (p talkPlace) before(q talkPlace) bool {
	return p.block < q.block || p.block == q.block && p.line < q.line
}

// talkText is a conversation as lines with a cursor. Only the blocks that can be
// seen are drawn, so its length does not matter.
type talkText struct {
	styles *theme.Styles
	talk   viewer.Conversation
	blocks []talkBlock
	cursor talkPlace
	top    talkPlace
	away   bool // the cursor was moved away from the end; else it follows it
	width  int
	height int
	drawn  map[int][]string // lines of blocks, at this width
}

// maxDrawn is how many drawn blocks are kept.
const maxDrawn = 500

// set replaces the messages. The cursor stays on its line, or at the end.
func (t *talkText) set(st *theme.Styles, v viewer.Conversation) {
	t.styles, t.talk, t.blocks, t.drawn = st, v, nil, map[int][]string{}
	for i, m := range v.Messages {
		if m.Under > 0 {
			continue // its text is shown with the call that it answers
		}
		if m.Text != "" || m.Odd != "" || len(m.Calls) == 0 || len(m.Rest) > 0 {
			t.blocks = append(t.blocks, talkBlock{i, wholeMessage})
		}
		for j := range m.Calls {
			t.blocks = append(t.blocks, talkBlock{i, j})
		}
	}
	t.settle()
}

// fit gives the text its room.
func (t *talkText) fit(width, height int) {
	if width != t.width {
		t.width, t.drawn = width, map[int][]string{}
	}
	t.height = max(0, height)
	t.settle()
}

// settle puts the cursor where it belongs after the lines changed.
func (t *talkText) settle() {
	if !t.away && len(t.blocks) > 0 {
		t.cursor = t.last()
	}
	t.clamp()
}

// lines are the lines of a block.
func (t *talkText) lines(block int) []string {
	if l, ok := t.drawn[block]; ok {
		return l
	}
	if len(t.drawn) >= maxDrawn {
		t.drawn = map[int][]string{}
	}
	l := t.draw(t.blocks[block])
	t.drawn[block] = l
	return l
}

// last is the last line of all.
func (t *talkText) last() talkPlace {
	n := len(t.blocks) - 1
	if n < 0 {
		return talkPlace{}
	}
	return talkPlace{n, len(t.lines(n)) - 1}
}

func (t *talkText) start() { t.goTo(talkPlace{}) }
func (t *talkText) end()   { t.goTo(t.last()) }

// move moves the cursor by lines.
func (t *talkText) move(n int) { t.goTo(t.from(t.cursor, n)) }

func (t *talkText) goTo(p talkPlace) {
	t.cursor, t.away = p, p.before(t.last())
	t.clamp()
}

// from is the place n lines from another one, or the closest that there is.
func (t *talkText) from(p talkPlace, n int) talkPlace {
	for ; n < 0 && (p.block > 0 || p.line > 0); n++ {
		if p.line--; p.line < 0 {
			p.block--
			p.line = len(t.lines(p.block)) - 1
		}
	}
	for ; n > 0 && p.before(t.last()); n-- {
		if p.line++; p.line >= len(t.lines(p.block)) {
			p.block, p.line = p.block+1, 0
		}
	}
	return p
}

// clamp keeps the cursor on a line that is there and can be seen, and no room
// empty below the end. Without messages it waits where it is.
func (t *talkText) clamp() {
	if len(t.blocks) == 0 {
		return
	}
	for _, p := range []*talkPlace{&t.cursor, &t.top} {
		p.block = max(0, min(p.block, len(t.blocks)-1))
		p.line = max(0, min(p.line, len(t.lines(p.block))-1))
	}
	if t.cursor.before(t.top) {
		t.top = t.cursor
	}
	above := 1 - max(1, t.height)
	if low := t.from(t.cursor, above); t.top.before(low) {
		t.top = low
	}
	if low := t.from(t.last(), above); low.before(t.top) {
		t.top = low
	}
}

// below reports that the end cannot be seen.
func (t *talkText) below() bool {
	return len(t.blocks) > 0 && t.from(t.top, t.height-1).before(t.last())
}

// view is the part that can be seen.
func (t *talkText) view() []string {
	var lines []string
	for p := t.top; len(t.blocks) > 0 && len(lines) < t.height; p = t.from(p, 1) {
		lines = append(lines, t.line(p))
		if !p.before(t.last()) {
			break
		}
	}
	return lines
}

// line is one line, marked when the cursor is on it.
func (t *talkText) line(p talkPlace) string {
	text := t.lines(p.block)[p.line]
	if p != t.cursor {
		return widget.Space(2) + text
	}
	return t.styles.Selected.Render(widget.Fit(widget.Fit(t.styles.Cursor, 2, "")+ansi.Strip(text), t.width, t.styles.Ellipsis))
}

// block is the message under the cursor, and its call if the cursor is on one.
func (t *talkText) block() (viewer.Message, *viewer.ToolCall, bool) {
	if t.cursor.block >= len(t.blocks) {
		return viewer.Message{}, nil, false
	}
	b := t.blocks[t.cursor.block]
	m := t.talk.Messages[b.message]
	if b.call == wholeMessage {
		return m, nil, true
	}
	return m, &m.Calls[b.call], true
}

// call is the call under the cursor.
func (t *talkText) call() (viewer.ToolCall, bool) {
	if _, c, ok := t.block(); ok && c != nil {
		return *c, true
	}
	return viewer.ToolCall{}, false
}

const (
	roleWidth = 10  // "assistant" and a space
	maxTalk   = 110 // cells of a line of text: longer ones are hard to read
	// maxInline is how many bytes of a text are drawn in the conversation. All
	// that is left out is counted.
	maxInline = 8 << 10
)
