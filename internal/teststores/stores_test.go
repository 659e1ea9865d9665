package teststores_test

import (
	"testing"

	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/storetest"
)

// Two stores of one host have nothing in common, and a place opens the same
// store each time.
func TestFreshStoresAreApart(t *testing.T) {
	for _, kind := range teststores.Kinds() {
		t.Run(kind, func(t *testing.T) {
			host := teststores.NewHost(t, kind)
			open := func(p teststores.Place) teststores.Store {
				s, err := p.Open(t.Context(), teststores.Kill)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				return s
			}
			one, two := host.Fresh(), host.Fresh()
			first, again, other := open(one), open(one), open(two)
			p := stores.Place{Key: stores.Key{Owner: stores.DefaultOwner, Run: "r"}, Store: "test", Incarnation: "first"}
			for _, s := range []teststores.Store{first, other} {
				if err := s.Prepare(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if err := first.Save(t.Context(), storetest.Step(p, 0)); err != nil {
				t.Fatal(err)
			}
			for s, want := range map[teststores.Store]int{again: 1, other: 0} {
				if heads, err := s.ListUnfinished(t.Context(), stores.AnyOwner); err != nil || len(heads) != want {
					t.Errorf("%d runs, want %d: %v", len(heads), want, err)
				}
			}
			a, err1 := first.Info(t.Context())
			b, err2 := other.Info(t.Context())
			if err1 != nil || err2 != nil || a.ID == b.ID {
				t.Errorf("%+v and %+v: %v, %v", a, b, err1, err2)
			}
		})
	}
}

func TestUnknownKind(t *testing.T) {
	if _, err := (teststores.Place{Kind: "paper"}).Open(t.Context(), teststores.PowerCut); err == nil {
		t.Error("it was opened")
	}
}
