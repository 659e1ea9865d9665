package views

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

func latestOf(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// patience is the longest gap that is drawn to scale: longer ones would leave
// no room for the work.
func patience(rows []timeRow) time.Duration {
	var busy time.Duration
	for _, r := range rows {
		busy = addClamped(busy, r.bar.length())
	}
	return max(time.Millisecond, busy/2)
}

func addClamped(a, b time.Duration) time.Duration {
	if a > 1<<62-b {
		return 1 << 62
	}
	return a + b
}

// foldWaits puts a sentence between steps that lie far apart. A claim tells it
// by itself.
func foldWaits(rows []timeRow) []timeRow {
	most := max(patience(rows), time.Minute)
	var out []timeRow
	var end time.Time
	for i, r := range rows {
		next := r.bar.from
		wait := next.Sub(end)
		if i > 0 && r.first && r.divider == "" && !end.IsZero() && !next.IsZero() && wait > most {
			out = append(out, timeRow{step: unsaved, divider: words(wait)})
		}
		end = latestOf(latestOf(end, r.bar.from), r.bar.to)
		out = append(out, r)
	}
	return out
}

// axis maps times to places from 0 to 1. Long gaps in which nothing happened
// are folded to one short piece.
type axis struct {
	pieces []piece
	total  float64
	from   time.Time
	to     time.Time
}

// piece is a time in which something happened, and where it begins.
type piece struct {
	span
	at float64
}

func axisOf(rows []timeRow) axis {
	pieces := busyTimes(rows)
	if len(pieces) == 0 {
		return axis{}
	}
	most := patience(rows)
	var scaled float64 // all that is drawn to scale
	for i, p := range pieces {
		scaled += float64(p.length())
		if gap := gapBefore(pieces, i); gap <= most {
			scaled += float64(gap)
		}
	}
	fold := max(scaled/20, 1)
	a := axis{pieces: pieces, from: pieces[0].from}
	for i := range pieces {
		gap := gapBefore(pieces, i)
		switch {
		case i == 0:
		case gap > most:
			a.total += fold
		default:
			a.total += float64(gap)
		}
		pieces[i].at = a.total
		a.total += float64(pieces[i].length())
		a.to = latestOf(a.to, pieces[i].to)
	}
	return a
}

func gapBefore(pieces []piece, i int) time.Duration {
	if i == 0 {
		return 0
	}
	return max(0, pieces[i].from.Sub(pieces[i-1].to))
}

// busyTimes are the times of all bars, in order and without overlaps.
func busyTimes(rows []timeRow) []piece {
	var all []piece
	for _, r := range rows {
		if r.bar.none() || r.bar.from.IsZero() {
			continue
		}
		s := r.bar
		if s.skewed() {
			s.to = s.from
		}
		all = append(all, piece{span: s})
	}
	slices.SortFunc(all, func(a, b piece) int { return a.from.Compare(b.from) })
	var merged []piece
	for _, p := range all {
		if n := len(merged); n > 0 && !p.from.After(merged[n-1].to) {
			merged[n-1].to = latestOf(merged[n-1].to, p.to)
			continue
		}
		merged = append(merged, p)
	}
	return merged
}

// cell is the cell of t in a lane of width cells, always inside of it.
func (a axis) cell(t time.Time, width int) int {
	if len(a.pieces) == 0 || a.total <= 0 || width <= 1 {
		return 0
	}
	i := sort.Search(len(a.pieces), func(i int) bool { return a.pieces[i].from.After(t) })
	at := 0.0
	if i > 0 {
		p := a.pieces[i-1]
		at = p.at + float64(min(max(0, t.Sub(p.from)), p.length()))
	}
	return max(0, min(int(at/a.total*float64(width-1)), width-1))
}

// cells is where a bar begins and ends; it is at least one cell long.
func (a axis) cells(s span, width int) (from, to int) {
	from = a.cell(s.from, width)
	if s.skewed() {
		return from, from
	}
	return from, max(from, a.cell(s.to, width))
}

// took is how long s lasted, in a few characters.
func took(s span) string {
	switch d := s.to.Sub(s.from); {
	case s.none() || s.from.IsZero() || s.to.IsZero():
		return ""
	case d < 0:
		return "clock skew"
	case d > 0 && d < time.Millisecond:
		return "<1ms"
	case d < time.Second:
		return fmt.Sprintf("%dms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%.1fs", d.Seconds())
	default:
		return short(d)
	}
}

// words is a duration in a sentence.
func words(d time.Duration) string {
	day := 24 * time.Hour
	n, unit := int64(d/time.Second), "second"
	switch {
	case d < time.Second:
		return "less than a second"
	case d >= 2*day:
		n, unit = int64(d/day), "day"
	case d >= 2*time.Hour:
		n, unit = int64(d/time.Hour), "hour"
	case d >= time.Minute:
		n, unit = int64(d/time.Minute), "minute"
	}
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}
