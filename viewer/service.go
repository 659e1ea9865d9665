package viewer

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// Service is the one façade over the attached stores. It is safe for
// concurrent use.
type Service struct {
	o      Options
	stores []*attachment
	twice  []string // what was given twice, for Warnings

	mu       sync.Mutex
	verdicts map[Ref]checked
	seen     map[Ref]sighting

	teffOnce sync.Once
	teff     []workflow
	teffErr  error
}

func newService(o Options) *Service {
	return &Service{o: o.withDefaults(), verdicts: map[Ref]checked{}, seen: map[Ref]sighting{}}
}

// whyReadOnly is why this Service refuses every action.
func (s *Service) whyReadOnly() string {
	return nameOr(s.o.ReadOnlyWhy, "flowtui was started with --read-only")
}

// Close releases the stores.
func (s *Service) Close() error {
	var errs []error
	for _, a := range s.stores {
		errs = append(errs, a.store.Close())
	}
	return errors.Join(errs...)
}

func (s *Service) now() time.Time { return s.o.Clock().UTC() }

// Find names a run for the command line: in the first attached store, of the
// given owner or the Service's.
func (s *Service) Find(run, owner string) Ref {
	r := Ref{Owner: owner, Run: run}
	if r.Owner == "" {
		r.Owner = s.o.Owner
	}
	if r.Owner == stores.AnyOwner {
		r.Owner = stores.DefaultOwner
	}
	if len(s.stores) > 0 {
		r.Store = s.stores[0].label
	}
	return r
}

// at is the store and the key of a run.
func (s *Service) at(ref Ref) (*attachment, stores.Key, error) {
	k := stores.Key{Owner: ref.Owner, Run: ref.Run}
	if k.Owner == "" {
		k.Owner = stores.DefaultOwner
	}
	a, err := s.attached(ref.Store)
	switch {
	case err != nil:
	case a.format.Unsigned: // other programs have other rules for names
		k.Owner = ref.Owner
	default:
		err = k.Validate()
	}
	return a, k, err
}

func (s *Service) attached(label string) (*attachment, error) {
	for _, a := range s.stores {
		if a.label == label || label == "" {
			return a, nil
		}
	}
	return nil, Problem{Code: "not-found", Message: fmt.Sprintf("no store %q is attached", label)}
}

func (a *attachment) ref(k stores.Key) Ref { return Ref{Store: a.label, Owner: k.Owner, Run: k.Run} }

// out lets a value leave the Service.
// ForPeople scrubs a value of a raw Service, see [Options.Raw]: what goes to a
// person is scrubbed whatever the format of the results.
func ForPeople[T any](v T) T {
	boundary{scrub: true}.apply(&v)
	return v
}

func out[T any](s *Service, v T, reveal bool) T {
	boundary{mask: !reveal, scrub: !s.o.Raw}.apply(&v)
	return v
}
