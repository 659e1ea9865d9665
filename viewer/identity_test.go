package viewer

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// leave starts a run for somebody, whose worker dies in its first call when the
// tool is not idempotent, else before it.
func (b *bench) leave(flow, run string, id stores.Identity) {
	b.t.Helper()
	ctx, cancel := context.WithCancel(b.t.Context())
	defer cancel()
	ctx = context.WithValue(ctx, crashKey{}, func() { cancel() })
	if _, err := b.runner("worker-1").Run(ctx, b.flows.flows[flow], engine.Start{Key: stores.Key{Owner: "default", Run: run}, Identity: id}); err == nil {
		b.t.Fatal("the worker did not die")
	}
}

// Who acts is not for whom the run acts: a recovery restores the run's own user
// and thread, and the log names the operator.
func TestARecoveryKeepsTheUserAndLogsTheOperator(t *testing.T) {
	b := newBench(t)
	own := stores.Identity{User: "alice", Thread: "9"}
	b.leave("safe", "of-alice", own)
	b.leave("safe", "of-nobody", stores.Identity{})
	s := b.service(func(o *Options) { o.Identity, o.By = stores.Identity{User: "ops", Thread: "1"}, "ops" })
	for run, id := range map[string]stores.Identity{"of-alice": own, "of-nobody": {}} {
		for _, o := range b.row(s, run).Actions {
			if o.Action == Recover && o.Disabled != "" {
				t.Errorf("%s: recover is not offered: %s", run, o.Disabled)
			}
		}
		ref := s.Find(run, "")
		if p := get[Plan](t)(s.Plan(t.Context(), ref, false)); p.Blocked != nil {
			t.Errorf("%s: blocked: %s", run, *p.Blocked)
		}
		if o := get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Recover}, nil)); o.Status != "done" {
			t.Errorf("%s: %+v", run, o)
		}
		last := get[stores.Checkpoint](t)(b.store.Latest(t.Context(), stores.Key{Owner: "default", Run: run}))
		if last.Identity != id {
			t.Errorf("%s: it goes on for %+v, not %+v", run, last.Identity, id)
		}
		by := ""
		for _, e := range get[[]Event](t)(s.Events(t.Context(), ref, 0)) {
			var d struct{ By string }
			if e.Type == engine.EventRecovery && json.Unmarshal(e.Data, &d) == nil {
				by += d.By
			}
		}
		if by != "ops" {
			t.Errorf("%s: the log says that %q recovered it", run, by)
		}
	}
}

// Recovering all of them says of each what it needs: a decision, or its principal.
func TestRecoverAllMindsNoUserButThePrincipal(t *testing.T) {
	b := newBench(t)
	b.leave("safe", "plain", stores.Identity{User: "alice"})
	b.leave("mail", "doubt", stores.Identity{User: "bob"})
	b.leave("safe", "theirs", stores.Identity{User: "carol", Principal: "team-b"})
	s := b.service(func(o *Options) { o.Identity.User, o.By = "ops", "ops" })
	all := get[map[string]RecoverAllResult](t)(s.RecoverAll(t.Context(), "", "", RecoverAllOptions{}))
	if o := all["plain"].Outcome; o == nil || o.Status != "done" {
		t.Errorf("plain: %s", asText(t, all["plain"]))
	}
	if p := all["doubt"].Problem; p == nil || p.Code != codeNeedsDecision {
		t.Errorf("doubt: %s", asText(t, all["doubt"]))
	}
	_, err := s.Act(t.Context(), Request{Ref: s.Find("theirs", ""), Action: Recover}, nil)
	one := s.Explain(err)
	for _, p := range []*Problem{all["theirs"].Problem, &one} {
		if p == nil || p.Code != codeRefused || !strings.Contains(p.Hint, "--principal") || strings.Contains(p.Hint, "--user") {
			t.Errorf("theirs: %+v", p)
		}
	}
}
