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
