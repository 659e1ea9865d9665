package draw

import (
	"fmt"
	"strings"
	"unicode"
)

// Sizes in the picture, in its units.
const (
	letter    = 8  // the width of a character
	boxHeight = 44 // two lines of text
	rowHeight = 110
	gap       = 36 // between boxes, and around the picture
)

// SVG draws a picture: steps in rows, edges down, those that lead back beside
// them, and below it what runs inside of steps. It holds no scripts and refers
// to nothing.
func SVG(g Graph) string {
	p := &picture{y: gap}
	p.section(g, shown(g.Title))
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%[1]d" height="%[2]d" viewBox="0 0 %[1]d %[2]d" font-family="monospace" font-size="13">`+"\n", p.width, p.y)
	b.WriteString(`<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto-start-reverse">` +
		`<path d="M0 0L10 5L0 10z"/></marker></defs>` + "\n" + `<rect width="100%" height="100%" fill="white"/>` + "\n")
	b.WriteString(p.edges.String())
	b.WriteString(p.boxes.String())
	b.WriteString("</svg>\n")
	return b.String()
}

type picture struct {
	edges, boxes strings.Builder // boxes are drawn over edges
	y, width     int
}

// A box is where a node stands.
type box struct{ x, y, width int }

func (b box) middle() int { return b.x + b.width/2 }

// section draws one graph, and below it those inside its nodes.
func (p *picture) section(g Graph, title string) {
	g = closed(g)
	nodes := map[string]Node{}
	for _, n := range g.Nodes {
		nodes[n.ID] = n
	}
	p.text(gap, p.y, "start", "bold", title)
	p.y += gap
	places := map[string]box{}
	right := gap + cells(title)*letter
	for _, row := range layers(g) {
		x := gap
		for _, id := range row {
			n := nodes[id]
			places[id] = box{x, p.y, (max(cells(shown(n.ID)), cells(n.kind())) + 2) * letter}
			p.node(n, places[id], n.ID == g.Entry)
			x += places[id].width + gap
		}
		right = max(right, x-gap)
		p.y += rowHeight
	}
	aside := right
	for _, e := range g.Edges {
		from, to := places[e.From], places[e.To]
		if to.y > from.y {
			p.down(e, from, to)
			continue
		}
		aside += gap
		p.back(e, from, to, aside)
		right = max(right, aside+cells(e.label())*letter)
	}
	p.width = max(p.width, right+gap)
	for _, n := range g.Nodes {
		for _, part := range n.Parts {
			title := "inside " + shown(n.ID)
			if part.Title != "" {
				title += ", " + shown(part.Title)
			}
			p.section(part, title)
		}
	}
}

func (p *picture) node(n Node, b box, entry bool) {
	width := 1
	if entry {
		width = 3
	}
	fmt.Fprintf(&p.boxes, `<rect x="%d" y="%d" width="%d" height="%d" rx="6" fill="#f4f4f4" stroke="black" stroke-width="%d"/>`+"\n", b.x, b.y, b.width, boxHeight, width)
	p.text(b.middle(), b.y+18, "middle", "bold", shown(n.ID))
	p.text(b.middle(), b.y+35, "middle", "normal", n.kind())
}

func (p *picture) text(x, y int, anchor, weight, s string) {
	fmt.Fprintf(&p.boxes, `<text x="%d" y="%d" text-anchor="%s" font-weight="%s">%s</text>`+"\n", x, y, anchor, weight, xmlText(s))
}

func (p *picture) line(e Edge, path string) {
	dash := ""
	if e.Kind != Plain {
		dash = ` stroke-dasharray="5 4"`
	}
	fmt.Fprintf(&p.edges, `<path d="%s" fill="none" stroke="black"%s marker-end="url(#tip)"/>`+"\n", path, dash)
}

func (p *picture) down(e Edge, from, to box) {
	x1, y1, x2, y2 := from.middle(), from.y+boxHeight, to.middle(), to.y
	p.line(e, fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, x1, y1+rowHeight/3, x2, y2-rowHeight/3, x2, y2))
	p.text((x1+x2)/2, (y1+y2)/2, "middle", "normal", e.label())
}

// back draws an edge that leads up or to its own row: around the right side.
func (p *picture) back(e Edge, from, to box, aside int) {
	y1, y2 := from.y+boxHeight*3/4, to.y+boxHeight/4
	x1, x2 := from.x+from.width, to.x+to.width
	p.line(e, fmt.Sprintf("M%d %dC%d %d %d %d %d %d", x1, y1, aside, y1, aside, y2, x2, y2))
	p.text(aside, (y1+y2)/2, "start", "normal", e.label())
}

// cells is how wide a text is, in letters: those of East Asia count two.
func cells(s string) int {
	n := 0
	for _, r := range s {
		switch {
		case unicode.In(r, unicode.Mn, unicode.Me):
		case r >= 0x1100:
			n += 2
		default:
			n++
		}
	}
	return n
}

// xmlText escapes what XML reads; control characters are gone already.
var xmlEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&quot;", "'", "&#39;")

func xmlText(s string) string { return xmlEscapes.Replace(s) }
