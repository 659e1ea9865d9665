package widget

// TextPane scrolls lines that somebody else made. It remembers which of them
// were on the screen.
type TextPane struct {
	lines  []string
	offset int
	height int
	seen   []bool // of the lines
	unseen int
	read   bool
}

// SetLines replaces the text. Where it was scrolled to stays, and so does that
// all of it was read: call [TextPane.Reset] for another text.
func (p *TextPane) SetLines(lines []string) {
	if len(lines) != len(p.lines) {
		p.seen = nil // broken into other lines
	}
	p.lines = lines
	p.clamp()
}

// SetHeight gives the pane its room.
func (p *TextPane) SetHeight(h int) {
	p.height = max(0, h)
	p.clamp()
}

// Reset scrolls to the start and forgets what was seen.
func (p *TextPane) Reset() { p.offset, p.seen, p.read = 0, nil, false }

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

// Look notes that the lines that View gives now are on the screen.
func (p *TextPane) Look() {
	if p.seen == nil {
		p.seen, p.unseen = make([]bool, len(p.lines)), len(p.lines)
	}
	for i := p.offset; i < min(len(p.lines), p.offset+p.height); i++ {
		if !p.seen[i] {
			p.seen[i] = true
			p.unseen--
		}
	}
	p.read = p.read || p.unseen == 0 && len(p.lines) > 0
}

// Read reports that every line was on the screen since the last Reset.
func (p *TextPane) Read() bool { return p.read }

// Unseen is how many lines were not on the screen yet.
func (p *TextPane) Unseen() int {
	switch {
	case p.read:
		return 0
	case p.seen == nil:
		return len(p.lines)
	}
	return p.unseen
}

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
}
