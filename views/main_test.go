package views_test

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

func TestMainNeedsATerminal(t *testing.T) {
	err := views.Main(t.Context(), viewer.Program{})
	if err == nil || !strings.Contains(err.Error(), "terminal") {
		t.Error(err)
	}
}

// A program of one's own has no commands: the sheet shows no line that would
// not find its flows.
func TestSheetWithoutACommandLine(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) { b.NoLine = true })
	x.keys("e")
	x.settle()
	x.keys("j")
	x.sees("enter it did not run")
	x.seesNot("y copies", "flowtui resolve")
	x.keys("y")
	x.sees("no command line does the same")
	same(t, len(x.copied), 0)
	x.keys(pause, "enter")
	same(t, len(x.backend.Acted), 1)
}
