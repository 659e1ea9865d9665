package views_test

import (
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// A masked question is revealed on its sheet, as an approval is.
func TestAMaskedQuestionIsRevealed(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 30, func(b *viewstest.Backend) {
		ref := viewstest.Ref("trip-2")
		plan := func(text string, masked int) viewer.Plan {
			p := b.Plans[ref]
			e := asked(viewer.WaitInterrupt, "ask", "A")
			e.Prompt, e.Text, e.Digest, e.Masked = text, text, "9f2c", masked
			p.Review = []viewer.ReviewEntry{e}
			return p
		}
		b.Plans[ref] = plan("Charge card masked?", 1)
		b.Revealed = map[viewer.Ref]viewer.Plan{ref: plan("Charge card CANARY?", 0)}
	})
	x.keys("/", "t", "r", "i", "p", "enter", pause, "i", pause)
	x.settle()
	x.sees("Charge card masked?", "secrets masked: 1", "s show secrets")
	x.keys("s", pause)
	x.sees("Charge card CANARY?")
}
