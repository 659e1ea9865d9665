package storetest

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// Harness is what a driver brings to the suite.
type Harness struct {
	// Open gives an empty, writable store that nobody else uses.
	Open func(t *testing.T) stores.Store
	// Reopen closes a store and opens it again. It is nil for a driver whose
	// stores end with the process.
	Reopen func(t *testing.T, s stores.Store) stores.Store
	// Advance moves the clock that leases are measured by.
	Advance func(d time.Duration)
	// Groups are the groups of cases to run, none for all.
	Groups []string
}

// All is a store with every capability.
type All interface {
	stores.Store
	stores.Lister
	stores.Historian
	stores.EventLog
	stores.Grapher
	stores.Watcher
	stores.Leaser
	stores.Preparer
	stores.Remover
	stores.Importer
	stores.Auditor
	stores.Examiner
}

// Run runs the suite.
func Run(t *testing.T, h Harness) {
	groups := []struct {
		name  string
		cases []testCase
	}{
		{"save", saveCases},
		{"atomic", atomicCases},
		{"history", historyCases},
		{"calls", callCases},
		{"open", openCases},
		{"events", eventCases},
		{"graph", graphCases},
		{"list", listCases},
		{"filter", filterCases},
		{"delete", deleteCases},
		{"import", importCases},
		{"examine", examineCases},
		{"copies", copyCases},
		{"ids", idCases},
		{"values", valueCases},
		{"life", lifeCases},
		{"lease", leaseCases},
		{"watch", watchCases},
		{"race", raceCases},
	}
	for _, g := range groups {
		if len(h.Groups) > 0 && !slices.Contains(h.Groups, g.name) {
			continue
		}
		t.Run(g.name, func(t *testing.T) {
			for _, c := range g.cases {
				t.Run(c.name, func(t *testing.T) { c.run(newSuite(t, h)) })
			}
		})
	}
}

type testCase struct {
	name string
	run  func(*suite)
}

// suite is one case on its own store.
type suite struct {
	*testing.T
	All
	h   Harness
	ctx context.Context
	id  string // of the store
}

func newSuite(t *testing.T, h Harness) *suite {
	t.Helper()
	s := &suite{T: t, h: h, ctx: t.Context()}
	s.use(h.Open(t))
	if err := s.Prepare(s.ctx); err != nil {
		t.Fatalf("prepare: %v", err)
	}
	info, err := s.Info(s.ctx)
	if err != nil || info.ID == "" || info.ReadOnly {
		t.Fatalf("a prepared store has an id and can be written: %+v, %v", info, err)
	}
	s.id = info.ID
	t.Cleanup(func() {
		if _, err := s.Info(context.Background()); !errors.Is(err, stores.ErrClosed) {
			Check(t, s.All)
		}
		if err := s.All.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func (s *suite) use(store stores.Store) {
	s.Helper()
	all, ok := store.(All)
	if !ok {
		s.Fatalf("%T lacks a capability: %s", store, missing(store))
	}
	s.All = all
}

func missing(s stores.Store) (names string) {
	note := func(has bool, name string) {
		if !has {
			names += name + " "
		}
	}
	_, ok := s.(stores.Lister)
	note(ok, "Lister")
	_, ok = s.(stores.Historian)
	note(ok, "Historian")
	_, ok = s.(stores.EventLog)
	note(ok, "EventLog")
	_, ok = s.(stores.Grapher)
	note(ok, "Grapher")
	_, ok = s.(stores.Watcher)
	note(ok, "Watcher")
	_, ok = s.(stores.Leaser)
	note(ok, "Leaser")
	_, ok = s.(stores.Preparer)
	note(ok, "Preparer")
	_, ok = s.(stores.Remover)
	note(ok, "Remover")
	_, ok = s.(stores.Importer)
	note(ok, "Importer")
	_, ok = s.(stores.Auditor)
	note(ok, "Auditor")
	_, ok = s.(stores.Examiner)
	note(ok, "Examiner")
	return names
}

// The helpers below fail the case when a call does not go as expected.

func (s *suite) ok(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *suite) fails(err, class error) {
	s.Helper()
	if !errors.Is(err, class) {
		s.Fatalf("got %v, want an error that is %q", err, class)
	}
}

func (s *suite) place(run string) stores.Place {
	return s.placeOf(stores.Key{Owner: stores.DefaultOwner, Run: run})
}

func (s *suite) placeOf(k stores.Key) stores.Place {
	return stores.Place{Key: k, Store: s.id, Incarnation: "first"}
}

func (s *suite) save(w stores.Save) {
	s.Helper()
	s.ok(s.Save(s.ctx, w))
}

func (s *suite) record(c stores.Call) {
	s.Helper()
	s.ok(s.RecordCall(s.ctx, stores.CallWrite{Call: c}))
}

// steps saves steps 0 to last of a run and returns its place.
func (s *suite) steps(run string, last int64) stores.Place {
	s.Helper()
	p := s.place(run)
	for n := range last + 1 {
		s.save(Step(p, n))
	}
	return p
}
