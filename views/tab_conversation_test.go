package views_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

func TestConversationGolden(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {200, 50}} {
		for name, keys := range map[string][]string{
			"overview":     {"enter"},
			"conversation": {"enter", "7"},
			"top":          {"enter", "7", "g"},
			"past":         {"enter", "7", "{", "{"},
			"call":         {"enter", "7", "k", "k", "k", "k", "enter"},
			"message":      {"enter", "7", "g", "j", "j", "enter"},
		} {
			name := fmt.Sprintf("talk_%s_%dx%d", name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				x := start(t, size[0], size[1], viewstest.Concierge)
				x.keys(keys...)
				x.golden(name)
			})
		}
	}
}

func TestConversationASCII(t *testing.T) {
	t.Parallel()
	x := opened(t, 200, 50, true, viewstest.Concierge, func(b *viewstest.Backend) {
		b.Rows[0].Waiting[0].Args = nil
		b.Talks[viewstest.Ref("ask-5")] = func(step int64, _ bool) viewer.Conversation { return viewstest.Conversation(step, true) }
		for i := range b.CallLog[viewstest.Ref("ask-5")] { // the mask of a secret is data
			b.CallLog[viewstest.Ref("ask-5")][i].Args = nil
		}
	})
	x.run()
	x.keys("enter", "7", "g", "{", "k", "j")
	for range 20 {
		x.keys("j")
		for _, r := range x.view() {
			if r > 0x7e {
				t.Fatalf("%q in\n%s", r, x.view())
			}
		}
	}
}

// The tabs of a run without a conversation stay as they are; with one, it is the
// last, and the others keep their numbers.
func TestConversationIsTheLastTab(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Concierge)
	x.keys("j", "enter")
	x.seesNot("Conversation")
	x.keys("7")
	x.sees("▸1 Overview")
	x.keys("esc", "k", "enter")
	for _, c := range []struct{ key, tab string }{
		{"6", "▸6 Verify"}, {"]", "▸7 Conversation"}, {"]", "▸1 Overview"}, {"[", "▸7 Conversation"}, {"4", "▸4 State"}, {"7", "▸7 Conversation"}, {"8", "▸7 Conversation"},
	} {
		x.keys(c.key)
		x.sees(c.tab)
	}
}

// talked opens the run ask-5 on its conversation.
func talked(t *testing.T, h int, change ...func(*viewstest.Backend)) *harness {
	t.Helper()
	x := start(t, 80, h, append([]func(*viewstest.Backend){viewstest.Concierge}, change...)...)
	x.keys("enter", "7")
	return x
}

func TestConversationScrollsLineByLine(t *testing.T) {
	t.Parallel()
	x := talked(t, 24)
	x.sees("▸             {\"to\":\"alice@example.org\"}") // the end is in sight
	x.seesNot("system")
	x.keys("k")
	x.sees("▸           email_tickets")
	x.keys("g")
	x.sees("▸ system    You book")
	x.keys("k", "j", "j")
	x.sees("▸ user      Two seats")
	x.keys("pgdown")
	x.seesNot("system")
	x.keys("pgup")
	x.sees("▸ user      Two seats")
	x.keys("ctrl+d", "ctrl+u")
	x.sees("▸ user      Two seats")
	x.keys("G")
	x.sees("▸             {\"to\":\"alice@example.org\"}")
}

// At the end it follows what comes; elsewhere the cursor stays on its line.
func TestConversationFollowsAtTheEnd(t *testing.T) {
	t.Parallel()
	x := talked(t, 24)
	ref := viewstest.Ref("ask-5")
	say := func(text string) {
		x.backend.Lock()
		before := x.backend.Talks[ref]
		x.backend.Talks[ref] = func(step int64, reveal bool) viewer.Conversation {
			v := before(step, reveal)
			v.Messages = append(v.Messages, viewer.Message{N: len(v.Messages) + 1, Role: "assistant", Text: text})
			return v
		}
		d := x.backend.Details[ref]
		d.Version += "+"
		x.backend.Details[ref] = d
		x.backend.Unlock()
		x.changed()
	}
	say("one more thing")
	x.sees("▸ assistant one more thing")
	x.keys("g", "j", "j")
	say("and another")
	x.sees("▸ user      Two seats", "10 messages")
	x.keys("G")
	x.sees("▸ assistant and another")
}

func TestConversationGoesThroughTime(t *testing.T) {
	t.Parallel()
	x := talked(t, 24)
	x.keys("{", "{", "{", "{")
	x.sees("at step 2 of 6", "4 messages at step 2", "the past: step 2 of 6", "L latest step")
	x.seesNot("charge_card", "approve charge_card")
	x.keys("h", "h")
	x.sees("at step 0 of 6", "2 messages at step 0")
	x.seesNot("find_seats")
	x.keys("1") // the overview is of the newest step
	x.sees("Model They are held.")
	x.keys("7")
	x.sees("2 messages at step 0")
	x.keys("L")
	x.sees("8 messages at step 6", "‖ approve charge_card  tools.1")
}

