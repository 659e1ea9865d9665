package main

import (
	"testing"

	"github.com/flowtui/flowtui/viewer"
)

// What is decided on stands last, right above the question; the others keep their order.
func TestWhatIsAskedForStandsLast(t *testing.T) {
	var p viewer.Plan
	for _, id := range []string{"alice.1", "bob.1", "carol.1"} {
		p.Review = append(p.Review, viewer.ReviewEntry{Waiting: viewer.Waiting{Type: viewer.WaitApproval, ID: id}})
	}
	for target, want := range map[string]string{"alice.1": "bob.1 carol.1 alice.1 ", "carol.1": "alice.1 bob.1 carol.1 ", "": "alice.1 bob.1 carol.1 "} {
		got := ""
		for _, e := range askedLast(p, viewer.Request{Action: viewer.Approve, Target: target}).Review {
			got += e.ID + " "
		}
		if got != want {
			t.Errorf("%q: %s, want %s", target, got, want)
		}
	}
	if p.Review[0].ID != "alice.1" {
		t.Error("the plan itself was changed")
	}
}
