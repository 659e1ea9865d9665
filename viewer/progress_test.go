package viewer

import (
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// An action that failed after several steps names the newest of them.
func TestAnErrorAfterSeveralStepsNamesTheNewest(t *testing.T) {
	var stages []string
	tell := &teller{s: newService(Options{}), progress: func(p Progress) { stages = append(stages, p.Stage) }}
	for step := int64(1); step <= 4; step++ {
		tell.event(stores.Event{Type: engine.EventSaved, Step: step, Payload: []byte(`{"status":"running"}`)})
	}
	got := explain(tell.wrap(errors.New("the store was too slow"))).Message
	if want := "step 4 is saved, the run is running, but then: the store was too slow"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := strings.Join(stages, ", "), "recorded, picked up, picked up, picked up"; got != want {
		t.Errorf("stages %s, want %s", got, want)
	}
}

// What a run waits for several times is counted, not told again and again.
func TestStandingCountsWhatBearsTheSameName(t *testing.T) {
	ask := engine.Waiting{Type: engine.WaitInterrupt, Key: "ok"}
	pay := engine.Waiting{Type: engine.WaitApproval, Tool: "pay_person"}
	for want, list := range map[string][]engine.Waiting{
		"the run waits at step 1 for 3 answers to ok":                            {ask, ask, ask},
		"the run waits at step 1 for 2 approvals of pay_person, an answer to ok": {pay, ask, pay},
		"the run waits at step 1 for approval of pay_person, an answer to ask#1": {pay, {Type: engine.WaitInterrupt, ID: "ask#1"}},
		"the run waits at step 1 for something":                                  nil,
	} {
		if got := standing(engine.Result{Status: stores.StatusPaused, Step: 1, Waiting: list}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Why counts approvals and questions each as what they are.
func TestWhyNamesWhatElseIsOpen(t *testing.T) {
	ask, pay := Waiting{Type: WaitInterrupt, Node: "ask", Prompt: "Sure?"}, Waiting{Type: WaitApproval, Node: "pay", Tool: "charge"}
	for want, list := range map[string][]Waiting{
		"pay wants approval for charge":                                             {pay},
		"pay wants approval for charge, and for 2 more":                             {pay, pay, pay},
		"pay wants approval for charge, and 2 questions are open too":               {pay, ask, ask},
		"pay wants approval for charge, and 1 approval and 1 question are open too": {pay, pay, ask},
		`ask asks "Sure?", and 1 more question`:                                     {ask, ask},
		`ask asks "Sure?", and 1 approval is open too`:                              {ask, pay},
	} {
		if got, _ := why(facts{status: "paused", waiting: list}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
