package viewer

import (
	"slices"
	"testing"

	"github.com/flowtui/flowtui/engine"
)

// Each step tells what the run waited for then, and what was decided with it.
func TestStepsTellWhatWasAskedAndDecided(t *testing.T) {
	b := newBench(t)
	payout(b)
	s := b.service()
	ref := s.Find("p-1", "")
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Approve, Target: "alice.1", Note: "agreed"}, nil))
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Approve, Target: "carol.1", NoRun: true}, nil))
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Deny, Target: "bob.1"}, nil))
	var asks, decided []string
	for _, h := range get[Detail](t)(s.Show(t.Context(), ref)).History {
		for _, a := range h.Asks {
			asks = append(asks, string(rune('0'+h.Step))+" "+a.ID+" "+a.Node+" "+a.Tool)
		}
		for _, d := range h.Decided {
			decided = append(decided, string(rune('0'+h.Step))+" "+d.By+" "+string(d.Type)+" "+d.ID+" "+d.Tool+" "+d.Note)
		}
	}
	if want := []string{
		"2 alice.1 alice charge_card", "2 bob.1 bob charge_card", "2 carol.1 carol charge_card",
		"4 bob.1 bob charge_card", "4 carol.1 carol charge_card", "5 bob.1 bob charge_card",
	}; !slices.Equal(asks, want) {
		t.Errorf("asked: %q", asks)
	}
	if want := []string{"3 ada approve alice.1 charge_card agreed", "5 ada approve carol.1 charge_card ", "6 ada deny bob.1 charge_card "}; !slices.Equal(decided, want) {
		t.Errorf("decided: %q", decided)
	}
	b.flow(engine.NewFlow("f").Node("ask", sure("ok")))
	b.start("f", "q")
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("q", ""), Action: Answer, Value: []byte(`"yes"`)}, nil))
	if d := get[Detail](t)(s.Show(t.Context(), s.Find("q", ""))).History[2].Decided; len(d) != 1 || d[0].Type != Answer || d[0].Key != "ok" || d[0].By != "ada" {
		t.Errorf("%+v", d)
	}
}
