package viewer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

// examined is a store whose driver tells what a test wants.
type examined struct {
	stores.Store
	stores.Lister
	tells stores.Examination
	err   error
}

func (e examined) Examine(context.Context) (stores.Examination, error) { return e.tells, e.err }

func (b *bench) examine(t *testing.T, tells stores.Examination, err error, change ...func(*Options)) Health {
	t.Helper()
	change = append(change, func(o *Options) {
		o.Formats[0].Open = opens(examined{b.store, b.store, tells, err})
	})
	return get[Health](t)(b.service(change...).Examine(t.Context()))
}

func (h Health) may(what string) string {
	i := slices.IndexFunc(h.May, func(m Ability) bool { return m.What == what })
	return h.May[i].Why
}

func TestDoctorOfASoundStore(t *testing.T) {
	b := newBench(t)
	b.start("plain", "a")
	b.start("tickets", "b")
	h := b.examine(t, stores.Examination{Clock: b.now().Add(1500 * time.Millisecond), Bytes: 7}, nil)
	if !h.OK || len(h.Problems) > 0 || !h.Writable || h.Runs["done"] != 1 || h.Runs["paused"] != 1 || *h.Bytes != 7 || h.ID == "" {
		t.Errorf("%+v", h)
	}
	if len(h.Keys) != 1 || h.Keys[0].Rows != 2 || h.Keys[0].Result != Verified || h.Keys[0].Key != b.keys.ID() {
		t.Errorf("keys %+v", h.Keys)
	}
	if h.Clock == nil || h.Clock.Ahead != 1500 || h.Latency.Reads != examinedReads || h.Latency.Min > h.Latency.Median {
		t.Errorf("clock %+v, latency %+v", h.Clock, h.Latency)
	}
	if h.may("verify") != "" || h.may("delete runs") == "" || !strings.Contains(h.may("bring runs on"), "--flows") {
		t.Errorf("may %+v", h.May)
	}
}

// Each thing that is wrong is told, and makes the whole not sound.
func TestDoctorTellsWhatIsWrong(t *testing.T) {
	b := newBench(t)
	b.start("plain", "a")
	other := seal.NewKeyring(key(t, "o"))
	ok := stores.Examination{Bytes: -1}
	for name, c := range map[string]struct {
		h    Health
		want string
	}{
		"no key":      {b.examine(t, ok, nil, func(o *Options) { o.Keys = nil }), "no key was given"},
		"another key": {b.examine(t, ok, nil, func(o *Options) { o.Keys = other }), "which was not given"},
		"slow clock":  {b.examine(t, stores.Examination{Clock: b.now().Add(-time.Minute), Bytes: -1}, nil), "1m0s apart"},
		"driver":      {b.examine(t, stores.Examination{Facts: []stores.Fact{{Name: "disk", Value: "full", Problem: "make room"}}}, nil), "disk: make room"},
		"driver down": {b.examine(t, ok, errors.New("it burns")), "it burns"},
	} {
		if c.h.OK || len(c.h.Problems) != 1 || !strings.Contains(c.h.Problems[0], c.want) {
			t.Errorf("%s: %q, want %q", name, c.h.Problems, c.want)
		}
	}
	wrong := b.examine(t, ok, nil, func(o *Options) { o.Keys = other })
	for _, what := range []string{"verify", "approve, deny, answer, resolve", "bring runs on"} {
		if !strings.Contains(wrong.may(what), "a key that was not given") {
			t.Errorf("with another key one may %s: %q", what, wrong.may(what))
		}
	}
	if h := b.examine(t, ok, nil, func(o *Options) { o.ReadOnly = true }); !h.OK || h.Writable || h.may("delete runs") != h.Why || h.Bytes != nil {
		t.Errorf("read-only: %+v", h)
	}
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
}

// A store that went away after it was attached is a finding, no error.
func TestDoctorOfAStoreThatIsGone(t *testing.T) {
	b := newBench(t)
	s := b.service()
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	if h := get[Health](t)(s.Examine(t.Context())); h.OK || len(h.Problems) != 1 {
		t.Errorf("%+v", h)
	}
}

// crippled is a store of which only so many lists can be read, and of a run only
// what is left.
type crippled struct {
	*memory.Store
	lists                     int
	latest, calls, log, heads error
}

func (c *crippled) List(ctx context.Context, q stores.Query) (stores.Page, error) {
	if c.lists--; c.lists < 0 {
		return stores.Page{}, errors.New("it burns")
	}
	return c.Store.List(ctx, q)
}

func (c *crippled) Head(ctx context.Context, k stores.Key) (stores.Head, error) {
	if c.heads != nil {
		return stores.Head{}, c.heads
	}
	return c.Store.Head(ctx, k)
}

func (c *crippled) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	if c.latest != nil {
		return stores.Checkpoint{}, c.latest
	}
	return c.Store.Latest(ctx, k)
}

func (c *crippled) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	if c.calls != nil {
		return nil, c.calls
	}
	return c.Store.Calls(ctx, k, since)
}

func (c *crippled) Events(ctx context.Context, k stores.Key, after int64, limit int) ([]stores.Event, error) {
	if c.log != nil {
		return nil, c.log
	}
	return c.Store.Events(ctx, k, after, limit)
}

// A store that makes a list is not sound for that: what belongs to a run has to be
// there too, and every read that fails is told. A run that goes meanwhile is none.
func TestDoctorReadsMoreThanTheList(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "b")
	noTable := errors.New("no such table")
	for name, c := range map[string]struct {
		store crippled
		want  string // "" for a sound one
	}{
		"sound":            {crippled{lists: 99}, ""},
		"no lists":         {crippled{}, "its runs cannot be listed: it burns"},
		"lists for a time": {crippled{lists: 3}, "it answered, and then did not: it burns"},
		"no checkpoints":   {crippled{lists: 99, latest: noTable}, "the checkpoint of the newest run, b of default, cannot be read: no such table"},
		"a lost one":       {crippled{lists: 99, latest: stores.ErrNotFound}, "the checkpoint of the newest run, b of default, cannot be read"},
		"deleted":          {crippled{lists: 99, latest: stores.ErrNotFound, heads: stores.ErrNotFound}, ""},
		"no calls":         {crippled{lists: 99, calls: noTable}, "the call log of the newest run, b of default, cannot be read: no such table"},
		"no events":        {crippled{lists: 99, log: noTable}, "the log of the newest run, b of default, cannot be read: no such table"},
	} {
		for _, unsigned := range []bool{false, true} {
			c.store.Store = b.store
			store := c.store
			store.lists = 99
			s := b.service(func(o *Options) { o.Formats[0].Open, o.Formats[0].Unsigned = opens(&store), unsigned })
			store.lists = c.store.lists
			h := get[Health](t)(s.Examine(t.Context()))
			if c.want == "" && !h.OK || c.want != "" && (h.OK || len(h.Problems) != 1 || !strings.Contains(h.Problems[0], c.want)) {
				t.Errorf("%s, unsigned %v: %v %q, want %q", name, unsigned, h.OK, h.Problems, c.want)
			}
		}
	}
}
