package viewer

import (
	"context"
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// MayBegin is why nothing new may be written to the store under the key at hand,
// nil for no reason: to be asked before a person is. A run that is there is none
// of its concern: bringing it on verifies it. Without a Run it is about runs that
// are taken over from elsewhere.
func (s *Service) MayBegin(ctx context.Context, ref Ref) error {
	a, err := s.attached(ref.Store)
	if err != nil || a.format.Unsigned {
		return err
	}
	k := stores.Key{Owner: ref.Owner, Run: ref.Run}
	if err := s.writable(a, k); err != nil {
		return err
	}
	if _, err := s.runner(a, nil, &teller{s: s}); err != nil {
		return err // there is no key
	}
	if k.Run != "" && a.id(ctx) != "" {
		if _, err := s.head(ctx, a, k); !errors.Is(err, stores.ErrNotFound) {
			return nil
		}
	}
	return s.fits(ctx, a, k.Owner)
}

// fits refuses a key that none of the runs fits that are in the store, as far as
// the newest of the owner tell, or those of all where the owner has none: what it
// signed could be verified by nobody who has theirs. Keys are a store's, not an
// owner's: an owner with a key of their own would be one whose runs no other
// worker or viewer of the store can check.
func (s *Service) fits(ctx context.Context, a *attachment, owner string) error {
	lister, ok := a.store.(stores.Lister)
	if !ok || s.o.Keys == nil || a.id(ctx) == "" {
		return nil
	}
	for _, whose := range []string{owner, stores.AnyOwner} {
		page, err := lister.List(ctx, stores.Query{Filter: stores.Filter{Owner: whose}, Limit: examinedHeads})
		if err != nil {
			return err
		}
		theirs := ""
		for _, h := range page.Heads {
			switch err := engine.CheckHead(s.o.Keys, h); {
			case err == nil:
				return nil
			case theirs == "" && errors.Is(err, seal.ErrUnknownKey):
				theirs = h.KeyID
			}
		}
		if theirs != "" {
			return out(s, Problem{
				Code:    codeRefused,
				Message: fmt.Sprintf("the key does not fit the store: its runs are signed with key %s, and this is key %s", theirs, s.o.Keys.ID()),
				Hint:    "give the key that the runs were signed with; to change to a new one, put the new key in front of the old one in one key file: the first signs, all check",
			}, false)
		}
	}
	return nil
}
