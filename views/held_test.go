package views_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views/viewstest"
)

// holding lets sync-2 be held at a call that failed.
func holding(change func(*viewer.Plan)) func(*viewstest.Backend) {
	return func(b *viewstest.Backend) {
		p := b.Plans[viewstest.Ref("sync-2")]
		p.Replay = nil
		p.Rerun = []viewer.Call{{ID: "pay.1", Tool: "charge_card", Node: "pay", Status: "done", Error: "HTTP 504 from the bank", Args: []byte(`{"amount":249}`)}}
		change(&p)
		b.Plans[viewstest.Ref("sync-2")] = p
	}
}

// A call that failed may have had its effect: who recovers its run is told so, with
// the error, and is asked once more; the first choice leaves it.
func TestFailedCallRunsAgainOnlyWhenAskedTwice(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, holding(func(*viewer.Plan) {}))
	x.keys("G", "R", pause)
	x.golden("recover_held_80x24")
	x.sees("failed: HTTP 504 from the bank; it may have had its effect, runs ", `{"amount":249}`, "enter leave it")
	x.seesNot("did not run")
	x.keys("enter") // as it opens, enter runs nothing
	same(t, len(x.backend.Acted), 0)
	x.seesNot("Recover sync-2")
	x.keys("R", pause, "j", pause, "enter")
	x.sees("it may happen twice: run it again?")
	x.keys("enter", pause)
	same(t, len(x.backend.Acted), 0)
	x.keys("esc", pause)
	x.seesNot("run it again?")
	x.keys("enter", pause, "enter")
	same(t, len(x.backend.Acted), 1)
	same(t, x.backend.Acted[0].Action, viewer.Recover)
	same(t, x.backend.Acted[0].RerunInDoubt, false) // that is for others, and none was in doubt
	same(t, x.backend.Acted[0].Takeover, false)
}

// All of what runs again is on the screen before, its error too.
func TestFailedCallIsReadBeforeItRunsAgain(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"held", "taken over", "with one in doubt"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24, holding(func(p *viewer.Plan) {
				var why strings.Builder
				for i := range 60 {
					fmt.Fprintf(&why, "error line %d\n", i)
				}
				p.Rerun[0].Error = why.String() + "the end"
				switch name {
				case "taken over":
					p.Lease = &viewer.Lease{Holder: "worker-2", Expires: viewstest.Now.Add(time.Hour)}
				case "with one in doubt":
					p.InDoubt = []viewer.Call{{ID: "send.1", Tool: "email_tickets", Status: "started", InDoubt: true}}
				}
			}))
			x.keys("G", "R", pause, "j", pause, "enter", pause)
			x.sees("failed", "not yet, read to the end first")
			x.keys("enter", pause)
			same(t, len(x.backend.Acted), 0)
			for range 60 {
				x.keys("pgdown")
			}
			x.sees("the end; it may have had its")
			x.keys(pause, "enter")
			same(t, len(x.backend.Acted), 1)
			same(t, x.backend.Acted[0].Takeover, name == "taken over")
			same(t, x.backend.Acted[0].RerunInDoubt, name == "with one in doubt")
		})
	}
}

// What may be made again without harm is: one enter recovers.
func TestCallsThatAreSafeToRunAgainTakeOneEnter(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call viewer.Call
		says string
	}{
		"failed, idempotent":    {viewer.Call{ID: "a.1", Tool: "look_up", Status: "done", Error: "HTTP 404", Idempotent: true}, "failed: HTTP 404; idempotent, runs again"},
		"cut short, idempotent": {viewer.Call{ID: "a.1", Tool: "look_up", Status: "started", Idempotent: true}, "idempotent, runs again"},
		"it did not run":        {viewer.Call{ID: "a.1", Tool: "charge_card", Status: "resolved"}, "it did not run, runs now"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			x := start(t, 80, 24, holding(func(p *viewer.Plan) { p.Rerun = []viewer.Call{c.call} }))
			x.keys("G", "R", pause)
			x.sees(c.says, "enter recover")
			x.keys("enter")
			same(t, len(x.backend.Acted), 1)
		})
	}
}

// The choice to run a failed call again is for that call only.
func TestChoiceToRunAgainIsForThoseCalls(t *testing.T) {
	t.Parallel()
	x := start(t, 80, 24, holding(func(*viewer.Plan) {}))
	x.keys("G", "R", pause, "j")
	x.sees("enter recover, run again")
	x.backend.Lock()
	holding(func(p *viewer.Plan) { p.Rerun[0].ID = "pay.2" })(x.backend)
	x.backend.Unlock()
	x.keys("r", pause)
	x.sees("enter leave it")
}
