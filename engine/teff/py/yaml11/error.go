package yaml11

import (
	"fmt"
	"strings"
)

// A Mark is a place in a document; lines and columns count from 1.
type Mark struct{ Line, Column int }

// An Error says what PyYAML would say, and where.
type Error struct {
	Class   string // of PyYAML or Python, such as "ScannerError" or "ValueError"
	Context string // what was being read, or ""
	Start   Mark   // where that began, if Context is not ""
	Problem string
	At      Mark
}

// Error is the message without the places.
func (e *Error) Error() string {
	if e.Context == "" {
		return e.Problem
	}
	return e.Context + ": " + e.Problem
}

// Text is the message as PyYAML writes it for a named file.
func (e *Error) Text(file string) string {
	place := func(m Mark) string {
		return fmt.Sprintf("  in \"%s\", line %d, column %d", file, m.Line, m.Column)
	}
	var lines []string
	if e.Context != "" {
		lines = append(lines, e.Context)
		if e.Start != (Mark{}) && e.Start != e.At {
			lines = append(lines, place(e.Start))
		}
	}
	lines = append(lines, e.Problem)
	if e.At != (Mark{}) {
		lines = append(lines, place(e.At))
	}
	return strings.Join(lines, "\n")
}
