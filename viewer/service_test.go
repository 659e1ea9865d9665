package viewer

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// List, show and plan say the same of every kind of run, with every field that
// the contract of the command line names.
func TestEveryFaceOfARun(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	b.crash("mail", "order-7")
	b.start("nightly", "sync-1")
	b.start("approval", "trip-2")
	b.abandon("cut-1")
	b.start("plain", "ok-1")
	b.wait(12 * time.Minute)
	s := b.service()
	want := map[string]string{
		"order-9": "paused [paused] resume", "order-7": "running [in-doubt] recover", "sync-1": "failed [failed] none",
		"trip-2": "paused [paused] resume", "cut-1": "running [stuck] recover", "ok-1": "done [done] none",
	}
	page := get[Page](t)(s.List(t.Context(), Query{Check: true}))
	for _, r := range page.Rows {
		d := get[Detail](t)(s.Show(t.Context(), r.Ref))
		p := get[Plan](t)(s.Plan(t.Context(), r.Ref, false))
		if got := fmt.Sprintf("%s %v %s", r.Status, r.Badges, p.Action); got != want[r.Run] {
			t.Errorf("%s: %s, want %s", r.Run, got, want[r.Run])
		}
		if list, show := asText(t, r), asText(t, d.Row); list != show {
			t.Errorf("%s: the list says\n%s\nand show\n%s", r.Run, list, show)
		}
		if r.Why == "" || (r.Next == "") != (r.Status == "done") || p.Row.Why != r.Why || r.Verdict != Verified {
			t.Errorf("%s: why %q, next %q, plan says %q, %s", r.Run, r.Why, r.Next, p.Row.Why, r.Verdict)
		}
		fields(t, r, "store", "owner", "run", "flow", "kind", "status", "badges", "verdict", "step", "segment", "at", "waiting", "why", "updated", "lease")
		fields(t, d, "store", "owner", "run", "identity", "digest", "error", "history")
		fields(t, p, "run", "action", "version", "replay", "rerun", "in_doubt", "decision", "lease", "blocked")
	}
	if len(page.Rows) != len(want) {
		t.Errorf("%d rows, want %d", len(page.Rows), len(want))
	}
}

// fields fails unless a value's JSON has the named keys.
func fields(t *testing.T, v any, names ...string) {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(asText(t, v)), &m); err != nil {
		t.Fatal(err)
	}
	for _, n := range names {
		if _, ok := m[n]; !ok {
			t.Errorf("%T has no %q", v, n)
		}
	}
}

// dropping is a store that drops a run by itself.
type dropping struct {
	*memory.Store
	at  time.Time
	err error
}

func (d dropping) Expires(_ context.Context, k stores.Key) (time.Time, bool, error) {
	return d.at, k.Run == "soon", d.err
}

func TestShowTellsWhenARunIsDropped(t *testing.T) {
	b := newBench(t)
	b.start("plain", "soon")
	b.start("plain", "never")
	at := b.now().Add(time.Hour)
	s := b.service(func(o *Options) { o.Formats[0].Open = opens(dropping{b.store, at, nil}) })
	if d := get[Detail](t)(s.Show(t.Context(), s.Find("soon", ""))); d.Expires == nil || !d.Expires.Equal(at) {
		t.Errorf("it is dropped at %v, want %v", d.Expires, at)
	}
	if d := get[Detail](t)(s.Show(t.Context(), s.Find("never", ""))); d.Expires != nil {
		t.Errorf("it is dropped at %v", d.Expires)
	}
	gone := b.service(func(o *Options) { o.Formats[0].Open = opens(dropping{b.store, at, stores.ErrNotFound}) })
	if _, err := gone.Show(t.Context(), s.Find("soon", "")); gone.Explain(err).Code != codeNotFound {
		t.Errorf("it was dropped meanwhile: %v", err)
	}
}
