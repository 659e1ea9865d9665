package engine_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
)

// A plan names who decided last, and so does the refusal of a recovery that was
// meant for the run as it was before.
func TestPlanAndRecoveryNameWhoDecided(t *testing.T) {
	s := newStore()
	r := runner(t, s, nil)
	if _, err := r.Execute(ctx, approval(), execution("a")); err != nil {
		t.Fatal(err)
	}
	before, err := engine.MakePlan(ctx, s, testKeys(t), key("a"))
	if err != nil || before.Last != nil {
		t.Fatalf("%+v, %v", before.Last, err)
	}
	if _, err := r.Record(ctx, key("a"), engine.Decide{Type: engine.DecideAnswer, Value: json.RawMessage(`"yes"`), By: "ben"}); err != nil {
		t.Fatal(err)
	}
	_, err = r.Recover(ctx, approval(), key("a"), engine.RecoverOptions{Version: before.Version})
	if !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(err.Error(), "; ben answered approved#1 at ") {
		t.Errorf("%v", err)
	}
	now, err := engine.MakePlan(ctx, s, testKeys(t), key("a"))
	if d := now.Last; err != nil || d == nil || d.By != "ben" || d.Action != engine.DecideAnswer || d.Target != "approved#1" || d.Time.IsZero() {
		t.Errorf("%+v, %v", d, err)
	}
	if none, err := engine.MakePlan(ctx, s, nil, key("a")); err != nil || none.Last != nil {
		t.Errorf("what cannot be verified is told: %+v, %v", none.Last, err)
	}
}
