package viewer

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/stores"
)

// damage is a store whose disk gives errors for parts of a run.
type damage struct {
	*tamper
	calls, events string // the run of which they cannot be read
	class         error
	info          *stores.Info // what it says of itself instead
	gone          bool
}

func (d *damage) fail(op string, k stores.Key) error {
	return &stores.OpError{Op: op, Store: "/disk", Key: k, Class: d.class, Err: errors.New("database disk image is malformed")}
}

func (d *damage) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	if k.Run == d.calls {
		return nil, d.fail("calls", k)
	}
	return d.tamper.Calls(ctx, k, since)
}

func (d *damage) Events(ctx context.Context, k stores.Key, after int64, limit int) ([]stores.Event, error) {
	if k.Run == d.events {
		return nil, d.fail("events", k)
	}
	return d.tamper.Events(ctx, k, after, limit)
}

func (d *damage) Info(ctx context.Context) (stores.Info, error) {
	switch {
	case d.gone:
		return stores.Info{}, &stores.OpError{Op: "info", Class: stores.ErrNotFound}
	case d.info != nil:
		return *d.info, nil
	}
	return d.tamper.Info(ctx)
}

func (b *bench) damaged() (*Service, *damage) {
	d := &damage{tamper: &tamper{Store: b.store}, class: stores.ErrUnreadable}
	o := b.options()
	o.Formats = Registry{memoryFormat(map[string]stores.Store{"mem": d})}
	return attach(b.t, o, "mem"), d
}

// A run whose calls cannot be read is not said to have none in doubt.
func TestUnreadableCallsAreNoClaim(t *testing.T) {
	b := newBench(t)
	b.abandon("cut-1")
	b.crash("mail", "order-7")
	b.start("plain", "ok-1")
	for _, run := range []string{"cut-1", "order-7"} {
		for _, check := range []bool{false, true} {
			s, d := b.damaged()
			d.calls = run
			if run == "cut-1" && !check {
				continue // the list entry says that no call is open, and is signed
			}
			page := get[Page](t)(s.List(t.Context(), Query{Check: check}))
			if len(page.Rows) != 3 || len(page.Unread) != 1 || page.Unread[0].Exit() != 6 || page.Unread[0].Run != run {
				t.Fatalf("%s: %d rows, unread %+v", run, len(page.Rows), page.Unread)
			}
			for _, r := range page.Rows {
				if r.Run != run {
					continue
				}
				if r.Verdict != Unreadable || r.Status != unreadable || !strings.HasPrefix(r.Why, "its call log cannot be read: ") || len(r.Badges) != 1 || r.Badges[0] != Tampered {
					t.Errorf("%s: %s", run, asText(t, r))
				}
			}
			page = get[Page](t)(s.List(t.Context(), Query{Tab: TabInDoubt, Check: check}))
			if run == "order-7" && len(page.Unread) != 1 {
				t.Errorf("the tab of runs in doubt leaves %s out without a word", run)
			}
		}
	}
}

func TestVerifyGoesOnBehindDamage(t *testing.T) {
	b := newBench(t)
	for _, run := range []string{"a", "b", "c", "d"} {
		b.start("plain", run)
	}
	s, d := b.damaged()
	d.calls, d.events = "b", "c"
	rep := get[Report](t)(s.Verify(t.Context(), VerifyRequest{}))
	if rep.Runs != 4 || rep.Verified != 2 || len(rep.Findings) != 2 || len(rep.Problems) != 0 {
		t.Fatalf("%+v", rep)
	}
	for i, want := range []string{"call", "event"} {
		if f := rep.Findings[i]; f.Record != want || f.Verdict != Unreadable || f.Run != []string{"b", "c"}[i] {
			t.Errorf("%+v", f)
		}
	}
	d.class = stores.ErrBusy // that says nothing about the rows
	rep = get[Report](t)(s.Verify(t.Context(), VerifyRequest{}))
	if rep.Runs != 2 || rep.Verified != 2 || len(rep.Findings) != 0 || len(rep.Problems) != 1 {
		t.Errorf("%+v", rep)
	}
}

