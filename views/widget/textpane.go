package widget

import "time"

// Glance is how long a line has to stand on the screen to count as seen. It is
// longer than several frames: what is only passed on the way is never drawn.
const Glance = 100 * time.Millisecond

// TextPane scrolls lines that somebody else made. It remembers which of them
// stood on the screen.
type TextPane struct {
	lines  []string
	offset int
	height int
	from   int         // the first line on the screen
	since  []time.Time // since when it and those after it stand there
	seen   []bool      // of the lines
	unseen int
	read   bool
}

// SetLines replaces the text. Where it was scrolled to stays, and so does that
// all of it was read: call [TextPane.Reset] for another text.
func (p *TextPane) SetLines(lines []string) {
	other := len(lines) != len(p.lines) // broken into other lines
	p.lines = lines
	p.clamp()
	if other {
		p.forget()
	}
}

// SetHeight gives the pane its room.
func (p *TextPane) SetHeight(h int) {
	p.height = max(0, h)
	p.clamp()
}

// Reset scrolls to the start and forgets what was seen.
func (p *TextPane) Reset() {
	p.offset, p.read = 0, false
	p.forget()
}

func (p *TextPane) forget() {
	p.since, p.seen, p.unseen = nil, make([]bool, len(p.lines)), len(p.lines)
}

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

// Look notes that the lines that View gives are on the screen from now on, and
// which lines stood there for a [Glance] until now. It is called whenever
// something may have moved.
func (p *TextPane) Look(now time.Time) {
	p.note(now)
	from, since := p.offset, make([]time.Time, len(p.View()))
	for i := range since {
		since[i] = now
		if was := from + i - p.from; was >= 0 && was < len(p.since) {
			since[i] = p.since[was]
		}
	}
	p.from, p.since = from, since
}

// Hide notes that nothing is on the screen from now on.
func (p *TextPane) Hide(now time.Time) {
	p.note(now)
	p.since = nil
}

// note takes what stood on the screen for long enough as seen.
func (p *TextPane) note(now time.Time) {
	for i, t := range p.since {
		if line := p.from + i; !p.seen[line] && now.Sub(t) >= Glance {
			p.seen[line] = true
			p.unseen--
		}
	}
	p.read = p.read || p.unseen == 0 && len(p.lines) > 0
}

// Read reports that every line was seen since the last Reset, as of the last Look.
func (p *TextPane) Read() bool { return p.read }

// Unseen is how many lines were not seen yet and are not on the screen either.
func (p *TextPane) Unseen() int {
	if p.read {
		return 0
	}
	return p.unseen - p.fresh()
}

// Fresh reports that lines came on the screen that nobody can have seen yet: the
// next Look after a [Glance] takes them as seen.
func (p *TextPane) Fresh() bool { return !p.read && p.fresh() > 0 }

// fresh is how many lines are on the screen and count as unseen.
func (p *TextPane) fresh() int {
	n := 0
	for i := range p.since {
		if !p.seen[p.from+i] {
			n++
		}
	}
	return n
}

// Below is how many lines are below the screen.
func (p *TextPane) Below() int { return max(0, len(p.lines)-p.offset-p.height) }

// Height is the room that the pane has.
func (p *TextPane) Height() int { return p.height }

// Len is the number of lines.
func (p *TextPane) Len() int { return len(p.lines) }

// Window is which lines are on the screen: those from from on, before to.
func (p *TextPane) Window() (from, to int) {
	return p.offset, min(len(p.lines), p.offset+p.height)
}

// View is the part of the text that is on the screen.
func (p *TextPane) View() []string {
	from, to := p.Window()
	return p.lines[min(from, to):to]
}

func (p *TextPane) clamp() {
	p.offset = max(0, min(p.offset, len(p.lines)-p.height))
}
