package views_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
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

// The line that says that one more is hidden is not worth that line.
func TestOneLineMoreIsShown(t *testing.T) {
	t.Parallel()
	for keys, want := range map[int]string{6: "}", 7: "2 more lines, the sheet of the action shows all"} {
		x := start(t, 80, 40, func(b *viewstest.Backend) {
			args := map[string]int{}
			for i := range keys + 1 {
				args[string(rune('a'+i))] = i
			}
			ref := viewstest.Ref("order-9")
			d := b.Details[ref]
			d.Row = b.Rows[1]
			d.Waiting = []viewer.Waiting{d.Row.Waiting[0]}
			d.Waiting[0].Args, _ = json.Marshal(args)
			b.Details[ref] = d
		})
		x.keys("j", "enter")
		x.sees(`"a": 0`, want)
		if keys == 6 {
			x.seesNot("more line")
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
