package viewer

import (
	"errors"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// restored is the identity to act with on a run that is there: it keeps its user
// and thread, whoever acts, see Options.By. Only its principal is asked for back.
func (s *Service) restored() stores.Identity {
	return stores.Identity{Principal: s.o.Identity.Principal}
}

// principalHint is what to do when it was not given.
const principalHint = "give the run's own principal with --principal"

// wantsPrincipal hints at the principal alone where a run was refused for it: the
// user is who acts, and giving the run's own would log the wrong person.
func (s *Service) wantsPrincipal(h stores.Head, err error) error {
	if h.Principal == s.o.Identity.Principal || !errors.Is(err, engine.ErrRefused) {
		return err
	}
	p := explain(err)
	p.Hint = principalHint
	return p
}
