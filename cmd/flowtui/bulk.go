package main

import (
	"io"
	"slices"

	"github.com/flowtui/flowtui/viewer"
)

// What delete, prune and import share: a plan over many runs, each of which
// goes ahead or is left alone.

// parted is a plan by what becomes of its runs. Before anything was done (done
// is nil) all that may go ahead counts as gone ahead.
type parted[T any] struct {
	ahead, left []T
	failed      []viewer.Removed
}

// part sorts a plan. done has an entry for each run that went ahead, in the
// plan's order, and is shorter when it was stopped.
func part[T any](plan []T, done []viewer.Removed, goes func(T) bool) parted[T] {
	p := parted[T]{ahead: []T{}, left: []T{}, failed: []viewer.Removed{}}
	next := 0
	for _, r := range plan {
		switch {
		case !goes(r):
			p.left = append(p.left, r)
		case done == nil:
			p.ahead = append(p.ahead, r)
		case next < len(done):
			if done[next].Error == nil {
				p.ahead = append(p.ahead, r)
			} else {
				p.failed = append(p.failed, done[next])
			}
			next++
		}
	}
	return p
}

// aheadFirst are all runs of a plan, as it is printed.
func (p parted[T]) aheadFirst() []T { return slices.Concat(p.ahead, p.left) }

// json names what went ahead and what was left.
func (p parted[T]) json(ahead, left string, done bool) map[string]any {
	v := map[string]any{ahead: p.ahead, left: p.left}
	if done {
		v["failed"] = p.failed
	}
	return v
}

// firstFailure is the exit code of the first run that did not go as planned.
func firstFailure(done []viewer.Removed) error {
	for _, d := range done {
		if d.Error != nil {
			return exit(d.Error.Exit())
		}
	}
	return nil
}

// writePlan prints the rows of a plan under their header.
func (a *app) writePlan(w io.Writer, t table) {
	if len(t.rows) > 0 {
		t.rows = append([][]string{{"", "RUN", "FLOW", "OWNER", "STATUS", "STEP", "AGE", "WHY"}}, t.rows...)
		t.wrapLast(a.textWidth(w))
		t.write(w)
	}
}