// What cannot be read now may be read soon.
func TestDamageIsNotRememberedForLong(t *testing.T) {
	b := newBench(t)
	b.start("plain", "a")
	s, d := b.damaged()
	d.events = "a"
	get[Report](t)(s.Verify(t.Context(), VerifyRequest{}))
	verdict := func() Verdict { return get[Page](t)(s.List(t.Context(), Query{})).Rows[0].Verdict }
	if v := verdict(); v != Unreadable {
		t.Errorf("%q", v)
	}
	d.events = ""
	b.wait(2 * freshFor)
	if v := verdict(); v != Unchecked {
		t.Errorf("%q", v)
	}
	if rep := get[Report](t)(s.Verify(t.Context(), VerifyRequest{Newest: 10})); rep.Verified != 1 {
		t.Errorf("%+v", rep)
	}
}

// A store that is no longer there has no runs, but nobody may be told zero.
func TestAStoreThatVanishes(t *testing.T) {
	b := newBench(t)
	b.start("plain", "a")
	for name, change := range map[string]func(*damage){
		"is gone":                     func(d *damage) { d.gone = true },
		"was replaced by an empty":    func(d *damage) { d.info = &stores.Info{Format: "memory"} },
		"was replaced by another sto": func(d *damage) { d.info = &stores.Info{Format: "memory", ID: "other"} },
	} {
		s, d := b.damaged()
		ref := s.Find("a", "")
		get[Page](t)(s.List(t.Context(), Query{}))
		change(d)
		page := get[Page](t)(s.List(t.Context(), Query{}))
		if len(page.Problems) != 1 || !strings.Contains(page.Problems[0].Problem.Message, name) || len(page.Rows) != 0 {
			t.Errorf("%s: %+v", name, page)
		}
		if n, err := s.Counts(t.Context(), Query{}); err == nil || !strings.Contains(s.Explain(err).Message, name) {
			t.Errorf("%s: %v, %v", name, n, err)
		}
		if _, err := s.Act(t.Context(), Request{Ref: ref, Action: Recover}, nil); err == nil || !strings.Contains(s.Explain(err).Message, name) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := s.Show(t.Context(), Ref{Store: ref.Store, Owner: "default", Run: "none"}); err == nil || !strings.Contains(s.Explain(err).Message, name) {
			t.Errorf("%s: %v", name, err)
		}
		d.gone, d.info = false, nil
		if page := get[Page](t)(s.List(t.Context(), Query{})); len(page.Problems) != 0 || len(page.Rows) != 1 {
			t.Errorf("%s: it came back: %+v", name, page)
		}
	}
}

// The header says whether the key fits what is there now.
func TestTheKeyStateFollowsTheStore(t *testing.T) {
	b := newBench(t)
	s, d := b.damaged()
	state := func() string {
		get[Page](t)(s.List(t.Context(), Query{}))
		return s.Stores()[0].Key
	}
	if k := state(); strings.HasSuffix(k, " ok") {
		t.Errorf("empty: %q", k)
	}
	b.start("plain", "a")
	if k := state(); !strings.HasSuffix(k, " ok") {
		t.Errorf("with a run: %q", k)
	}
	d.head = func(h *stores.Head) { h.KeyID = "another" }
	if k := state(); !strings.HasSuffix(k, "does not fit") {
		t.Errorf("another's: %q", k)
	}
}

// A run of which not even the status can be read needs a person, and a list that
// has it was read only in part.
func TestWhatCannotBeReadNeedsYou(t *testing.T) {
	b := newBench(t)
	b.start("plain", "bad")
	b.start("plain", "good")
	s, w := b.tampered()
	w.head = func(h *stores.Head) {
		if h.Run == "bad" {
			h.Bad, h.Status, h.Payload = "the row was cut", "", nil
		}
	}
	page := get[Page](t)(s.List(t.Context(), Query{}))
	if len(page.Unread) != 1 || page.Unread[0].Run != "bad" || page.Unread[0].Exit() != 6 {
		t.Errorf("unread: %+v", page.Unread)
	}
	get[Report](t)(s.Verify(t.Context(), VerifyRequest{Newest: 10})) // the look in the background
	if got := runs(get[Page](t)(s.List(t.Context(), Query{Tab: TabNeedsYou})).Rows); got != "bad" {
		t.Errorf("needs-you has %q, want bad", got)
	}
}