// A message of the past is not mistaken for the step that is wanted.
func TestConversationOfALateReply(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Concierge)
	x.keys("enter")
	x.press("7")
	x.press("{")
	x.press("{")
	x.run()
	x.sees("at step 4 of 6", "7 messages at step 4")
}

func TestConversationSecrets(t *testing.T) {
	t.Parallel()
	x := talked(t, 24)
	x.sees("••••4242", "secrets masked: 1")
	x.keys("k", "k", "s")
	x.sees("4242424242424242", "secrets shown")
	x.keys("1")
	x.sees("secrets shown") // what the overview tells was read with them
	x.keys("7")
	x.backend.Err = errors.New("demo.db is locked")
	x.keys("s") // hiding needs no store
	x.seesNot("4242424242424242", "secrets shown")
	x.backend.Err = nil
	x.wait(5 * time.Second)
	x.sees("••••4242")
	x.sees("▸             secrets masked: 1") // and the cursor is where it was
}

func TestConversationDeadStoreKeepsWhatWasRead(t *testing.T) {
	t.Parallel()
	x := talked(t, 24)
	x.backend.Err = errors.New("demo.db is locked")
	x.changed()
	x.sees("demo.db is locked (since", "They are held.", "not now: the run cannot be read")
	x.backend.Err = nil
	x.wait(5 * time.Second)
	x.seesNot("locked")
	x.sees("a approve or deny")
}

// A conversation that cannot be read greys nothing else of the run.
func TestOverviewOfAConversationThatCannotBeRead(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, viewstest.Concierge)
	x.backend.TalkErr = viewer.Problem{Code: "corrupt", Message: "step 6: row is unreadable"}
	x.keys("enter")
	x.sees("Talk  the conversation cannot be read: step 6: row is unreadable", "a  approve charge_card", "live")
	x.keys("7")
	x.sees("step 6: row is unreadable", "next try in")
	x.backend.TalkErr = nil
	x.wait(5 * time.Second)
	x.sees("They are held.")
	x.keys("1")
	x.sees("Model They are held.")
}

// twoCards lets the newest reply ask for two payments, of which the second one
// is much the longer.
func twoCards(b *viewstest.Backend) {
	ref := viewstest.Ref("ask-5")
	args := make(map[string]string)
	for i := range 200 {
		args[fmt.Sprintf("item_%03d", i)] = "a ticket"
	}
	args["zz_amount_total"] = "1000000"
	raw, _ := json.Marshal(args)
	b.Talks[ref] = func(step int64, reveal bool) viewer.Conversation {
		v := viewstest.Conversation(step, reveal)
		calls := v.Messages[7].Calls
		second := calls[0]
		second.ID, second.Call, second.Approval, second.Digest, second.Args = "c6", "tools.3", "tools.3", "77aa", raw
		v.Messages[7].Calls = append(calls, second)
		return v
	}
	p := b.Plans[ref]
	e := viewer.ReviewEntry{Waiting: viewer.Waiting{Type: viewer.WaitApproval, ID: "tools.3", Tool: "charge_card", Node: "tools", Args: raw}, Bytes: len(raw), Digest: "77aa",
		Lines: []viewer.Line{{Text: "{201 keys}", Children: 201}}, Since: viewstest.Now}
	for i := range 200 {
		e.Lines = append(e.Lines, viewer.Line{Depth: 1, Key: fmt.Sprintf("item_%03d", i), Text: `"a ticket"`})
	}
	e.Lines = append(e.Lines, viewer.Line{Depth: 1, Key: "zz_amount_total", Text: `"1000000"`})
	p.Review = append(p.Review, e)
	b.Plans[ref] = p
	b.Rows[0].Waiting = append(b.Rows[0].Waiting, e.Waiting)
	b.Rows[0].Actions = append(b.Rows[0].Actions, viewer.Offer{Action: viewer.Approve, Target: "tools.3", Title: "approve charge_card"})
	d := b.Details[ref]
	d.Row = b.Rows[0]
	b.Details[ref] = d
}

