package views_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// long gives the approval arguments of n lines, the last of which decides.
func long(n int) func(*viewstest.Backend) {
	return func(b *viewstest.Backend) {
		ref := viewstest.Ref("order-9")
		p := b.Plans[ref]
		e := &p.Review[0]
		e.Lines = []viewer.Line{{Text: fmt.Sprintf("{%d keys}", n), Children: n}}
		for i := range n - 1 {
			e.Lines = append(e.Lines, viewer.Line{Depth: 1, Key: fmt.Sprintf("k%d", i), Text: "0"})
		}
		e.Lines = append(e.Lines, viewer.Line{Depth: 1, Key: "amount_total", Text: "1000000"})
		e.Bytes = 12345
		b.Plans[ref] = p
	}
}

func TestScenario19ApproveWaitsForTheEnd(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, long(300))
	x.keys("j", "a")
	x.settle()
	x.sees("12345 bytes in 300 lines", "enter approve: not yet, read to the end first", "more lines")
	x.golden("approve_long_80x24")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
	for range 60 {
		x.keys("pgdown")
	}
	x.sees("amount_total", "1000000", "end ✓")
	x.keys("g") // what was read stays read
	x.keys("enter")
	same(t, len(x.backend.Acted), 1)
}

func TestScenario19LongLinesAndSpacesAreNotCut(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("order-9")]
		p.Review[0].Lines = []viewer.Line{{Text: "ls" + strings.Repeat(" ", 4000) + "&& rm"}}
		b.Plans[viewstest.Ref("order-9")] = p
	})
	x.keys("j", "a")
	x.settle()
	x.seesNot("&& rm")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
	for range 30 {
		x.keys("pgdown")
	}
	x.sees("&& rm")
	x.keys("enter")
	same(t, len(x.backend.Acted), 1)
}

func TestScenario19OtherTextMustBeReadAgain(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, long(100), func(b *viewstest.Backend) {
		b.Revealed = map[viewer.Ref]viewer.Plan{}
		p := b.Plans[viewstest.Ref("order-9")]
		e := p.Review[0]
		e.Lines = append([]viewer.Line{{Depth: 1, Key: "card", Text: "4242424242424242"}}, e.Lines...)
		e.Masked = 0
		p.Review = []viewer.ReviewEntry{e}
		b.Revealed[viewstest.Ref("order-9")] = p
	})
	x.keys("j", "a")
	x.settle()
	x.keys("G") // what lies between was not on the screen
	x.sees("enter approve: not yet, read to the end first", "lines above were not on the screen yet")
	x.keys("g")
	for range 20 {
		x.keys("pgdown")
	}
	x.seesNot("read to the end first")
	x.keys("s")
	x.settle()
	x.sees("4242424242424242", "read to the end first")
	x.keys("s")
	x.seesNot("4242424242424242")
}

func TestScenario19DenyTakesTwoKeysAndANote(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, long(300))
	x.keys("j", "a")
	x.settle()
	x.keys("ctrl+d")
	x.sees("deny it? enter denies, esc goes back")
	x.golden("deny_80x24")
	x.keys(pause, "enter", pause, "enter") // unread
	same(t, len(x.backend.Acted), 0)
	x.keys("esc")
	x.seesNot("deny it?")
	for range 60 {
		x.keys("pgdown")
	}
	x.keys("ctrl+d", "tab", "n", "o", "ctrl+d", "enter", pause, "enter")
	same(t, x.backend.Acted, []viewer.Request{{Ref: viewstest.Ref("order-9"), Action: viewer.Deny, Target: "pay.1", Version: "order-9@2", Note: "no"}})
}

// several gives the run three questions whose texts differ only in the amount.
func several(b *viewstest.Backend) {
	ref := viewstest.Ref("trip-2")
	p := b.Plans[ref]
	p.Review = nil
	for i, amount := range []int{10, 100, 1000} {
		p.Review = append(p.Review, viewer.ReviewEntry{Digest: fmt.Sprintf("%02d3f9a0b", i), Waiting: viewer.Waiting{
			Type: viewer.WaitInterrupt, ID: fmt.Sprintf("ask.%d", i), Prompt: fmt.Sprintf("Pay %d?", amount), Node: "ask", Choices: []string{"yes", "no"},
		}})
	}
	b.Plans[ref] = p
}

func TestScenario16OneOfSeveralIsChosenFirst(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, several)
	x.keys("j", "j", "i")
	x.settle()
	x.sees("3 are open. Which one?", "Pay 10?", "Pay 1000?", "ask.2", "sha256 013f9a0b")
	x.golden("choose_80x24")
	x.keys("j", "enter")
	x.sees("Pay 100?")
	x.seesNot("Pay 10?", "Pay 1000?")
	x.keys(pause, "j", "enter")
	same(t, x.backend.Acted, []viewer.Request{{Ref: viewstest.Ref("trip-2"), Action: viewer.Answer, Target: "ask.1", Version: "trip-2@2", Value: []byte(`"no"`)}})
}

func TestScenario16EscGoesBackToTheChoice(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, several)
	x.keys("j", "j", "i")
	x.settle()
	x.keys("enter", "esc")
	x.sees("Which one?")
	x.keys("esc")
	x.seesNot("Which one?")
}
