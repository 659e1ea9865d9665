package views_test

import (
	"errors"
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// Hiding secrets takes effect at once, whether the store answers or not; what was
// typed stays, and nothing is decided on what is out of sight.
func TestSheetHidesSecretsAtOnce(t *testing.T) {
	t.Parallel()
	for name, open := range map[string][]string{"one": {"enter", pause}, "a list": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 30, func(b *viewstest.Backend) {
				ref := viewstest.Ref("order-9")
				secret := func(text string) viewer.Plan {
					p := b.Plans[ref]
					a, other := asked(viewer.WaitApproval, "alice.1", "A"), asked(viewer.WaitApproval, "bob.1", "B")
					a.Args, a.Masked = []byte(`{"key":"`+text+`"}`), 1
					a.Lines = []viewer.Line{{Depth: 1, Key: "key", Text: text}}
					p.Review = []viewer.ReviewEntry{a, other}
					return p
				}
				b.Revealed = map[viewer.Ref]viewer.Plan{ref: secret("CANARY")}
				b.Plans[ref] = secret("masked")
			})
			x.keys("j", "a", pause, "enter", pause, "s", pause)
			x.sees("CANARY")
			x.keys("tab", "o", "k", "enter", pause)
			if open == nil {
				x.keys("esc", pause)
			}
			x.sees("CANARY")
			x.press("s") // the store does not answer
			x.seesNot("CANARY")
			x.backend.Err = errors.New("the store is down")
			x.run()
			x.keys(pause)
			x.seesNot("CANARY")
			x.sees("the store is down")
			n := len(x.backend.Acted)
			x.keys("enter", pause, "enter", pause)
			same(t, len(x.backend.Acted), n)
			x.backend.Err = nil
			x.keys("r", pause)
			x.seesNot("CANARY")
			x.sees("masked")
			if open != nil {
				x.sees("note ok")
			}
		})
	}
}
