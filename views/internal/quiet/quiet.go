// Package quiet keeps bubbletea v1 from asking the terminal for its colours.
// bubbletea does that in an init function; over a slow line the answer arrives
// late and is read as keys. The question is not asked when TERM is dumb, so
// TERM is dumb from here until [Done].
//
// This works because the package imports only the standard library: Go
// initialises it, by the order of import paths, before termenv and all that
// builds on it. A test of views proves it with a real terminal pair.
package quiet

import "os"

var term, had = os.LookupEnv("TERM")

func init() {
	if had {
		os.Setenv("TERM", "dumb")
	}
}

// Done gives TERM back its value. The first package above bubbletea calls it.
func Done() {
	if had {
		os.Setenv("TERM", term)
	}
}
