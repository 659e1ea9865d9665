package views_test

import (
	"testing"

	"github.com/flowtui/flowtui/viewer"
)

// Enter is for what the sheet asks. When a key made it ask something else, an enter
// that follows at typing speed was typed for what it asked before.
func TestEnterIsNotForWhatTheSheetCameToAsk(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		open   []string
		typed  []string // at typing speed, ends with enter
		asks   string
		action viewer.Action
	}{
		"unchecked":           {[]string{"j", "j", "i", pause, "j", "j", "j", "enter", "n", "o", "n", "enter", pause}, []string{"u", "enter"}, "Send it all the same?", viewer.Answer},
		"unchecked, typed on": {[]string{"j", "j", "i", pause, "j", "j", "j", "enter", "t", "o", "enter", pause}, []string{"y", "o", "u", "enter"}, "Send it all the same?", viewer.Answer},
		"deny":                {[]string{"j", "a", pause}, []string{"ctrl+d", "enter"}, "deny it?", viewer.Deny},
		"it did not run":      {[]string{"e", pause}, []string{"j", "enter"}, "enter it did not run", viewer.Resolve},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24)
			x.keys(c.open...)
			x.keys(c.typed...)
			same(t, len(x.backend.Acted), 0)
			x.sees(c.asks, "look, then press enter again")
			x.keys("enter", "enter") // nor one of several
			same(t, len(x.backend.Acted), 0)
			x.keys(pause, "enter")
			same(t, len(x.backend.Acted), 1)
			same(t, x.backend.Acted[0].Action, c.action)
		})
	}
}

// A move among the choices asks the same as before: enter takes the one under the
// cursor at once. An enter that only leads to a text field needs no pause either.
func TestEnterForTheSameQuestionNeedsNoPause(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24)
	x.keys("j", "j", "i", pause, "j", "enter")
	same(t, len(x.backend.Acted), 1)
	same(t, string(x.backend.Acted[0].Value), `"no"`)
	x = start(t, 80, 24)
	x.keys("j", "j", "i", pause, "j", "j", "j", "enter", "h", "i")
	x.sees("answer hi")
}
