package views

import "github.com/flowtui/flowtui/viewer"

// change says how a line differs from the step before.
type change byte

// The changes.
const (
	same    change = ' '
	added   change = '+'
	altered change = '~' // the line, or one below it
	removed change = '-'
)

// changedLine is a line of a state with what became of it.
type changedLine struct {
	viewer.Line
	change change
}

// unchanged are lines that are compared to nothing.
func unchanged(lines []viewer.Line) []changedLine {
	out := make([]changedLine, len(lines))
	for i, l := range lines {
		out[i] = changedLine{l, same}
	}
	return out
}

// diffStates marks what changed from one state to the next, by path, and puts
// lines that are gone where they were. Where lines were left out of a state,
// nothing is said of what lies behind the last common line.
func diffStates(before, after viewer.StateView) []changedLine {
	at := make(map[string]int, len(after.Lines))
	for i, l := range after.Lines {
		at[l.Path] = i
	}
	d := comparison{after: after.Lines, marks: make([]change, len(after.Lines)), gone: map[int][]viewer.Line{}}
	for i := range d.marks {
		d.marks[i] = added
	}
	d.compare(before.Lines, at)
	if after.Cut > 0 {
		delete(d.gone, len(after.Lines))
	}
	if before.Cut > 0 {
		for i := d.last + 1; i < len(d.marks); i++ {
			d.marks[i] = same
		}
	}
	return d.merge()
}

type comparison struct {
	after []viewer.Line
	marks []change              // of after
	gone  map[int][]viewer.Line // by the index in after that they come before
	last  int                   // last line of after that was there before
}

// compare walks the lines of the state before, and keeps the place in the
// state after at which a line that is gone would stand.
func (d *comparison) compare(before []viewer.Line, at map[string]int) {
	place := 0
	for _, l := range before {
		i, ok := at[l.Path]
		if ok {
			d.marks[i] = same
			if a := d.after[i]; a.Text != l.Text || a.Masked != l.Masked {
				d.marks[i] = altered
			}
			place, d.last = max(place, i+1), max(d.last, i)
			continue
		}
		for place < len(d.after) && d.after[place].Depth > l.Depth {
			place++
		}
		d.gone[place] = append(d.gone[place], l)
	}
}

// merge puts the lines together and marks what contains a change.
func (d *comparison) merge() []changedLine {
	out := make([]changedLine, 0, len(d.after)+len(d.gone))
	for i := 0; i <= len(d.after); i++ {
		for _, l := range d.gone[i] {
			out = append(out, changedLine{l, removed})
		}
		if i < len(d.after) {
			out = append(out, changedLine{d.after[i], d.marks[i]})
		}
	}
	var open []int // the lines that contain the one at hand
	for i := range out {
		for len(open) > 0 && out[open[len(open)-1]].Depth >= out[i].Depth {
			open = open[:len(open)-1]
		}
		if out[i].change != same {
			for n := len(open) - 1; n >= 0 && out[open[n]].change == same; n-- {
				out[open[n]].change = altered
			}
		}
		open = append(open, i)
	}
	return out
}

// tally counts the lines that differ by themselves.
func tally(lines []changedLine) (plus, tilde, minus int) {
	for _, l := range lines {
		switch {
		case l.change == added:
			plus++
		case l.change == removed:
			minus++
		case l.change == altered && l.Children == 0:
			tilde++
		}
	}
	return plus, tilde, minus
}
