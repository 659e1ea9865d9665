package views_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// openOf gives a run these open things, and lets an action on one of them take it
// out of the plan and bring the run to its next version.
func openOf(run string, open ...viewer.Waiting) func(*viewstest.Backend) {
	return func(b *viewstest.Backend) {
		ref := viewstest.Ref(run)
		p := b.Plans[ref]
		p.Review = nil
		for _, w := range open {
			p.Review = append(p.Review, viewer.ReviewEntry{Waiting: w, Digest: "d" + w.ID, Since: viewstest.Now})
		}
		b.Plans[ref] = p
		b.Then = func(b *viewstest.Backend, r viewer.Request) {
			p := b.Plans[r.Ref]
			p.Review = slices.DeleteFunc(slices.Clone(p.Review), func(e viewer.ReviewEntry) bool { return e.ID == r.Target })
			b.Plans[r.Ref] = p
			i := slices.IndexFunc(b.Rows, func(row viewer.Row) bool { return row.Ref == r.Ref })
			b.Rows[i].Version += "+"
			b.Outcome = viewer.Outcome{Outcome: r.Target + " is decided"}
		}
	}
}

func doubtOf(id string) viewer.Waiting {
	return viewer.Waiting{Type: viewer.WaitInDoubt, ID: id, Tool: "email_" + id, Node: "send", Args: json.RawMessage(`{"to":"` + id + `"}`)}
}

func approvalOf(id string) viewer.Waiting {
	return viewer.Waiting{Type: viewer.WaitApproval, ID: id, Tool: "charge_" + id, Node: "pay", Args: json.RawMessage(`{"to":"` + id + `"}`)}
}

// requests are what was sent, in a line each.
func (x *harness) requests() []string {
	var list []string
	for _, r := range x.backend.Acted {
		list = append(list, fmt.Sprint(r.Action, " ", r.Target, " ", r.NotRun, " ", r.Version, " ", string(r.Value)))
	}
	return list
}

// Of several calls in doubt one sheet follows the other, and each shows its own
// call. The last one ends with what became of it.
func TestCallsInDoubtFollowEachOther(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, openOf("order-7", doubtOf("s1"), doubtOf("s2"), doubtOf("s3")))
	x.keys("e", pause)
	x.sees("3 are open. Which one?")
	x.seesNot("of 3:")
	x.keys("j", "enter", pause)
	x.sees("1 of 3: Did email_s2 run?")
	x.keys("j", pause, "enter")
	x.sees("2 of 3: Did email_s1 run?", "✓ before: s2 is decided", "▸ it ran: here is the result")
	x.seesNot("s3")
	x.golden("chain_80x24")
	x.keys(pause, "enter", "7", "enter", pause, "enter")
	x.sees("3 of 3: Did email_s3 run?", "✓ before: s1 is decided", "tab types it")
	x.keys(pause, "j", pause, "enter")
	x.sees("s3 is decided", "enter close")
	x.seesNot("of 3:")
	same(t, x.requests(), []string{"resolve s2 true order-7@2 ", "resolve s1 false order-7@2+ 7", "resolve s3 true order-7@2++ "})
	x.keys(pause, "enter")
	x.seesNot("enter close")
}

// Approvals and questions of a superstep are one row of sheets.
func TestApprovalsAndQuestionsFollowEachOther(t *testing.T) {
	t.Parallel()
	question := viewer.Waiting{Type: viewer.WaitInterrupt, ID: "ask.1", Prompt: "Which seat?", Choices: []string{"A1", "B2"}, Node: "ask"}
	x := start(t, 80, 24, openOf("order-9", question, approvalOf("p1"), approvalOf("p2")))
	x.keys("j", "a", pause, "j", "enter", pause)
	x.sees("1 of 3: charge_p2 wants your approval")
	x.keys("enter")
	x.sees("2 of 3: order-9 asks", "Which seat?")
	x.keys(pause, "j", pause, "enter")
	x.sees("3 of 3: charge_p1 wants your approval")
	x.keys(pause, "ctrl+d", pause)
	x.sees("3 of 3: Deny charge_p1")
	x.keys("enter")
	x.sees("enter close")
	same(t, x.requests(), []string{"approve p2 false order-9@2 ", `answer ask.1 false order-9@2+ "B2"`, "deny p1 false order-9@2++ "})
}

