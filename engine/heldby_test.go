package engine_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// Who loses a run to another worker is told what can be done: a recovery may take
// it over, a decision and a start may not.
func TestAHeldRunTellsWhatMayBeDone(t *testing.T) {
	s, w := newStore(), newWorld()
	r := runner(t, s, w.ticketTools(needsOK))
	if res, err := r.Run(ctx, tickets(), start("asks")); err != nil || res.Status != stores.StatusPaused {
		t.Fatal(res, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	w.do["hold_seats"] = func(context.Context, tool.Input) (any, error) {
		cancel()
		return "A4", nil
	}
	if _, err := runner(t, s, w.ticketTools()).Run(cancelled, tickets(), start("cut")); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	for _, run := range []string{"asks", "cut", "new"} {
		if _, err := s.Acquire(ctx, key(run), "somebody", time.Minute, false); err != nil {
			t.Fatal(err)
		}
	}
	told := func(what string, err error, takeover bool) {
		t.Helper()
		e, ok := errors.AsType[*engine.Error](err)
		if !ok || !errors.Is(err, engine.ErrCheckpointConflict) || !strings.Contains(e.Reason, "somebody") {
			t.Fatalf("%s: %v", what, err)
		}
		if strings.Contains(e.Hint, "--takeover") != takeover || strings.Contains(e.Hint, "look at it again") == takeover {
			t.Errorf("%s: hint %q", what, e.Hint)
		}
	}
	_, err := r.Resume(ctx, tickets(), key("asks"), engine.Decide{Type: engine.DecideApprove, By: "ann"})
	told("approve", err, false)
	_, err = r.Run(ctx, tickets(), start("new"))
	told("start", err, false)
	_, err = r.Recover(ctx, tickets(), key("cut"), engine.RecoverOptions{RerunInDoubt: true})
	told("recover", err, true)
	for run, takeover := range map[string]bool{"asks": false, "cut": true} {
		p, err := engine.MakePlan(ctx, s, testKeys(t), key(run))
		if err != nil {
			t.Fatal(err)
		}
		told("plan of "+run, p.Blocked, takeover)
	}
}

// The runs that a hint sends to are those of the owner that was meant.
func TestARunThatIsNotThereTellsWhereToLook(t *testing.T) {
	for owner, want := range map[string]string{
		stores.DefaultOwner: "see flowtui ls --owner '*' for the runs of every owner",
		"té":                "see flowtui ls --owner 'té' for the runs of this owner, --owner '*' for those of every owner",
		"o'neil":            `see flowtui ls --owner 'o'\''neil' for the runs of this owner, --owner '*' for those of every owner`,
	} {
		if e := engine.NotFound(stores.Key{Owner: owner, Run: "x"}); e.Hint != want || !errors.Is(e, engine.ErrCheckpointNotFound) {
			t.Errorf("%q: %v, %s", owner, e, e.Hint)
		}
	}
}
