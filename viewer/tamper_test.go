package viewer

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// tamper changes rows on their way out, as somebody with access to the
// database would have changed them in it.
type tamper struct {
	*memory.Store
	head func(*stores.Head)
	step func(*stores.Checkpoint) bool // false: the row is gone
}

func (w *tamper) heads(list []stores.Head) {
	for i := range list {
		if w.head != nil {
			w.head(&list[i])
		}
	}
}

func (w *tamper) List(ctx context.Context, q stores.Query) (stores.Page, error) {
	p, err := w.Store.List(ctx, q)
	w.heads(p.Heads)
	return p, err
}

func (w *tamper) Head(ctx context.Context, k stores.Key) (stores.Head, error) {
	h, err := w.Store.Head(ctx, k)
	if err == nil && w.head != nil {
		w.head(&h)
	}
	return h, err
}

func (w *tamper) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) ([]stores.Checkpoint, error) {
	rows, err := w.Store.History(ctx, k, q)
	if w.step != nil {
		rows = slices.DeleteFunc(rows, func(c stores.Checkpoint) bool { return !w.step(&c) })
		for i := range rows {
			w.step(&rows[i])
		}
	}
	return rows, err
}

func (b *bench) tampered(change ...func(*Options)) (*Service, *tamper) {
	w := &tamper{Store: b.store}
	o := b.options()
	o.Formats = Registry{memoryFormat(map[string]stores.Store{"mem": w})}
	for _, f := range change {
		f(&o)
	}
	return attach(b.t, o, "mem"), w
}

// agree checks that list, detail and plan say the same of a run.
func agree(t *testing.T, s *Service, run string, want Badge, verdict Verdict) Plan {
	t.Helper()
	ref := s.Find(run, "")
	d := get[Detail](t)(s.Show(t.Context(), ref))
	p := get[Plan](t)(s.Plan(t.Context(), ref, false))
	rows := get[Page](t)(s.List(t.Context(), Query{Text: run})).Rows
	if len(rows) != 1 {
		t.Fatalf("%d rows of %s", len(rows), run)
	}
	for _, r := range []Row{rows[0], d.Row, p.Row} {
		if r.Badges[0] != want || r.Verdict != verdict || r.Why != rows[0].Why || r.Version != rows[0].Version {
			t.Errorf("badges %v, verdict %q, why %q; want %s, %q", r.Badges, r.Verdict, r.Why, want, verdict)
		}
	}
	return p
}

// Scenario 27: one derivation for list, detail and plan, also when the list
// entry and the checkpoints contradict each other.
func TestScenario27ListAndDetailAgree(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.crash("mail", "order-7")
	b.start("nightly", "sync-1")
	b.abandon("cut-1")
	b.start("plain", "ok-1")
	b.wait(12 * time.Minute)
	s, w := b.tampered()
	agree(t, s, "order-9", Paused, Verified)
	agree(t, s, "order-7", InDoubt, Verified)
	agree(t, s, "sync-1", Failed, Verified)
	agree(t, s, "cut-1", Stuck, Verified)
	agree(t, s, "ok-1", Done, Verified)
	w.head = func(h *stores.Head) {
		if h.Run == "ok-1" {
			h.Status = stores.StatusRunning
		}
	}
	if p := agree(t, s, "ok-1", Tampered, Forged); p.Blocked == nil || !strings.Contains(p.Row.Why, "forged") {
		t.Errorf("%+v", p.Blocked)
	}
	if got := runs(get[Page](t)(s.List(t.Context(), Query{Tab: TabNeedsYou})).Rows); !strings.HasPrefix(got, "ok-1 ") {
		t.Errorf("needs you: %s", got)
	}
}