// Nothing is decided by keys that were typed before the next sheet was drawn,
// however fast they are, nor does esc lead back to the others.
func TestNothingIsDecidedAheadInTheNextSheet(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string][]string{
		"enter":             {"enter"},
		"enter held down":   {"enter", "enter", "enter", "enter"},
		"did not run":       {"j", "enter"},
		"did not run, slow": {"j", "j", "k", "enter"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, typed := range []func(*harness, ...string){(*harness).keys, (*harness).burst} {
				x := start(t, 80, 24, openOf("order-7", doubtOf("s1"), doubtOf("s2")))
				x.keys("e", pause, "enter", pause, "j", pause, "enter")
				x.sees("2 of 2: Did email_s2 run?")
				typed(x, ahead...)
				x.run()
				same(t, len(x.backend.Acted), 1)
				x.sees("2 of 2: Did email_s2 run?")
				x.keys("esc")
				x.seesNot("email_s2 run?")
				same(t, len(x.backend.Acted), 1)
			}
		})
	}
}

// Keys that come while the action is under way and the next sheet is read were
// typed for the one before.
func TestKeysBetweenTwoSheetsDecideNothing(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, openOf("order-9", approvalOf("p1"), approvalOf("p2")))
	x.keys("j", "a", pause, "enter", pause)
	x.press("enter")
	x.run()
	x.rest()
	x.press("enter")
	x.sees("under way")
	x.press("enter")
	x.run()
	x.sees("2 of 2: charge_p2 wants your approval")
	x.keys("enter", "enter")
	same(t, len(x.backend.Acted), 1)
	x.keys(pause, "enter")
	same(t, len(x.backend.Acted), 2)
}

// What was long is read anew in the next sheet, and what was typed stays behind.
func TestTheNextSheetIsReadAnew(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, openOf("order-9", approvalOf("p1"), approvalOf("p2")), approving(func(*viewer.ReviewEntry) {}), func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("order-9")]
		of(60)(&p.Review[1])
	})
	x.keys("j", "a", pause, "enter", pause, "tab", "o", "k", "enter", pause, "enter", pause)
	x.sees("2 of 2: charge_p2", "not yet, read to the end first", "note tab types one")
	x.keys("enter", pause)
	same(t, len(x.backend.Acted), 1)
	for range 20 {
		x.keys("pgdown")
	}
	x.keys(pause, "enter")
	same(t, len(x.backend.Acted), 2)
	same(t, []string{x.backend.Acted[0].Note, x.backend.Acted[1].Note}, []string{"ok", ""})
}

// The next sheet is for what was open beside the last one: not for what the run
// asks later, nor for what somebody else decided meanwhile, and not when the
// decision was not used or the run cannot be read.
func TestNoSheetFollows(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		then func(*viewstest.Backend, *viewer.Plan)
		want string
	}{
		"a later superstep": {func(_ *viewstest.Backend, p *viewer.Plan) {
			p.Review = []viewer.ReviewEntry{{Waiting: approvalOf("p3"), Digest: "dp3"}}
		}, "p1 is decided"},
		"other arguments":          {func(_ *viewstest.Backend, p *viewer.Plan) { p.Review[0].Digest = "other" }, "p1 is decided"},
		"decided by somebody else": {func(_ *viewstest.Backend, p *viewer.Plan) { p.Review = nil }, "p1 is decided"},
		"not used": {func(b *viewstest.Backend, _ *viewer.Plan) {
			b.Outcome = viewer.Outcome{Outcome: "other arguments now", Unused: true}
		}, "other arguments now"},
		"a dead store": {func(b *viewstest.Backend, _ *viewer.Plan) { b.Err = viewer.Problem{Message: "it is locked"} }, "p1 is decided"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24, openOf("order-9", approvalOf("p1"), approvalOf("p2")), func(b *viewstest.Backend) {
				decided := b.Then
				b.Then = func(b *viewstest.Backend, r viewer.Request) {
					decided(b, r)
					p := b.Plans[r.Ref]
					c.then(b, &p)
					b.Plans[r.Ref] = p
				}
			})
			x.keys("j", "a", pause, "enter", pause, "enter")
			x.sees(c.want, "enter close")
			if strings.Contains(x.view(), "2 of 2") {
				t.Fatalf("another sheet follows:\n%s", x.view())
			}
			x.keys(pause, "enter")
			x.seesNot("enter close")
			same(t, len(x.backend.Acted), 1)
		})
	}
}

// A recovery is not one of several, whatever is open.
func TestNothingFollowsARecovery(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, openOf("order-7", doubtOf("s1"), doubtOf("s2")))
	x.keys("R", pause, "j", "enter", pause, "enter", pause)
	same(t, x.requests(), []string{"recover  false order-7@2 "})
	x.sees("enter close")
}
