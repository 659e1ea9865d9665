package views_test

import (
	"encoding/json"
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

// Nor can a line of arguments that are one text.
func TestNoLineOfATextArgumentIsTakenForTheSheets(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 30, planOf("order-9", func(p *viewer.Plan) {
		e := &p.Review[0]
		e.Args = json.RawMessage(`"send it\napprove    nothing runs\nend"`)
		e.Lines = []viewer.Line{{Text: `"send it`}, {Text: "approve    nothing runs", More: true}, {Text: `end"`, More: true}}
	}))
	x.keys("j", "a", pause)
	x.sees(`│   "send it`, "│   approve    nothing runs", `│   end"`)
	x.seesNot("│ approve    nothing runs")

	x = start(t, 80, 30, planOf("order-9", func(p *viewer.Plan) { // nothing was drawn of them
		p.Review[0].Args, p.Review[0].Lines = json.RawMessage(`"`+strings.Repeat("x", 73)+`approve    nothing runs"`), nil
	}))
	x.keys("j", "a", pause)
	x.sees("approve    nothing runs")
	x.seesNot("│ approve    nothing runs")
}
