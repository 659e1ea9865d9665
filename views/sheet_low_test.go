package views_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// In the lowest window that the screens are made for, what enter would do is on the
// screen when it does it: the choice under the cursor goes before all that is told.
func TestLowWindowShowsWhatEnterDoes(t *testing.T) {
	t.Parallel()
	choices := func(p *viewer.Plan) {
		p.Review[0].Choices = nil
		for i := range 9 {
			p.Review[0].Choices = append(p.Review[0].Choices, fmt.Sprintf("pay %d00", i))
		}
	}
	typed := []string{"tab", "["} // a result and a note of many lines
	for range 6 {
		typed = append(typed, "1", ",", "ctrl+j")
	}
	typed = append(typed, "1", "]", "enter", pause, "n")
	for range 5 {
		typed = append(typed, "x", "ctrl+j")
	}
	typed = append(typed, "x", "enter", pause)
	for name, c := range map[string]struct {
		run    string
		change func(*viewer.Plan)
		open   []string
		then   []string // when all was read
		chosen string
	}{
		"answer":  {"trip-2", choices, []string{"j", "j", "i", pause}, nil, "▸ pay 000"},
		"a later": {"trip-2", choices, []string{"j", "j", "i", pause}, []string{"j", "j", "j", "j"}, "▸ pay 400"},
		"resolve": {"order-7", func(*viewer.Plan) {}, []string{"e", pause}, typed, "▸ it ran"},
		"deny": {"order-9", func(p *viewer.Plan) { p.Review[0].IfNo = strings.Repeat("the run fails and so on ", 30) },
			[]string{"j", "a", pause}, []string{"ctrl+d", pause}, "deny it? enter denies"},
	} {
		for _, production := range []bool{false, true} {
			t.Run(fmt.Sprint(name, production), func(t *testing.T) {
				t.Parallel()
				x := start(t, 60, 16, planOf(c.run, c.change), func(b *viewstest.Backend) { b.Infos[0].Production = production })
				x.keys(c.open...)
				for range 40 {
					x.keys("pgdown")
				}
				x.keys(pause)
				x.keys(c.then...)
				if production {
					x.keys("enter", pause)
					x.keys(strings.Split(c.run, "")...)
					x.keys("enter", pause)
				}
				x.sees(c.chosen)
				x.exact(60, 16)
				x.backend.ActErr = viewer.Problem{Code: "failed", Message: "the store is busy, and nothing was saved", Hint: "try again"}
				for range 2 { // again after it failed
					n := len(x.backend.Acted)
					shown := strings.Contains(x.view(), c.chosen)
					x.keys(pause, "enter", pause)
					switch acted := len(x.backend.Acted) - n; {
					case acted > 0 && !shown:
						t.Fatalf("it acted while %q was out of sight", c.chosen)
					case acted == 0 && shown:
						t.Fatalf("it did not act:\n%s", x.view())
					}
				}
				x.backend.ActErr = viewer.Problem{Code: "failed", Message: strings.Repeat("the store is busy, and nothing was saved; ", 20)}
				x.keys(pause, "enter", pause)
				n := len(x.backend.Acted)
				x.keys(pause, "enter", pause) // now there is no room
				same(t, len(x.backend.Acted), n)
				x.sees("the window is too low to show it")
				x.exact(60, 16)
			})
		}
	}
}

// Choices that look alike where they are cut are told apart, and it is said that
// there are more than are shown.
func TestChoicesAreToldApart(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("7", 200)
	x := start(t, 80, 40, planOf("trip-2", func(p *viewer.Plan) {
		p.Review[0].Choices = nil
		for i := range 12 {
			p.Review[0].Choices = append(p.Review[0].Choices, fmt.Sprintf("pay to %s-%02d-%s", long, i, long))
		}
	}))
	x.keys("j", "j", "i", pause)
	x.sees("▸ choice 1  pay to 777", "  5 below") // 12 and another answer, 8 are shown
	x.seesNot("above")
	x.keys("j", "j", "j", "j", "j", "j")
	x.sees("▸ choice 7  pay to 777", "  2 above", "  3 below")
}
