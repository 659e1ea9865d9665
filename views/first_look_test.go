package views_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/views/viewstest"
)

// A sentence that does not fit below the list does not look as if it ended there.
func TestCutSentenceIsMarked(t *testing.T) {
	t.Parallel()
	for name, why := range map[string]string{"Next is cut": "it stands", "all of Next": strings.Repeat("why it stands ", 20)} {
		x := start(t, 80, 24, func(b *viewstest.Backend) {
			b.Rows[0].Why, b.Rows[0].Next = why, strings.Repeat("look and ", 30)
		})
		x.exact(80, 24)
		if last := x.lastOfPreview(); !strings.HasSuffix(last, "…") {
			t.Errorf("%s: %q ends the text below the list:\n%s", name, last, x.view())
		}
	}
	x := start(t, 80, 24, func(b *viewstest.Backend) {
		b.Rows[0].Why = strings.Repeat("why it stands ", 9) // two lines, and Next has one
	})
	if last := x.lastOfPreview(); strings.HasSuffix(last, "…") {
		t.Errorf("%q is whole:\n%s", last, x.view())
	}
}

// lastOfPreview is the line above the rule and the footer.
func (x *harness) lastOfPreview() string {
	lines := strings.Split(x.view(), "\n")
	return strings.TrimRight(lines[len(lines)-3], " ")
}

// waitingFor lets order-9 wait for approvals of calls with so many arguments each.
func waitingFor(calls, keys int) func(*viewstest.Backend) {
	return func(b *viewstest.Backend) {
		args := map[string]int{}
		for i := range keys {
			args[string(rune('a'+i))] = i
		}
		raw, _ := json.Marshal(args)
		ref := viewstest.Ref("order-9")
		d := b.Details[ref]
		d.Row = b.Rows[1]
		w := d.Row.Waiting[0]
		w.Args, d.Waiting = raw, nil
		for range calls {
			d.Waiting = append(d.Waiting, w)
		}
		b.Details[ref] = d
	}
}

// All that is asked is shown where there is room for it. Where there is not, the
// line that says that one more is hidden is not worth that line.
func TestArgumentsAreCutOnlyForWantOfRoom(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w, h, calls, keys int
		hidden            string // "" for nothing
	}{
		{200, 50, 3, 3, ""},
		{80, 24, 1, 7, ""}, // 9 lines, of which 8 are promised
		{80, 24, 1, 8, "2 more lines, the sheet of the action shows all"},
		{80, 40, 1, 8, ""},
		{80, 24, 3, 5, "4 more lines, the sheet of the action shows all"},
	} {
		x := start(t, c.w, c.h, waitingFor(c.calls, c.keys))
		x.keys("j", "enter")
		x.sees(`"a": 0`)
		switch {
		case c.hidden != "":
			x.sees(c.hidden)
		case strings.Count(x.view(), fmt.Sprintf(`"%c": %d`, 'a'+c.keys-1, c.keys-1)) != c.calls:
			t.Errorf("%+v: an argument is missing\n%s", c, x.view())
		default:
			x.seesNot("the sheet of the action")
		}
	}
}

// Room that is left is given to the arguments: what is hidden is no more than has to be.
func TestRoomIsGivenToArguments(t *testing.T) {
	t.Parallel()
	for h := 30; h < 60; h++ {
		x := start(t, 80, h, waitingFor(3, 12))
		x.keys("j", "enter")
		lines := strings.Split(x.view(), "\n")
		empty := 0
		for i := len(lines) - 3; i > 0 && strings.TrimSpace(lines[i]) == ""; i-- { // above the rule and the footer
			empty++
		}
		if strings.Contains(x.view(), "the sheet of the action") && empty >= 3 {
			t.Errorf("%d lines are left, and arguments are hidden, in\n%s", empty, x.view())
		}
	}
}

// In the least window that is drawn, runs of one id are told apart by their owners.
func TestOwnersStayInTheLeastWindow(t *testing.T) {
	t.Parallel()
	x := start(t, 60, 16, shop, func(b *viewstest.Backend) {
		for i, owner := range []string{"alice", "bob"} {
			b.Rows[i].Run, b.Rows[i].Ref.Run = "chat-1", "chat-1"
			b.Rows[i].Owner, b.Rows[i].Ref.Owner = owner, owner
		}
	})
	x.sees("owner")
	for _, owner := range []string{"chat-1      alice", "chat-1      bob"} {
		x.sees(owner)
	}
	x.exact(60, 16)
}