// Scenario 38: rows put back or changed are found, remembered, and nothing is done with them.
func TestScenario38Tampering(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.start("plain", "ok-1")
	old := get[stores.Head](t)(b.store.Head(t.Context(), stores.Key{Owner: "default", Run: "order-9"}))
	s, w := b.tampered()
	w.step = func(c *stores.Checkpoint) bool {
		if c.Run == "ok-1" && c.Step == 0 && c.Payload != nil {
			c.Payload = []byte(`{"state":{"amount":1},"frontier":["one"]}`)
		}
		return true
	}
	if r := b.row(s, "ok-1"); r.Badges[0] != Tampered || r.Verdict != Forged || !strings.Contains(r.Why, "step 0 is forged") {
		t.Errorf("%v %q %q", r.Badges, r.Verdict, r.Why)
	}
	if got := runs(get[Page](t)(s.List(t.Context(), Query{Tab: TabNeedsYou})).Rows); got != "ok-1 order-9" {
		t.Errorf("a done run that was found tampered is not in needs-you: %s", got)
	}
	rep := get[Report](t)(s.Verify(t.Context(), VerifyRequest{}))
	if rep.Runs != 2 || rep.Verified != 1 || len(rep.Findings) != 1 || rep.Findings[0].Verdict != Forged {
		t.Errorf("%+v", rep)
	}
	w.step = nil
	if r := b.row(s, "ok-1"); r.Verdict != Verified {
		t.Errorf("a run that was put right is %q", r.Verdict)
	}

	get[Outcome](t)(s.Act(t.Context(), Request{Ref: s.Find("order-9", ""), Action: Approve}, nil))
	get[Page](t)(s.List(t.Context(), Query{})) // it was seen at its last step
	w.head = func(h *stores.Head) {
		if h.Run == "order-9" {
			*h = old
		}
	}
	w.step = func(c *stores.Checkpoint) bool { return c.Run != "order-9" || c.Step <= old.Step }
	r := get[Page](t)(s.List(t.Context(), Query{Text: "order-9"})).Rows[0]
	if r.Badges[0] != Tampered || r.Verdict != Regressed || !strings.Contains(r.Why, "was seen before, the newest is now step 2") {
		t.Errorf("%v %q %q", r.Badges, r.Verdict, r.Why)
	}
	p := get[Plan](t)(s.Plan(t.Context(), r.Ref, false))
	if p.Blocked == nil {
		t.Error("the plan of a regressed run is not blocked")
	}
	_, err := s.Act(t.Context(), Request{Ref: r.Ref, Action: Approve}, nil)
	if s.Explain(err).Exit() != 6 {
		t.Errorf("a regressed run was acted on: %v", err)
	}
}

type notes map[string]int64

func (n notes) Seen(_, _, run string) (string, int64) {
	for k, step := range n {
		if life, r, _ := strings.Cut(k, "/"); r == run {
			return life, step
		}
	}
	return "", -1
}
func (n notes) See(_, _, run, life string, step int64) { n[life+"/"+run] = step }

func TestMemoryOutlivesTheService(t *testing.T) {
	b := newBench(t)
	b.start("plain", "ok-1")
	n := notes{}
	remember := func(o *Options) { o.Memory = n }
	get[Page](t)(b.service(remember).List(t.Context(), Query{}))
	for k := range n {
		n[k] = 42
	}
	if r := get[Page](t)(b.service(remember).List(t.Context(), Query{})).Rows[0]; r.Verdict != Regressed || !strings.Contains(r.Why, "step 42 was seen") {
		t.Errorf("%q %q", r.Verdict, r.Why)
	}
}

