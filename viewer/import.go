package viewer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// Importing is one run of a bundle that would be imported, or why it stays out.
// Its JSON is part of the contract of `flowtui import`.
type Importing struct {
	Owner   string    `json:"owner"`
	Run     string    `json:"run"`
	Flow    string    `json:"flow"`
	Status  string    `json:"status"`
	Step    int64     `json:"step"`
	Updated time.Time `json:"updated"`
	Verdict Verdict   `json:"verdict"`
	Left    string    `json:"left,omitempty"` // why it stays out, one sentence; "" when it is imported
	Mind    string    `json:"mind,omitempty"` // what to know before it is imported
	Code    string    `json:"-"`              // of Left, as in Problem

	key stores.Key
	mac []byte // of the newest checkpoint that was verified
}

// Comes reports whether the run is to be imported.
func (i Importing) Comes() bool { return i.Left == "" }

// twice is why a run that has not ended is not simply copied.
const twice = "it has not ended: it can be gone on with here and where it came from, and an approval can be given, and spent, in both"

// PlanImport says of every run of the second attached store, a bundle, whether
// it would be imported into the first. It touches nothing. A run that does not
// verify is never imported, nor one whose id is taken; force imports runs that
// have not ended, and from a bundle whose manifest does not verify. An owner
// other than AnyOwner selects runs.
func (s *Service) PlanImport(ctx context.Context, owner string, force bool) ([]Importing, error) {
	to, from, err := s.importPair()
	if err != nil {
		return nil, err
	}
	if b := s.bundled(ctx, from); b.verdict != Verified && (!force || !b.verdict.Bad()) {
		p := Problem{Code: codeRefused, Message: b.why, Hint: "give the key that the bundle was signed with: --force does not replace it"}
		if b.verdict.Bad() {
			p.Code, p.Hint = codeCorrupt, "with --force the runs of a bundle that was damaged are imported as far as they verify by themselves"
		}
		return nil, p
	}
	if err := s.fits(ctx, to, owner); err != nil {
		return nil, err
	}
	list := []Importing{}
	lister := from.store.(stores.Reader)
	q := stores.Query{Filter: stores.Filter{Owner: owner}, Limit: stores.MaxLimit}
	for {
		page, err := lister.List(ctx, q)
		if err != nil {
			return nil, err
		}
		for _, h := range page.Heads {
			i, err := s.planImport(ctx, h, force)
			if err != nil {
				return nil, err
			}
			list = append(list, i)
		}
		if q.Cursor = page.Next; q.Cursor == "" {
			return out(s, list, false), nil
		}
	}
}

// importPair are the store that runs go to and the bundle that they come from.
func (s *Service) importPair() (to, from *attachment, err error) {
	if len(s.stores) != 2 {
		return nil, nil, Problem{Code: codeUsage, Message: "an import needs a store and a bundle"}
	}
	to, from = s.stores[0], s.stores[1]
	if _, ok := from.store.(stores.Copy); !ok {
		return nil, nil, Problem{Code: codeUsage, Message: fmt.Sprintf("%s is no bundle but a %s store", from.label, from.format.Name), Hint: "export its runs into a bundle first"}
	}
	if _, ok := to.store.(stores.Importer); !ok || to.format.Unsigned {
		return nil, nil, Problem{Code: codeRefused, Message: fmt.Sprintf("a %s store takes no runs from a bundle", to.format.Name)}
	}
	return to, from, nil
}

