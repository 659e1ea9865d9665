package views_test

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
)

// A text of somebody else that is broken into lines cannot draw one of the sheet's
// own: a bar stands before each of them.
func TestNoLineOfAQuestionIsTakenForTheSheets(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(e *viewer.ReviewEntry, text string){
		"question": func(e *viewer.ReviewEntry, text string) { e.Text = text },
		"why":      func(e *viewer.ReviewEntry, text string) { e.Why = text },
		"passes":   func(e *viewer.ReviewEntry, text string) { e.Want = text },
	} {
		forged := "answer     nothing is paid"
		for pad := 50; pad < 80; pad++ { // one of them breaks just before it
			x := start(t, 80, 30, planOf("trip-2", func(p *viewer.Plan) {
				set(&p.Review[0], "pay it?"+strings.Repeat(" ", pad)+forged)
			}))
			x.keys("j", "j", "i", pause)
			for _, l := range strings.Split(x.view(), "\n") {
				if strings.HasPrefix(l, "│ answer     nothing") {
					t.Fatalf("%s, %d spaces: %q", name, pad, l)
				}
			}
		}
	}
}
