package viewer

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// cutCalls is a store whose call log lacks some rows.
type cutCalls struct {
	*tamper
	gone func(stores.Call) bool
}

func (w *cutCalls) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	rows, err := w.tamper.Calls(ctx, k, since)
	return slices.DeleteFunc(rows, w.gone), err
}

// What is found without the key counts as with it: rows that are missing or
// cannot be read, in runs that have ended too. The sound ones are not called done
// and sound, but not checked.
func TestWhatIsFoundWithoutTheKeyCounts(t *testing.T) {
	b := newBench(t)
	b.start("mail", "cut")
	b.start("plain", "short")
	b.start("plain", "spoilt")
	b.start("mail", "sound")
	for name, keys := range map[string]*seal.Keyring{"the key": b.keys, "no key": nil, "another key": seal.NewKeyring(key(t, "o"))} {
		w := &cutCalls{tamper: &tamper{Store: b.store}}
		w.gone = func(c stores.Call) bool { return c.Run == "cut" && c.N == 1 }
		w.step = func(c *stores.Checkpoint) bool {
			if c.Run == "spoilt" && c.Step == 0 {
				c.Bad = "the row was cut"
			}
			return c.Run != "short" || c.Step != 0
		}
		o := b.options()
		o.Keys, o.Formats = keys, Registry{memoryFormat(map[string]stores.Store{"mem": w})}
		s := attach(t, o, "mem")
		if rep := get[Report](t)(s.Verify(t.Context(), VerifyRequest{Newest: 10})); rep.Runs != 4 {
			t.Errorf("%s: the look in the background read %d runs, want 4", name, rep.Runs)
		}
		if rep := get[Report](t)(s.Verify(t.Context(), VerifyRequest{Newest: 10})); rep.Runs != 0 {
			t.Errorf("%s: it read %d runs again", name, rep.Runs)
		}
		for _, tt := range []struct {
			run     string
			verdict Verdict
		}{{"cut", Gap}, {"short", Gap}, {"spoilt", Unreadable}} {
			if p := agree(t, s, tt.run, Tampered, tt.verdict); p.Blocked == nil || p.Row.Why == "it is done" {
				t.Errorf("%s: %s: blocked %v, why %q", name, tt.run, p.Blocked, p.Row.Why)
			}
		}
		if got := runs(get[Page](t)(s.List(t.Context(), Query{Tab: TabNeedsYou})).Rows); got != "cut short spoilt" {
			t.Errorf("%s: needs-you has %q", name, got)
		}
		if n := get[Counts](t)(s.Counts(t.Context(), Query{}))[TabNeedsYou]; n != 3 {
			t.Errorf("%s: %d are counted, want 3", name, n)
		}
		if r := b.row(s, "sound"); r.has(Tampered) || r.Verdict == Verified != (keys == b.keys) {
			t.Errorf("%s: a sound run is %q %v", name, r.Verdict, r.Badges)
		}
		for _, h := range get[Detail](t)(s.Show(t.Context(), s.Find("cut", ""))).History {
			if h.Verdict == Verified != (keys == b.keys) {
				t.Errorf("%s: step %d of a run with a gap is %q", name, h.Step, h.Verdict)
			}
		}
	}
}

func TestACallWithoutItsFirstRecord(t *testing.T) {
	b := newBench(t)
	b.start("mail", "cut")
	b.start("nightly", "sound") // whose call has no arguments
	w := &cutCalls{tamper: &tamper{Store: b.store}, gone: func(c stores.Call) bool { return c.Run == "cut" && c.N == 1 }}
	o := b.options()
	o.Formats = Registry{memoryFormat(map[string]stores.Store{"mem": w})}
	s := attach(t, o, "mem")
	for run, want := range map[string]bool{"cut": true, "sound": false} {
		calls := get[[]Call](t)(s.Calls(t.Context(), s.Find(run, ""), false))
		if len(calls) != 1 || strings.Contains(calls[0].Why, "the record with its arguments is missing") != want {
			t.Errorf("%s: %s", run, asText(t, calls))
		}
	}
}