// Scenario 43: no key, another key and a forged row are three things.
func TestScenario43Keys(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.start("plain", "ok-1")
	other := key(t, "o")
	for _, tt := range []struct {
		name    string
		keys    *seal.Keyring
		verdict Verdict
		badges  string
		hint    string
		state   string
	}{
		{"none", nil, NoKeyGiven, "paused no-key", "--key-file", "no key"},
		{"another", seal.NewKeyring(other), UnknownKey, "paused no-key", "key file", "does not fit"},
		{"rotated", seal.NewKeyring(other, key(t, "k")), Verified, "paused", "", "ok"},
	} {
		s := b.service(func(o *Options) { o.Keys = tt.keys })
		r := b.row(s, "order-9")
		got := ""
		for _, badge := range r.Badges {
			got += " " + string(badge)
		}
		if r.Verdict != tt.verdict || got[1:] != tt.badges {
			t.Errorf("%s: %q,%s", tt.name, r.Verdict, got)
		}
		p := get[Plan](t)(s.Plan(t.Context(), r.Ref, false))
		if (p.Blocked != nil) != (tt.verdict != Verified) || !strings.Contains(p.Hint, tt.hint) {
			t.Errorf("%s: blocked %v, hint %q", tt.name, p.Blocked, p.Hint)
		}
		_, err := s.Act(t.Context(), Request{Ref: r.Ref, Action: Approve, NoRun: true, Version: "stale"}, nil)
		if want := map[Verdict]int{NoKeyGiven: 7, UnknownKey: 7, Verified: 4}[tt.verdict]; s.Explain(err).Exit() != want {
			t.Errorf("%s: %v", tt.name, err)
		}
		rep := get[Report](t)(s.Verify(t.Context(), VerifyRequest{}))
		if tt.verdict != Verified && (rep.Verified != 0 || rep.Findings[0].Verdict != tt.verdict) {
			t.Errorf("%s: %+v", tt.name, rep)
		}
		if state := s.Stores()[0].Key; !strings.Contains(state, tt.state) {
			t.Errorf("%s: %q", tt.name, state)
		}
	}
}

func TestUnreadableHidesNobody(t *testing.T) {
	b := newBench(t)
	b.start("plain", "bad")
	b.start("plain", "good")
	s, w := b.tampered()
	w.head = func(h *stores.Head) {
		if h.Run == "bad" {
			h.Bad, h.Status, h.Payload = "the row was cut", "", nil
		}
	}
	rows := get[Page](t)(s.List(t.Context(), Query{})).Rows
	if runs(rows) != "good bad" || rows[1].Status != "unreadable" || rows[1].Verdict != Unreadable || rows[1].Badges[0] != Tampered {
		t.Errorf("%s", asText(t, rows))
	}
	rep := get[Report](t)(s.Verify(t.Context(), VerifyRequest{}))
	if rep.Runs != 2 || rep.Verified != 1 || rep.Findings[0].Record != engine.RecordHead || rep.Findings[0].Verdict != Unreadable {
		t.Errorf("%+v", rep)
	}
}

// A done run that nobody listed is found by the look in the background, which
// asks each run once.
func TestTheBackgroundFindsTamperedRuns(t *testing.T) {
	b := newBench(t)
	b.start("plain", "ok-1")
	b.start("plain", "ok-2")
	s, w := b.tampered()
	w.step = func(c *stores.Checkpoint) bool {
		if c.Run == "ok-1" && c.Payload != nil {
			c.Payload = []byte(`{}`)
		}
		return true
	}
	if rows := get[Page](t)(s.List(t.Context(), Query{Tab: TabNeedsYou})).Rows; len(rows) != 0 {
		t.Fatalf("%+v", rows)
	}
	if rep := get[Report](t)(s.Verify(t.Context(), VerifyRequest{Newest: 100})); rep.Runs != 2 {
		t.Errorf("%d runs were checked, want 2", rep.Runs)
	}
	if got := runs(get[Page](t)(s.List(t.Context(), Query{Tab: TabNeedsYou})).Rows); got != "ok-1" {
		t.Errorf("needs-you has %q, want ok-1", got)
	}
	if rep := get[Report](t)(s.Verify(t.Context(), VerifyRequest{Newest: 100})); rep.Runs != 0 {
		t.Errorf("%d runs were checked again", rep.Runs)
	}
}
