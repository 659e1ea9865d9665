package flowfile

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/flowtui/flowtui/engine/teff/py"
)

const (
	maxErrors  = 100 // told for one file
	maxMessage = 500 // bytes of each
)

// Error is one thing wrong with a flow file, and where.
type Error struct {
	File         string
	Line, Column int    // from 1; 0: the file as a whole
	Node         string // the step it is about, if any
	Message      string
}

// Error reads `tickets.yaml:12:5: node "pay": no tool is named "charge"`.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
	}
	b.WriteString(": ")
	if e.Node != "" {
		fmt.Fprintf(&b, "node %q: ", e.Node)
	}
	b.WriteString(e.Message)
	return b.String()
}

// reader reads parts of a document and collects what is wrong with them.
type reader struct {
	file   string
	within string // what stands before the names of steps: "", or "STEP/" inside of one
	node   string // the step being read
	errs   *[]Error
}

func newReader(file string) reader { return reader{file: file, errs: new([]Error)} }

// at returns a reader whose errors name a step.
func (r reader) at(node string) reader {
	r.node = r.within + node
	return r
}

// inside returns a reader for what stands inside the step being read.
func (r reader) inside() reader {
	r.within = r.node + "/"
	return r
}

func (r reader) fail(it *item, format string, args ...any) {
	e := Error{File: r.file, Node: r.node, Message: plain(fmt.Sprintf(format, args...))}
	if it != nil {
		e.Line, e.Column = it.line, it.column
		if it.file != "" {
			e.File = it.file
		}
	}
	*r.errs = append(*r.errs, e)
}

// plain makes a message one short line that does nothing to a terminal,
// whatever the file that it quotes holds.
func plain(message string) string {
	var b strings.Builder
	for _, c := range message {
		if b.Len() > maxMessage {
			b.WriteString("…")
			break
		}
		if unicode.IsPrint(c) {
			b.WriteRune(c)
		} else {
			b.WriteString(strings.Trim(py.Repr(string(c)), "'"))
		}
	}
	return b.String()
}

// err joins what was found, in the order of the file.
func (r reader) err() error {
	found := slices.Clone(*r.errs)
	slices.SortStableFunc(found, func(a, b Error) int {
		if a.File != b.File && (a.File == r.file || b.File == r.file) { // the main file first
			return map[bool]int{true: -1, false: 1}[a.File == r.file]
		}
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	found = slices.Compact(found) // what an alias repeats
	if n := len(found) - maxErrors; n > 0 {
		found = append(found[:maxErrors], Error{File: r.file, Message: fmt.Sprintf("and %d more errors", n)})
	}
	errs := make([]error, len(found))
	for i := range found {
		errs[i] = &found[i]
	}
	return errors.Join(errs...)
}
