package views

import (
	"fmt"
	"math"
	"strings"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/theme"
	"github.com/flowtui/flowtui/views/widget"
)

// waitingPart is one thing that the run waits for. Only its arguments may be cut:
// the sheet shows all of them.
type waitingPart struct{ head, args, foot []string }

type waitingParts []waitingPart

// waiting is everything that the run waits for, and what a person has to know
// to decide.
func (o *overviewTab) waiting(d viewer.Detail, width int) waitingParts {
	var parts waitingParts
	for _, w := range d.Waiting {
		look := o.r.styles.Badge(viewer.Paused)
		if w.Type == viewer.WaitInDoubt {
			look = o.r.styles.Badge(viewer.InDoubt)
		}
		head := o.r.styles.Tone(look.Tone).Render(look.Symbol + " " + widget.Plain(waitingText(w)))
		place := strings.Join(nonEmpty(prefixed("node ", w.Node), prefixed("id ", w.ID), prefixed("answers ", w.Key)), ", ")
		p := waitingPart{head: []string{widget.Ends(head, o.r.styles.Muted.Render(widget.Plain(place)), width, o.r.styles.Ellipsis)}}
		for _, text := range nonEmpty(prefixed("one of: ", strings.Join(w.Choices, ", ")), prefixed("passes: ", w.Want), w.Why) {
			p.head = append(p.head, indented(widget.Wrap(text, max(1, width-2)))...)
		}
		p.args = indented(jsonLines(w.Args, max(1, width-2)))
		if w.Masked > 0 {
			p.foot = []string{"  " + o.r.styles.Muted.Render(fmt.Sprintf("secrets masked: %d", w.Masked))}
		}
		parts = append(parts, p)
	}
	return parts
}

func indented(lines []string) []string {
	for i := range lines {
		lines[i] = "  " + lines[i]
	}
	return lines
}

// all is no bound for the lines of arguments.
const all = math.MaxInt - 1

// shown is how many lines of arguments are shown of n when there is room for most:
// for one more there is the line that would say so.
func shown(n, most int) int {
	if n > most+1 {
		return most
	}
	return n
}

// most is how many lines of arguments each may have so that all fit, at least the
// start: of several, the start of each is worth more.
func (parts waitingParts) most(height int) int {
	least, longest := max(3, 8/max(1, len(parts))), 0
	for _, p := range parts {
		longest = max(longest, len(p.args))
	}
	most := least
	for n := least; n <= longest && parts.height(n) <= height; n++ {
		most = n
	}
	return most
}

// height is how many lines there are when arguments have at most most each.
func (parts waitingParts) height(most int) int {
	n := max(0, len(parts)-1) // between them
	for _, p := range parts {
		n += len(p.head) + min(len(p.args), most+1) + len(p.foot)
	}
	return n
}

func (parts waitingParts) lines(st *theme.Styles, width, most int) []string {
	var lines []string
	for i, p := range parts {
		if i > 0 {
			lines = append(lines, "")
		}
		n := shown(len(p.args), most)
		lines = append(append(lines, p.head...), p.args[:n]...)
		if n < len(p.args) {
			more := plural(len(p.args)-n, "more line") + ", the sheet of the action shows all"
			lines = append(lines, "  "+st.Tone(theme.Attention).Render(widget.Cut(more, max(1, width-2), st.Ellipsis)))
		}
		lines = append(lines, p.foot...)
	}
	return lines
}
