package views

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// stood writes how the calls stand in each row of a timeline.
func stood(rows []timeRow) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(strings.Join(nonEmpty(r.name, r.divider), " ") + ":")
		for _, c := range r.calls {
			b.WriteString(" " + c.ID + "=" + string(c.State))
		}
		b.WriteString(prefixed(" ", r.note) + "\n")
	}
	return b.String()
}

// Each step shows how a call stood then: bob's waits while alice's is approved and
// made, and is denied only in the end.
func TestTimelineShowsCallsAsTheyStoodThen(t *testing.T) {
	t.Parallel()
	asked := func(h viewer.HistoryStep, ids ...string) viewer.HistoryStep {
		for _, id := range ids {
			node, _, _ := strings.Cut(id, ".")
			h.Asks = append(h.Asks, viewer.Asked{ID: id, Node: node, Tool: "pay"})
		}
		return paused(h)
	}
	decided := func(step int64, at float64, d viewer.Decided) viewer.HistoryStep {
		h := claimed(step, 1, at)
		h.Decided = []viewer.Decided{d}
		return h
	}
	history := []viewer.HistoryStep{
		saved(0, 1, 0, "alice bob"),
		asked(saved(1, 1, 1, "alice bob", ran("alice", 0, 1), ran("bob", 0, 1)), "alice.1", "bob.1"),
		decided(2, 5, viewer.Decided{Type: "approve", ID: "alice.1", Tool: "pay", By: "ana"}),
		asked(saved(3, 1, 7, "alice bob", ran("alice", 5, 7), ran("bob", 5, 7)), "bob.1"),
		decided(4, 9, viewer.Decided{Type: "deny", ID: "bob.1", Tool: "pay", By: "bo", Note: "wrong iban"}),
		{Step: 5, Segment: 1, Status: "failed", Time: sec(10), At: []string{"bob"}, Nodes: []viewer.NodeRun{ran("alice", 9, 10), ran("bob", 9, 10)}},
	}
	bob := called(0, 1, "bob.1", "pending", "w1", 7, 0)
	bob.State = viewer.CallDenied
	got := stood(timelineOf(history, []viewer.Call{called(0, 1, "alice.1", "done", "w1", 5, 6), bob}, present{}))
	want := "start:\nalice: alice.1=waiting\nbob: bob.1=waiting paused at alice, bob\n" +
		"decision: ana approved pay (alice.1)\n" +
		"alice: alice.1=done\nbob: bob.1=waiting paused at alice, bob\n" +
		"decision: bo denied pay (bob.1): wrong iban\n" +
		"alice:\nbob: bob.1=denied\n"
	if got != want {
		t.Fatalf("got\n%swant\n%s", got, want)
	}
}

// An answer is told by the key under which it lands.
func TestTimelineTellsWhoAnswered(t *testing.T) {
	t.Parallel()
	h := claimed(2, 1, 5)
	h.Decided = []viewer.Decided{{Type: "answer", ID: "ask#1", Key: "ok", By: "ana"}}
	got := stood(timelineOf([]viewer.HistoryStep{saved(0, 1, 0, "ask"), paused(saved(1, 1, 1, "ask", ran("ask", 0, 1))), h}, nil, present{}))
	if want := "start:\nask: paused at ask\ndecision: ana answered ok\n"; got != want {
		t.Fatalf("got\n%swant\n%s", got, want)
	}
}

// ranAgain is the call of a run that was recovered though it was in doubt.
func ranAgain() viewer.Call {
	c := called(0, 2, "a.1", "done", "w2", 1140, 1141)
	at := sec(1)
	c.Before = []viewer.Attempt{{Segment: 1, Status: "started", State: viewer.CallInDoubt, Started: &at, By: "w1", Why: "was in doubt since 09:00:01 UTC, run again by ana"}}
	return c
}

// What was in doubt is drawn where its worker was cut off, and again where it was
// made again.
func TestTimelineShowsACallThatRanAgainTwice(t *testing.T) {
	t.Parallel()
	history := []viewer.HistoryStep{saved(0, 1, 0, "a"), claimed(1, 2, 1140), saved(2, 2, 1141, "", ran("a", 1140, 1141))}
	rows := timelineOf(history, []viewer.Call{ranAgain()}, present{})
	want := "start:\na: a.1=in-doubt\nw2 claimed segment 2, 18 minutes later:\na: a.1=done\n"
	if got := stood(rows); got != want || !rows[1].cut {
		t.Fatalf("got\n%swant\n%s", got, want)
	}
}

// The list and the call say so too, and the timeline beside the bar.
func TestACallThatRanAgainSaysSoEverywhere(t *testing.T) {
	t.Parallel()
	r := openRun(t, func(b *viewstest.Backend) {
		for ref := range b.CallLog {
			log := viewstest.Calls()
			again := ranAgain()
			log[3].Before = again.Before
			b.CallLog[ref] = log
		}
	})
	r.SetSize(200, 22)
	for keys, want := range map[string]string{
		"2":     "write_log ✓ 200ms, was in doubt since 09:00:01 UTC, run again by ana",
		"3":     "✓ done, maybe twice",
		"3jjjE": "Again was in doubt since 09:00:01 UTC, run again by ana",
	} {
		for _, k := range keys {
			r.press(strings.ReplaceAll(string(k), "E", "enter"))
		}
		if text := r.View(); !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", keys, want, text)
		}
		r.Update(tea.KeyMsg{Type: tea.KeyEsc})
	}
}
