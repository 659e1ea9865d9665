package viewer

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// payloadless fails the test when a list reads a checkpoint.
type payloadless struct {
	*memory.Store
	t     *testing.T
	armed *bool
}

func (p payloadless) complain(what string) {
	if *p.armed {
		p.t.Errorf("a list called %s", what)
	}
}

func (p payloadless) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	p.complain("Latest")
	return p.Store.Latest(ctx, k)
}

func (p payloadless) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) ([]stores.Checkpoint, error) {
	p.complain("History")
	return p.Store.History(ctx, k, q)
}

func (p payloadless) At(ctx context.Context, k stores.Key, step int64) (stores.Checkpoint, error) {
	p.complain("At")
	return p.Store.At(ctx, k, step)
}

// Scenario 34: a list never reads a state, on any tab.
func TestScenario34ListReadsNoPayload(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.crash("mail", "order-7")
	b.start("plain", "ok")
	armed := true
	o := b.options()
	o.Formats = Registry{memoryFormat(map[string]stores.Store{"mem": payloadless{b.store, t, &armed}})}
	s := attach(t, o, "mem")
	for _, tab := range Tabs {
		get[Page](t)(s.List(t.Context(), Query{Tab: tab}))
	}
	get[Counts](t)(s.Counts(t.Context(), Query{}))
	if s.stores[0].probe(t.Context()) == "" {
		t.Error("no fingerprint")
	}
}

func (b *bench) many(n int, prefix string) {
	for i := range n {
		b.start("plain", fmt.Sprintf("%s-%03d", prefix, i))
	}
}

func runs(rows []Row) string {
	var ids []string
	for _, r := range rows {
		ids = append(ids, r.Run)
	}
	return strings.Join(ids, " ")
}

// pages reads a tab page by page; between calls it lets the test interfere.
func pages(t *testing.T, s *Service, q Query, between func()) (all []Row) {
	t.Helper()
	for range 1000 {
		p := get[Page](t)(s.List(t.Context(), q))
		if len(p.Rows) > q.Limit {
			t.Fatalf("%d rows on a page of %d", len(p.Rows), q.Limit)
		}
		all = append(all, p.Rows...)
		if p.Next == "" {
			return all
		}
		q.Cursor = p.Next
		if between != nil {
			between()
		}
	}
	t.Fatal("the pages do not end")
	return nil
}

func TestPagesOfTwoStores(t *testing.T) {
	one, two := newBench(t), newBench(t)
	for i := range 25 {
		one.start("plain", fmt.Sprintf("a-%03d", i))
		two.wait(time.Second)
		if i%3 == 0 {
			two.start("plain", fmt.Sprintf("b-%03d", i))
		}
	}
	o := one.options()
	o.Formats = Registry{memoryFormat(map[string]stores.Store{"one": one.store, "two": two.store})}
	s := attach(t, o, "one", "two")
	whole := get[Page](t)(s.List(t.Context(), Query{Limit: 1000})).Rows
	if len(whole) != 34 || !slices.IsSortedFunc(whole, func(a, b Row) int { return b.Updated.Compare(a.Updated) }) {
		t.Fatalf("%d rows: %s", len(whole), runs(whole))
	}
	for _, limit := range []int{1, 2, 7, 34, 100} {
		n := 0
		got := pages(t, s, Query{Limit: limit}, func() {
			n++
			one.start("plain", fmt.Sprintf("new-%d-%d", limit, n)) // moves to the front, and must not shift the rest
		})
		got = slices.DeleteFunc(got, func(r Row) bool { return strings.HasPrefix(r.Run, "new-") })
		if runs(got) != runs(whole) {
			t.Errorf("limit %d: %s\nwant %s", limit, runs(got), runs(whole))
		}
	}
	if _, err := s.List(t.Context(), Query{Cursor: "x"}); explain(err).Code != "usage" {
		t.Errorf("bad cursor: %v", err)
	}
	if _, err := s.List(t.Context(), Query{Tab: "x"}); explain(err).Code != "usage" {
		t.Errorf("bad tab: %v", err)
	}
}

// deaf is a store that stopped answering.
type deaf struct {
	*memory.Store
	dead *bool
}

func (d deaf) List(ctx context.Context, q stores.Query) (stores.Page, error) {
	if *d.dead {
		return stores.Page{}, &stores.OpError{Op: "list", Store: "two", Class: stores.ErrUnavailable}
	}
	return d.Store.List(ctx, q)
}

func TestDeadStoreHidesNobody(t *testing.T) {
	one, two := newBench(t), newBench(t)
	one.start("tickets", "a")
	two.start("tickets", "b")
	dead := false
	o := one.options()
	o.Formats = Registry{memoryFormat(map[string]stores.Store{"one": one.store, "two": deaf{two.store, &dead}})}
	s := attach(t, o, "one", "two")
	dead = true
	for _, tab := range []Tab{TabAll, TabNeedsYou} {
		p := get[Page](t)(s.List(t.Context(), Query{Tab: tab}))
		if runs(p.Rows) != "a" || len(p.Problems) != 1 || p.Problems[0].Store != "two" || !p.Problems[0].Since.Equal(one.now()) {
			t.Errorf("%s: %s, %+v", tab, runs(p.Rows), p.Problems)
		}
	}
	dead = false
	if p := get[Page](t)(s.List(t.Context(), Query{})); len(p.Rows) != 2 || len(p.Problems) != 0 {
		t.Errorf("%s, %+v", runs(p.Rows), p.Problems)
	}
}

