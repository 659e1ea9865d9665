package viewer

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
)

// What was decided before and has not been carried out yet is carried out with the
// next decision: calls that run then are named, and a denial leads where it leads.
func TestADecisionTellsWhatIsStoredBesideIt(t *testing.T) {
	side := func() *engine.Flow {
		return engine.NewFlow("f").Node("go", mails()).Node("a", pays()).Node("b", pays()).Node("q", sure("ok")).
			Node("mail", mails()).Node("sorry", mails()).Edge("go", "a", "b", "q").Edge("a", "mail")
	}
	answer := Request{Action: Answer, Target: "q#1", Value: json.RawMessage(`"x"`)}
	approve := func(id string) Request { return Request{Action: Approve, Target: id} }
	deny := func(id string) Request { return Request{Action: Deny, Target: id} }
	for name, c := range map[string]struct {
		flow          *engine.Flow
		stored        []Request
		next          Request
		want, without string // in what is told of the next one
		ran           []string
		status        string
	}{
		"an answer lets an approved call run": {side(), []Request{approve("a.1")}, answer,
			"lands in the state as ok, then runs charge_card (a.1, approved by ada); 1 more stays open", "", []string{"a.1"}, "paused"},
		"so does an approval": {side(), []Request{approve("a.1")}, approve("b.1"),
			"then charge_card runs once, and also charge_card (a.1, approved by ada); 1 more stays open", "", []string{"a.1", "b.1"}, "paused"},
		"the last one": {side(), []Request{approve("a.1"), answer}, approve("b.1"),
			"then charge_card runs once, and also charge_card (a.1, approved by ada), then mail", "stay", []string{"a.1", "b.1"}, "done"},
		"a denial that has a way": {side().OnError("a", "sorry"), []Request{deny("a.1"), answer}, approve("b.1"),
			"then charge_card runs once; ada denied charge_card (a.1): the run goes on at sorry", "then mail", []string{"b.1"}, "done"},
		"a denial that ends it": {side(), []Request{deny("a.1")}, answer,
			"the answer is stored with step 4; ada denied charge_card (a.1): the run fails; b.1 is never asked again", "lands", nil, "failed"},
		"a denial with a way lets an approved call run": {side().OnError("a", "sorry"), []Request{approve("b.1"), answer}, deny("a.1"),
			"the run goes on at sorry, its way for errors; what is approved already still runs: b.1", "", []string{"b.1"}, "done"},
		"a denial beside one that ends it": {side().OnError("a", "sorry"), []Request{deny("b.1")}, deny("a.1"),
			"charge_card does not run; ada denied charge_card (b.1): the run fails; q#1 is never asked again", "sorry", nil, "failed"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.flow(c.flow)
			b.start("f", "r")
			s := b.service()
			ref := s.Find("r", "")
			for _, r := range c.stored {
				r.Ref, r.NoRun = ref, true
				get[Outcome](t)(s.Act(t.Context(), r, nil))
			}
			review := get[Plan](t)(s.Plan(t.Context(), ref, false)).Review
			e := review[slices.IndexFunc(review, func(e ReviewEntry) bool { return e.ID == c.next.Target })]
			got := e.IfYes
			if c.next.Action == Deny {
				got = e.IfNo
			}
			if !strings.Contains(got, c.want) || c.without != "" && strings.Contains(got, c.without) {
				t.Errorf("%q, want %q and not %q", got, c.want, c.without)
			}
			c.next.Ref = ref
			if o := get[Outcome](t)(s.Act(t.Context(), c.next, nil)); o.Status != c.status {
				t.Errorf("%+v, want %s", o, c.status)
			}
			var ran []string
			for _, call := range get[[]Call](t)(s.Calls(t.Context(), ref, false)) {
				if call.Tool == "charge_card" && call.Status == "done" {
					ran = append(ran, call.ID)
				}
			}
			if slices.Sort(ran); !slices.Equal(ran, c.ran) {
				t.Errorf("ran %q, want %q", ran, c.ran)
			}
		})
	}
}

// In a reply of a model what was approved runs once all before it is decided, and not
// before.
func TestAStoredApprovalInAReplyWaitsForTheCallsBeforeIt(t *testing.T) {
	b := newBench(t)
	if err := b.chat(t.Context(), "two", asks("", `charge_card {"n":1}`, `charge_card {"n":2}`, `charge_card {"n":3}`), says("Done.")); err != nil {
		t.Fatal(err)
	}
	s := b.service()
	ref := s.Find("two", "")
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Approve, Target: "tools.2", NoRun: true}, nil))
	first := func() string { t.Helper(); return get[Plan](t)(s.Plan(t.Context(), ref, false)).Review[0].IfYes }
	if got := first(); !strings.HasSuffix(got, ", then charge_card runs once, and also charge_card (tools.2, approved by ada); 1 more stays open") {
		t.Errorf("%q", got)
	}
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Approve, Target: "tools.1"}, nil))
	if b.hits["charge_card"] != 2 {
		t.Errorf("charged %d times", b.hits["charge_card"])
	}
}
