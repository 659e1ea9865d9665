package viewer

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// Verify checks every row of the given runs, or of all runs. It tells all
// findings, not the first. A run that cannot be read is a finding too; a store
// that cannot is a problem.
func (s *Service) Verify(ctx context.Context, r VerifyRequest) (Report, error) {
	report := Report{Findings: []Finding{}}
	refs := r.Refs
	if refs == nil {
		refs, report.Problems = s.allRefs(ctx, s.owned(r.Owner, r.None), r.Newest)
	}
	results := make([]verification, len(refs))
	var mu sync.Mutex
	done := 0
	s.parallel(ctx, verifiers, len(refs), func(i int) {
		results[i] = s.verifyOne(ctx, refs[i])
		mu.Lock()
		defer mu.Unlock()
		done++
		if r.Progress != nil {
			r.Progress(done, len(refs))
		}
	})
	if err := ctx.Err(); err != nil {
		return Report{}, err
	}
	for _, v := range results {
		switch {
		case v.err == nil:
		case r.Refs != nil:
			return Report{}, v.err
		case errors.Is(v.err, engine.ErrCheckpointNotFound):
			continue // deleted meanwhile
		default: // the store did not answer; the others are told all the same
			report.Problems = s.troubled(report.Problems, v)
			continue
		}
		report.Runs++
		if v.setBack {
			report.SetBack++
		}
		switch v.verdict {
		case Verified:
			report.Verified++
		case Unsigned:
			report.Unsigned++
		}
		report.Findings = append(report.Findings, v.all...)
		report.Rows = append(report.Rows, RunVerdict{v.ref, v.verdict})
	}
	if r.Refs == nil && r.Newest == 0 {
		report.Findings = append(report.Findings, s.verifyManifests(ctx)...)
	}
	return out(s, report, false), nil
}

// troubled adds a store that could not read a run, once.
func (s *Service) troubled(list []StoreProblem, v verification) []StoreProblem {
	if slices.ContainsFunc(list, func(p StoreProblem) bool { return p.Store == v.ref.Store }) {
		return list
	}
	return append(list, StoreProblem{Store: v.ref.Store, Problem: s.Explain(v.err), Since: s.now()})
}

type verification struct {
	checked
	ref Ref
	err error
}

func (s *Service) verifyOne(ctx context.Context, ref Ref) verification {
	a, k, err := s.at(ref)
	if err != nil {
		return verification{ref: ref, err: err}
	}
	h, err := s.head(ctx, a, k)
	if err == nil && h.Bad != "" {
		if _, err := a.store.Latest(ctx, k); err != nil {
			reason := "its list entry cannot be read: " + h.Bad
			c := checked{verdict: Unreadable, reason: reason, all: []Finding{{h.Owner, h.Run, engine.RecordHead, h.Step, 0, Unreadable, reason}}}
			return verification{checked: s.recollect(a, h, c), ref: ref}
		}
	}
	c, err := s.inspectFrom(ctx, a, k, h)
	c.all = slices.Clone(c.all) // the remembered ones stay as they are
	return verification{c, ref, err}
}

// orphans are runs of which rows are left and no list entry. A store that
// cannot be read is told by its list.
func (s *Service) orphans(ctx context.Context, owner string) []Ref {
	var refs []Ref
	for _, a := range s.stores {
		if audit, ok := a.store.(stores.Auditor); ok {
			keys, _ := audit.Orphans(ctx, owner)
			for _, k := range keys {
				refs = append(refs, a.ref(k))
			}
		}
	}
	return refs
}

// known reports whether a list shows a verdict for the head without a check.
func (s *Service) known(ctx context.Context, a *attachment, h stores.Head) bool {
	v, _ := s.headVerdict(a, a.id(ctx), h)
	s.mu.Lock()
	defer s.mu.Unlock()
	c, checked := s.verdicts[a.ref(h.Key)]
	recent := s.now().Sub(c.at) < lookAgain
	if v.Keyless() || v.Bad() { // it says nothing of the rows, or is not kept for who looks for tampered runs
		return checked && c.head == fingerprint(h) && recent
	}
	return v != Unchecked && (!checked || recent)
}

// lookAgain is how long a sound verdict holds for the look in the background:
// rows can be taken out from under a list entry that stays as it is.
const lookAgain = 5 * time.Minute

// allRefs lists every run of an owner in every store that can be read, or of
// the newest ones those that are unchecked.
func (s *Service) allRefs(ctx context.Context, owner string, newest int) ([]Ref, []StoreProblem) {
	streams := s.streams(stores.Filter{Owner: owner}, maxPage, cursor{})
	refs := []Ref{}
	for _, t := range streams {
		n := 0
		for t.fill(ctx); len(t.page) > 0 && (newest == 0 || n < newest); t.fill(ctx) {
			for ; len(t.page) > 0; n++ {
				h := t.pop()
				if newest > 0 && s.known(ctx, t.at, h) {
					continue
				}
				refs = append(refs, t.at.ref(h.Key))
			}
		}
	}
	if newest == 0 {
		refs = append(refs, s.orphans(ctx, owner)...)
	}
	slices.SortFunc(refs, func(a, b Ref) int {
		return strings.Compare(a.Store+"\x00"+a.Owner+"\x00"+a.Run, b.Store+"\x00"+b.Owner+"\x00"+b.Run)
	})
	return slices.Compact(refs), s.problems(streams)
}