func TestNeedsYouOrderAndCounts(t *testing.T) {
	b := newBench(t)
	b.start("nightly", "failed-old")
	b.start("tickets", "paused-old")
	b.abandon("stuck")
	b.crash("mail", "doubt")
	b.start("tickets", "paused-new")
	b.start("nightly", "failed-new")
	b.start("plain", "done")
	s := b.service()
	want := "doubt paused-old paused-new failed-old failed-new stuck"
	for _, limit := range []int{1, 2, 4, 100} {
		if got := runs(pages(t, s, Query{Tab: TabNeedsYou, Limit: limit}, nil)); got != want {
			t.Errorf("limit %d: %s, want %s", limit, got, want)
		}
	}
	counts := get[Counts](t)(s.Counts(t.Context(), Query{}))
	for tab, n := range map[Tab]int64{TabNeedsYou: 6, TabRunning: 2, TabPaused: 2, TabInDoubt: 1, TabFailed: 2, TabDone: 1, TabAll: 7} {
		if counts[tab] != n {
			t.Errorf("%s: %d, want %d", tab, counts[tab], n)
		}
	}
	if got := runs(pages(t, s, Query{Tab: TabInDoubt, Limit: 1}, nil)); got != "doubt" {
		t.Errorf("in doubt: %s", got)
	}
	if got := runs(pages(t, s, Query{Text: "PAUSED", Limit: 10}, nil)); got != "paused-new paused-old" {
		t.Errorf("text: %s", got)
	}
	if p := get[Page](t)(s.List(t.Context(), Query{Owner: "nobody"})); p.Rows == nil || len(p.Rows) != 0 {
		t.Errorf("empty list: %v", p.Rows)
	}
}

func TestStoreWithoutCapabilities(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.crash("mail", "order-7")
	o := b.options()
	o.Formats = Registry{memoryFormat(map[string]stores.Store{"mem": bare{b.store}})}
	s := attach(t, o, "mem")
	b.wait(time.Hour)
	for _, r := range get[Page](t)(s.List(t.Context(), Query{})).Rows {
		d := get[Detail](t)(s.Show(t.Context(), r.Ref))
		if d.Badges[0] != r.Badges[0] || d.Why != r.Why || d.Verdict != Verified || len(d.History) != 1 {
			t.Errorf("list %v %q, detail %v %q %s", r.Badges, r.Why, d.Badges, d.Why, d.Verdict)
		}
		get[Plan](t)(s.Plan(t.Context(), r.Ref, false))
	}
	if !s.Stores()[0].NoLease {
		t.Error("leases are not known here")
	}
}

func TestWatch(t *testing.T) {
	b := newBench(t)
	s := b.service()
	ctx, cancel := context.WithCancel(t.Context())
	notices := get[<-chan struct{}](t)(s.Watch(ctx))
	<-notices // the store is listened to
	b.start("plain", "x")
	<-notices
	cancel()
	for range notices { // it ends
	}
}

// A panic in a goroutine of the viewer reaches who called it, where the screens
// can restore the terminal.
func TestPanicsReachTheCaller(t *testing.T) {
	s := newBench(t).service()
	defer func() {
		if r := recover(); r != "planted" {
			t.Errorf("recovered %v", r)
		}
	}()
	s.parallel(t.Context(), verifiers, 20, func(i int) {
		if i == 3 {
			panic("planted")
		}
	})
	t.Error("the panic was lost")
}

// What a person did not see is not recovered with the rest.
func TestRecoverAllActsOnWhatWasShown(t *testing.T) {
	b := newBench(t)
	b.crash("safe", "seen")
	b.crash("safe", "unseen")
	s := b.service()
	row := b.row(s, "seen")
	got := get[map[string]RecoverAllResult](t)(s.RecoverAll(t.Context(), "", "", RecoverAllOptions{Takeover: true, Shown: map[Ref]string{row.Ref: row.Version}}))
	if r := got["seen"]; r.Outcome == nil || r.Outcome.Status != "done" {
		t.Errorf("seen: %+v", r)
	}
	if r := got["unseen"]; r.Problem == nil || r.Problem.Exit() != 4 {
		t.Errorf("unseen: %+v", r)
	}
}

// The list says of a stuck run what its overview says: a call that was resolved is
// told, also where rows are not verified.
func TestTheListTellsThatACallWasResolved(t *testing.T) {
	b := newBench(t)
	b.crash("mail", "order-7")
	s := b.service()
	ref := s.Find("order-7", "")
	get[Outcome](t)(s.Act(t.Context(), Request{Ref: ref, Action: Resolve, NotRun: true}, nil))
	for _, tab := range []Tab{TabNeedsYou, TabRunning, TabAll} {
		r := get[Page](t)(s.List(t.Context(), Query{Tab: tab})).Rows[0]
		if want := "send.1 resolved, and no worker has picked the run up"; r.Why != want || r.Next != get[Detail](t)(s.Show(t.Context(), ref)).Next {
			t.Errorf("%s: %q, next %q", tab, r.Why, r.Next)
		}
		if !r.Recoverable() {
			t.Errorf("%s: it cannot be recovered: %v", tab, r.Badges)
		}
	}
	s = b.service(func(o *Options) { o.ReadOnly = true })
	if r := get[Page](t)(s.List(t.Context(), Query{})).Rows[0]; r.Recoverable() {
		t.Error("it is recovered where nothing is written")
	}
}