// Scenario 19: what the conversation folds can all be read before it is approved,
// and the sheet opens on the call under the cursor.
func TestScenario19OfAPendingToolCall(t *testing.T) {
	t.Parallel()
	x := talked(t, 24, twoCards)
	x.sees("more, enter opens it", "‖ approve charge_card  tools.1", "‖ approve charge_card  tools.3")
	x.seesNot("zz_amount_total")
	x.keys("a")
	x.settle()
	x.sees("charge_card wants your approval", "id tools.3", "enter approve: not yet, read to the end first")
	x.golden("talk_approve_80x24")
	x.keys("enter")
	same(t, len(x.backend.Acted), 0)
	for range 60 {
		x.keys("pgdown")
	}
	x.sees("zz_amount_total", "1000000", "end ✓")
	x.keys(pause, "enter")
	same(t, x.backend.Acted, []viewer.Request{{Ref: viewstest.Ref("ask-5"), Action: viewer.Approve, Target: "tools.3", Version: "ask-5@2"}})
}

// The call under the cursor is meant, and no other one: not on its own line, not
// when it was decided meanwhile, not when one of its name asks something else.
func TestConversationApprovesTheCallUnderTheCursor(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		keys   []string
		change func(p *viewer.Plan)
		want   []string
		not    string
		acted  []string // by one enter
	}{
		"the first":        {keys: []string{"k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k", "k"}, want: []string{"id tools.1", "249.00"}, not: "item_000", acted: []string{"tools.1"}},
		"on the Calls tab": {keys: []string{"3", "G"}, want: []string{"id tools.1", "249.00"}, not: "item_000", acted: []string{"tools.1"}},
		"a message":        {keys: []string{"g"}, want: []string{"2 are open. Which one?"}},
		"decided already":  {change: func(p *viewer.Plan) { p.Review = p.Review[:1] }, want: []string{"tools.3 is not open any more.", "1 is open. Is it this one?"}, not: "wants your approval"},
		"another one":      {change: func(p *viewer.Plan) { p.Review[1].Digest = "other" }, want: []string{"tools.3 is not open any more.", "2 are open. Which one?"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := talked(t, 30, twoCards)
			x.keys(c.keys...)
			if c.change != nil {
				p := x.backend.Plans[viewstest.Ref("ask-5")]
				c.change(&p)
				x.backend.Plans[viewstest.Ref("ask-5")] = p
			}
			x.keys("a")
			x.settle()
			x.sees(c.want...)
			if c.not != "" {
				x.seesNot(c.not)
			}
			x.keys("enter", pause)
			var acted []string
			for _, r := range x.backend.Acted {
				acted = append(acted, r.Target)
			}
			same(t, acted, c.acted)
		})
	}
}

// A conversation of any size costs what can be seen of it.
func TestConversationOfAnySizeCostsTheScreen(t *testing.T) {
	frame := func(messages, bytes int) float64 {
		v := viewer.Conversation{Step: 6, Key: "messages", Latest: true, Messages: make([]viewer.Message, messages)}
		for i := range v.Messages {
			v.Messages[i] = viewer.Message{N: i + 1, Role: "user", Text: fmt.Sprintf("message %d", i+1)}
		}
		v.Messages[messages-3].Text = strings.Repeat("é", bytes/2)
		x := talked(t, 24, func(b *viewstest.Backend) {
			b.Talks[viewstest.Ref("ask-5")] = func(int64, bool) viewer.Conversation { return v }
		})
		x.sees(fmt.Sprintf("▸ user      message %d", messages), "more, enter opens it")
		x.exact(80, 24)
		return testing.AllocsPerRun(5, func() {
			x.press("k")
			_ = x.view()
			x.press("j")
			_ = x.view()
		})
	}
	if small, big := frame(20, 20<<10), frame(10_000, 5<<20); big > 2*small {
		t.Errorf("a frame takes %.0f allocations with a large conversation, %.0f with a small one", big, small)
	}
}

// What is left out is said, with its size, and the rest can be opened.
func TestConversationSaysWhatItLeavesOut(t *testing.T) {
	t.Parallel()
	v := viewer.Conversation{Step: 6, Key: "messages", Latest: true, Others: []string{"archive"}, Messages: []viewer.Message{
		{N: 1, Role: "user", Text: strings.Repeat("x", 5<<20)},
		{N: 2, Odd: "it is no object", Value: json.RawMessage(`"` + strings.Repeat("y", 1<<10) + `"`)},
		{N: 3, Role: "user", Text: "hello", Rest: []string{"name"}},
		{N: 4, Role: "tool", Text: "late", Answers: "c9"},
	}}
	x := talked(t, 24, func(b *viewstest.Backend) {
		b.Talks[viewstest.Ref("ask-5")] = func(int64, bool) viewer.Conversation { return v }
	})
	x.sees("5.0 MB more, enter opens it", "no message, it is no object:", "822 bytes more, enter opens it", "with other keys: name", "the result of c9", "messages also in archive")
	x.keys("g", "enter")
	x.sees("message 1 of 4", "more lines")
	x.keys("G")
	x.sees("(4.9 MB more left out, flowtui state prints all)")
}
