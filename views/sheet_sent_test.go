package views_test

import (
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// What was decided stands beside what became of it.
func TestResultSaysWhatWasDecided(t *testing.T) {
	t.Parallel()
	done := func(b *viewstest.Backend) { b.Outcome = viewer.Outcome{Outcome: "it is stored; the run goes on"} }
	for name, c := range map[string]struct {
		keys []string
		want string
	}{
		"answer":  {[]string{"j", "j", "i", pause, "j", "enter"}, "your answer to approved: no"},
		"approve": {[]string{"j", "a", pause, "tab", "o", "k", "enter", pause, "enter"}, "approve charge_card, pay.1  note: ok"},
		"deny":    {[]string{"j", "a", pause, "ctrl+d", pause, "enter"}, "deny charge_card, pay.1"},
		"resolve": {[]string{"e", pause, "tab", "7", "enter", pause, "enter"}, "send.1 returned 7"},
		"not run": {[]string{"e", pause, "j", pause, "enter"}, "send.1 did not run"},
	} {
		x := start(t, 80, 24, done)
		x.keys(c.keys...)
		if !strings.Contains(x.view(), "it is stored; the run goes on") || !strings.Contains(x.view(), c.want) {
			t.Errorf("%s: no %q in\n%s", name, c.want, x.view())
		}
	}
}

// After a message the reply is read where the message was written: from its
// start, in its lines, to its end.
func TestReplyIsShownWhereTheMessageWasSent(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("trip-2")]
		p.Review[0].Turn, p.Review[0].Choices = true, nil
		b.Outcome = viewer.Outcome{
			Outcome: "answered; the run waits at step 3", Reply: "Dear you,\n" + strings.Repeat("more\n", 30) + "yours",
			Waiting: []viewer.Waiting{{Type: viewer.WaitInterrupt, ID: "turn.2", Turn: true}},
		}
	})
	x.keys("j", "j", "i", pause, "enter", "h", "i", "enter", pause, "enter")
	x.sees("your message: hi", "│ Dear you,")
	x.seesNot("yours")
	x.keys("G")
	x.sees("│ yours")
	x.exact(80, 24)
}
