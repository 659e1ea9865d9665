package views_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// approving gives the approval of order-9 other arguments.
func approving(change func(*viewer.ReviewEntry)) func(*viewstest.Backend) {
	return func(b *viewstest.Backend) {
		ref := viewstest.Ref("order-9")
		p := b.Plans[ref]
		p.Review = append([]viewer.ReviewEntry(nil), p.Review...)
		change(&p.Review[0])
		b.Plans[ref] = p
	}
}

// shownOf is all that the sheet showed on the way to its end, without the frame
// and without where lines are broken.
func (x *harness) shownOf() string {
	var all strings.Builder
	for range 60 {
		for _, l := range strings.Split(x.view(), "\n") {
			if inner, ok := strings.CutPrefix(l, "│ "); ok {
				inner, _, _ = strings.Cut(inner, "│")
				all.WriteString(strings.TrimSpace(inner))
			}
		}
		x.keys("j")
	}
	return all.String()
}

// Of what is approved nothing is cut, whatever it is called and however deep it
// lies: the tool, its id, every key and every value.
func TestScenario19NothingThatIsApprovedIsCut(t *testing.T) {
	t.Parallel()
	long := func(name string) string { return name + strings.Repeat("_0123456789", 20) + "_end_of_" + name }
	x := start(t, 80, 24, approving(func(e *viewer.ReviewEntry) {
		e.Tool, e.ID, e.Node = long("tool"), long("id"), long("node")
		e.Lines = []viewer.Line{{Text: "{2 keys}", Children: 3}, {Depth: 1, Key: long("key"), Text: long("value")},
			{Depth: 1, Key: "amount ", Text: "1"}, {Depth: 40, Key: long("deep"), Text: "2"}}
	}))
	x.keys("j", "a", pause)
	shown := x.shownOf()
	for _, name := range []string{"tool", "id", "node", "key", "value", "deep"} {
		if !strings.Contains(shown, long(name)) {
			t.Errorf("the %s is cut:\n%s", name, shown)
		}
	}
	for _, want := range []string{`"amount "`, "(level 40) deep"} {
		if !strings.Contains(shown, want) {
			t.Errorf("no %s:\n%s", want, shown)
		}
	}
	x.keys("enter")
	same(t, len(x.backend.Acted), 1)
}

// Many open approvals fit the window, the one under the cursor is among those
// that are shown, and what they differ in is not cut.
func TestScenario16ManyAreOpen(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		ref := viewstest.Ref("order-9")
		p := b.Plans[ref]
		p.Review = nil
		for i := range 60 {
			args := fmt.Sprintf(`{"memo":%q,"amount":%d}`, strings.Repeat("same ", 4000), 1000+i)
			p.Review = append(p.Review, viewer.ReviewEntry{Digest: fmt.Sprintf("%064d", i), Bytes: len(args), Waiting: viewer.Waiting{
				Type: viewer.WaitApproval, ID: fmt.Sprintf("pay.%d", i), Tool: "charge_card", Node: "pay", Args: json.RawMessage(args),
			}})
		}
		b.Plans[ref] = p
	})
	x.keys("j", "a", pause)
	x.golden("choose_many_80x24")
	for range 30 {
		x.keys("j")
	}
	x.exact(80, 24)
	x.sees("60 are open. Which one?", "▸ approve charge_card  pay.30", `"amount":1030}`, "26 above", "26 below", "enter shows all of it")
	x.keys("enter", pause)
	x.sees("id pay.30", "not yet, read to the end first")
	same(t, len(x.backend.Acted), 0)
}

// Where a long sentence leaves no room for what is decided on, it cannot be
// decided; in a higher window it can.
func TestScenario19LowWindow(t *testing.T) {
	t.Parallel()
	x := start(t, 60, 16, func(b *viewstest.Backend) {
		b.Rows[1].Actions = []viewer.Offer{{Action: viewer.Approve, Target: "pay.1", StoreOnly: true}, {Action: viewer.Deny, Target: "pay.1", StoreOnly: true}}
	})
	x.keys("j", "a")
	x.backend.Err = viewer.Problem{Code: "failed", Message: strings.Repeat("the store is slow. ", 30)}
	x.changed()
	x.keys(pause)
	x.exact(60, 16)
	x.sees("enter approve: not yet, the window is too low to show it")
	x.seesNot("amount")
	for range 20 {
		x.keys("pgdown")
	}
	x.keys("enter", pause, "enter", "ctrl+d", pause, "enter", pause)
	same(t, len(x.backend.Acted), 0)
	x.send(tea.WindowSizeMsg{Width: 80, Height: 40})
	x.seesNot("not yet")
	x.keys(pause, "enter")
	same(t, len(x.backend.Acted), 1)
}
