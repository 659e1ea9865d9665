package views_test

import (
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// hidden gives the approval of order-9 a card that only a revealed plan shows.
func hidden(b *viewstest.Backend) {
	ref := viewstest.Ref("order-9")
	p := b.Plans[ref]
	e := p.Review[0]
	e.Lines, e.Masked = []viewer.Line{{Depth: 1, Key: "card", Text: "4242424242424242"}}, 0
	p.Review = []viewer.ReviewEntry{e}
	b.Revealed = map[viewer.Ref]viewer.Plan{ref: p}
	b.Talks = nil
	b.CallLog = map[viewer.Ref][]viewer.Call{ref: {{ID: "pay.1", Tool: "charge_card", Status: "pending", State: viewer.CallWaiting, Masked: 1}}}
}

// Who has asked to see secrets sees them in the sheet that is opened from there,
// and hides them there too; who has not does not.
func TestShownSecretsAreShownInTheSheet(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, hidden)
	x.keys("j", "enter", "3", "s")
	x.sees("secrets are shown")
	x.keys("a", pause)
	x.sees("wants your approval", "4242424242424242", "s hide secrets")
	x.keys("s", pause)
	x.seesNot("4242424242424242")
	x.sees("s show secrets")
	x.keys("esc", "s")
	x.sees("secrets are hidden")
	x.keys("a", pause)
	x.sees("wants your approval")
	x.seesNot("4242424242424242")
	x.keys("esc", "esc", "a", pause) // from the list
	x.sees("wants your approval")
	x.seesNot("4242424242424242")
}
