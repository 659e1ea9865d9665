package document

import (
	"strings"

	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/engine/teff/py"
)

// An Error says why teff refuses a document: what it would raise, and where
// the reason stands.
type Error struct {
	Class    string // of the Python exception, such as "ConfigError"
	Problems []teff.Problem
}

// Error has a line for each problem.
func (e *Error) Error() string {
	lines := make([]string, len(e.Problems))
	for i, p := range e.Problems {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

const config = "ConfigError"

// fail is an error with one reason.
func fail(at teff.Position, class, format string, args ...any) error {
	return failNode(at, "", class, format, args...)
}

func failNode(at teff.Position, node, class, format string, args ...any) error {
	reason := py.Errorf("", format, args...).Message
	return &Error{Class: class, Problems: []teff.Problem{{Node: node, Position: at, Reason: reason}}}
}