func (s *Service) planImport(ctx context.Context, h stores.Head, force bool) (Importing, error) {
	to, from, err := s.importPair()
	if err != nil {
		return Importing{}, err
	}
	i := Importing{Owner: h.Owner, Run: h.Run, Flow: h.Flow, Status: string(h.Status), Step: h.Step, Updated: h.Updated.UTC(), key: h.Key}
	p, err := engine.MakePlan(ctx, from.store, s.o.Keys, h.Key)
	if err != nil {
		return i, err
	}
	i.Verdict, i.mac = Verdict(verdictOf(p.Findings)), p.Checkpoint.MAC
	if i.Verdict != Verified {
		i.Left, i.Code = "it does not verify: "+p.Findings[0].Reason, codeCorrupt
		if !i.Verdict.Bad() {
			i.Code = codeRefused
		}
		return i, nil
	}
	i.Status, i.Step = string(p.Checkpoint.Status), p.Checkpoint.Step
	taken, err := s.taken(ctx, to, p.Checkpoint)
	switch {
	case err != nil:
		return i, err
	case taken != "":
		i.Left, i.Code = taken, codeConflict
	case p.Checkpoint.Status.Final():
	case force:
		i.Mind = twice
		if n := len(p.Decisions); n > 0 {
			i.Mind += fmt.Sprintf("; the decision of %s is stored in it and not spent yet: both may spend it", p.Decisions[n-1].By)
		}
	default:
		i.Left, i.Code = twice, codeRefused
	}
	return i, nil
}

// taken is why a run's id is not free in a store.
func (s *Service) taken(ctx context.Context, to *attachment, c stores.Checkpoint) (string, error) {
	if to.id(ctx) == "" {
		return "", nil // nothing was ever written to it
	}
	there, err := to.store.Latest(ctx, c.Key)
	switch {
	case errors.Is(err, stores.ErrNotFound):
		return "", nil
	case err != nil && !damaged(err):
		return "", err
	case err == nil && bytes.Equal(there.MAC, c.MAC):
		return "it is there already, at the same step", nil
	case err == nil && there.Incarnation == c.Incarnation:
		return fmt.Sprintf("it is there already, at step %d", there.Step), nil
	}
	return "there is another run of this id", nil
}

// Import imports exactly the runs that the plan says come, each whole or not at
// all. One that fails does not stop the others.
func (s *Service) Import(ctx context.Context, plan []Importing, note string, progress func(done, total int)) ([]Removed, error) {
	list := []Removed{}
	to, from, err := s.importPair()
	if err != nil {
		return list, err
	}
	if err := s.MayBegin(ctx, Ref{Store: to.label, Owner: stores.AnyOwner}); err != nil {
		return list, err
	}
	if p, ok := to.store.(stores.Preparer); ok {
		if err := p.Prepare(ctx); err != nil {
			return list, err
		}
	}
	for n, i := range plan {
		if progress != nil {
			progress(n, len(plan))
		}
		if !i.Comes() {
			continue
		}
		if err := ctx.Err(); err != nil {
			return list, err
		}
		done := Removed{Owner: i.key.Owner, Run: i.key.Run}
		if err := s.importRun(ctx, to, from, i, note); err != nil {
			p := explain(err)
			done.Error = &p
		}
		list = append(list, done)
	}
	return out(s, list, false), nil
}

func (s *Service) importRun(ctx context.Context, to, from *attachment, i Importing, note string) error {
	run, err := stores.ReadRun(ctx, from.store.(stores.Reader), i.key)
	if err != nil {
		return err
	}
	if err := run.Check(); err != nil || !bytes.Equal(run.Last().MAC, i.mac) {
		return Problem{Code: codeConflict, Run: i.key.Run, Message: "the bundle was changed while it was imported"}
	}
	run, err = engine.Adopt(s.o.Keys, run, engine.Import{
		From: from.id(ctx), Store: to.id(ctx), By: s.o.By, Note: note, Bundle: manifestDigest(s.bundled(ctx, from).manifest), Clock: engine.Clock(s.o.Clock),
	})
	if err != nil {
		return err
	}
	err = to.store.(stores.Importer).Import(ctx, run)
	if errors.Is(err, stores.ErrUnknown) {
		if c, again := to.store.Latest(ctx, i.key); again == nil && bytes.Equal(c.MAC, i.mac) {
			err = nil
		}
	}
	if err != nil {
		return err
	}
	report, err := engine.Verify(ctx, to.store, s.o.Keys, i.key)
	if err == nil && report.Verdict != engine.Verified {
		err = Problem{Code: codeCorrupt, Run: i.key.Run, Message: "it was imported and does not verify: " + report.Findings[0].Reason}
	}
	return err
}
