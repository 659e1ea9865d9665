package viewer

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/bundle"
	"github.com/flowtui/flowtui/stores/memory"
)

// exportAll makes a bundle of runs and returns where it is.
func (b *bench) exportAll(runs ...string) string {
	b.t.Helper()
	s, path := b.service(), filepath.Join(b.t.TempDir(), "x.bundle")
	e := get[Exported](b.t)(s.Export(b.t.Context(), ExportRequest{
		Refs: b.refs(s, runs...),
		Create: func(store string, created time.Time, by, note string) (BundleWriter, error) {
			return bundle.Create(path, bundle.About{Store: store, Created: created, By: by, Note: note})
		},
	}, nil))
	if len(e.Runs) != len(runs) || len(e.Failed) > 0 {
		b.t.Fatalf("exported %+v", e)
	}
	return path
}

// into is a Service on a store and a bundle.
func (b *bench) into(to stores.Store, path string, change ...func(*Options)) *Service {
	b.t.Helper()
	o := b.options()
	o.Formats = Registry{memoryFormat(map[string]stores.Store{"to": to}), {
		Name:  "bundle",
		Sniff: func(_ context.Context, spec string) (bool, string, error) { return spec == path, "", nil },
		Open:  func(ctx context.Context, spec string, _ bool) (stores.Store, error) { return bundle.Open(ctx, spec) },
	}}
	for _, f := range change {
		f(&o)
	}
	return attach(b.t, o, "to", path)
}

// A run that has not ended is imported by force only, and it is said that what
// was approved may be spent in both stores.
func TestImportOfAnUnfinishedRun(t *testing.T) {
	b := newBench(t)
	b.start("tickets", "order-9")
	get[Outcome](t)(b.service().Act(t.Context(), Request{Ref: Ref{Run: "order-9"}, Action: Approve, NoRun: true}, nil))
	path := b.exportAll("order-9")
	to := memory.New(memory.Options{Clock: b.now})
	s := b.into(to, path)
	plan := get[[]Importing](t)(s.PlanImport(t.Context(), stores.AnyOwner, false))
	if len(plan) != 1 || plan[0].Comes() || plan[0].Code != codeRefused || plan[0].Left != twice {
		t.Fatalf("%+v", plan)
	}
	plan = get[[]Importing](t)(s.PlanImport(t.Context(), stores.AnyOwner, true))
	if !plan[0].Comes() || !strings.Contains(plan[0].Mind, "both may spend it") || !strings.Contains(plan[0].Mind, "ada") {
		t.Fatalf("%+v", plan)
	}
	if done := get[[]Removed](t)(s.Import(t.Context(), plan, "moved", nil)); len(done) != 1 || done[0].Error != nil {
		t.Fatalf("%+v", done)
	}
	// A second one finds the id taken, also when it was planned before.
	if done := get[[]Removed](t)(s.Import(t.Context(), plan, "", nil)); done[0].Error == nil || done[0].Error.Code != codeConflict {
		t.Errorf("%+v", done)
	}
	k := stores.Key{Owner: "default", Run: "order-9"}
	here, err := to.Latest(t.Context(), k)
	there, err2 := b.store.Latest(t.Context(), k)
	if err != nil || err2 != nil || string(here.MAC) != string(there.MAC) || here.Store != there.Store {
		t.Errorf("the row was changed: %v, %v", err, err2)
	}
	r := get[Report](t)(attach(t, withStore(b.options(), to), "to").Verify(t.Context(), VerifyRequest{}))
	if r.Runs != 1 || r.Verified != 1 {
		t.Errorf("%+v", r)
	}
}

func withStore(o Options, s stores.Store) Options {
	o.Formats = Registry{memoryFormat(map[string]stores.Store{"to": s})}
	return o
}

func TestImportIsRefused(t *testing.T) {
	b := newBench(t)
	b.start("plain", "a")
	path := b.exportAll("a")
	to := memory.New(memory.Options{})
	two := b.options()
	two.Formats = Registry{memoryFormat(map[string]stores.Store{"mem": b.store, "another": to})}
	for name, c := range map[string]struct {
		s    *Service
		want string
	}{
		"no key":              {b.into(to, path, func(o *Options) { o.Keys = nil }), codeRefused},
		"a store of the core": {b.into(bare{to}, path), codeRefused},
		"no bundle":           {attach(t, two, "mem", "another"), codeUsage},
		"one store":           {b.service(), codeUsage},
	} {
		_, err := c.s.PlanImport(t.Context(), stores.AnyOwner, true)
		if p := c.s.Explain(err); err == nil || p.Code != c.want {
			t.Errorf("%s: %+v", name, p)
		}
	}
	s := b.into(to, path, func(o *Options) { o.ReadOnly = true })
	plan := get[[]Importing](t)(s.PlanImport(t.Context(), stores.AnyOwner, false))
	if _, err := s.Import(t.Context(), plan, "", nil); s.Explain(err).Code != codeRefused {
		t.Errorf("read-only: %v", err)
	}
	if heads, err := to.ListUnfinished(t.Context(), stores.AnyOwner); err != nil || len(heads) > 0 {
		t.Errorf("something was imported: %v, %v", heads, err)
	}
}
