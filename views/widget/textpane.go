package widget

// TextPane scrolls lines that somebody else made. It remembers whether the
// last line was ever on the screen.
type TextPane struct {
	lines   []string
	offset  int
	height  int
	reached bool
}

// SetLines replaces the text. Where it was scrolled to stays, and so does
// whether the end was seen: call [TextPane.Reset] for another text.
func (p *TextPane) SetLines(lines []string) {
	p.lines = lines
	p.clamp()
}

// SetHeight gives the pane its room.
func (p *TextPane) SetHeight(h int) {
	p.height = max(0, h)
	p.clamp()
}

// Reset scrolls to the start and forgets that the end was seen.
func (p *TextPane) Reset() { p.offset, p.reached = 0, false }

// Scroll moves by n lines.
func (p *TextPane) Scroll(n int) {
	p.offset += n
	p.clamp()
}

// Page moves by n pages, keeping one line of the last one.
func (p *TextPane) Page(n int) { p.Scroll(n * max(1, p.height-1)) }

// Top scrolls to the start.
func (p *TextPane) Top() { p.Scroll(-len(p.lines)) }

// Bottom scrolls to the end.
func (p *TextPane) Bottom() { p.Scroll(len(p.lines)) }

// Reached reports that the last line was on the screen since the last Reset.
func (p *TextPane) Reached() bool { return p.reached }

// Below is how many lines are below the screen.
func (p *TextPane) Below() int { return max(0, len(p.lines)-p.offset-p.height) }

// Height is the room that the pane has.
func (p *TextPane) Height() int { return p.height }

// Len is the number of lines.
func (p *TextPane) Len() int { return len(p.lines) }

// View is the part of the text that is on the screen.
func (p *TextPane) View() []string {
	end := min(len(p.lines), p.offset+p.height)
	return p.lines[min(p.offset, end):end]
}

func (p *TextPane) clamp() {
	p.offset = max(0, min(p.offset, len(p.lines)-p.height))
	if p.height > 0 && p.Below() == 0 && len(p.lines) > 0 {
		p.reached = true
	}
}
