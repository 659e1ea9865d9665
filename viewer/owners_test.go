package viewer

import (
	"errors"
	"reflect"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// startFor starts a run of an owner.
func (b *bench) startFor(owner, flow, run string) {
	b.t.Helper()
	if _, err := b.runner("worker-1").Run(b.t.Context(), b.flows.flows[flow], engine.Start{Key: stores.Key{Owner: owner, Run: run}}); err != nil {
		b.t.Fatal(err)
	}
}

func ownersBench(t *testing.T) *bench {
	b := newBench(t)
	b.startFor("default", "tickets", "order-1") // waits for an approval
	b.startFor("alice", "tickets", "order-2")
	b.startFor("alice", "approval", "trip-1")    // asks
	b.startFor("bob\u202e", "plain", "report-1") // is done
	return b
}

func TestOwners(t *testing.T) {
	want := []Owner{{"alice", "alice", 2}, {"default", "default", 1}, {"bob\u202e", `bob\u{202e}`, 0}}
	for _, o := range []Options{{Owner: "*"}, {AnyOwner: true}, {Owner: "bob\u202e", AnyOwner: true}} {
		s := ownersBench(t).service(func(to *Options) { to.Owner, to.AnyOwner = o.Owner, o.AnyOwner })
		equals(t, get[[]Owner](t)(s.Owners(t.Context())), want)
		if !s.Stores()[0].AnyOwner {
			t.Errorf("%+v: the screens are kept to one owner", o)
		}
	}
}

// What was asked for one owner tells nothing of the others.
func TestOwnersOfOneOwner(t *testing.T) {
	b := ownersBench(t)
	for owner, want := range map[string][]Owner{"alice": {{"alice", "alice", 2}}, "": {{"default", "default", 1}}, "nobody": {}} {
		s := b.service(func(o *Options) { o.Owner = owner })
		equals(t, get[[]Owner](t)(s.Owners(t.Context())), want)
		if s.Stores()[0].AnyOwner {
			t.Errorf("%q: the screens may show other owners", owner)
		}
	}
}

// A store that does not answer is not a store without owners.
func TestOwnersOfADeadStore(t *testing.T) {
	b := ownersBench(t)
	s := b.service(func(o *Options) { o.Owner = "*" })
	if err := b.store.Close(); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Owners(t.Context()); !errors.Is(err, stores.ErrClosed) || list != nil {
		t.Errorf("%v, %v", list, err)
	}
}

// The runs without an owner are not those of the Service's own.
func TestQueryWithoutOwner(t *testing.T) {
	s := ownersBench(t).service()
	equals(t, runs(get[Page](t)(s.List(t.Context(), Query{})).Rows), "order-1")
	equals(t, runs(get[Page](t)(s.List(t.Context(), Query{None: true})).Rows), "")
	equals(t, get[Counts](t)(s.Counts(t.Context(), Query{None: true}))[TabAll], int64(0))
	equals(t, get[Report](t)(s.Verify(t.Context(), VerifyRequest{None: true})).Runs, 0)
	equals(t, get[Report](t)(s.Verify(t.Context(), VerifyRequest{})).Runs, 1)
}

func equals(t *testing.T, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
