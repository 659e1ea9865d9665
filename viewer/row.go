package viewer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/stores"
)

// glimpse is what is read of a run for one row.
type glimpse struct {
	at      *attachment
	head    stores.Head
	body    engine.HeadBody
	foreign *teff.Row         // of a run of teff's
	calls   []engine.CallInfo // of the current superstep, where they were needed
	lease   *stores.Lease
	verdict Verdict
	reason  string
	unread  string // what of the run could not be read, "" for nothing
	setBack bool   // it is regressed by what was seen before, not by its own rows
}

// head reads a run's list entry. A store without lists gives it from the
// newest checkpoint.
func (s *Service) head(ctx context.Context, a *attachment, k stores.Key) (stores.Head, error) {
	if lister, ok := a.store.(stores.Lister); ok {
		h, err := lister.Head(ctx, k)
		if !errors.Is(err, stores.ErrNotFound) {
			return h, err
		}
	}
	c, err := a.store.Latest(ctx, k)
	if err != nil {
		return stores.Head{}, err
	}
	return headOf(c), nil
}

// derived marks a head that was made here from a checkpoint: only verifying
// the run can tell whether it is sound.
const derived = -1

// headOf is the head that a checkpoint would have, unsigned.
func headOf(c stores.Checkpoint) stores.Head {
	h := stores.Head{
		Place: c.Place, Step: c.Step, Base: c.Base, Segment: c.Segment, Kind: c.Kind, Flow: c.Flow, Digest: c.Digest,
		Status: c.Status, Identity: c.Identity, Updated: c.Time, Bad: c.Bad,
	}
	h.Seal = stores.Seal{Format: derived, KeyID: c.KeyID, Prev: c.MAC}
	b, err := decodeCheckpoint(c)
	if err != nil {
		h.Bad = err.Error()
		return h
	}
	sum := engine.HeadBody{At: b.Frontier, Waiting: b.Waiting, Stored: len(b.Decisions), Worker: b.Worker}
	if b.Error != nil {
		sum.Error, sum.Denied, sum.At = b.Error.Message, b.Error.Denied, []string{b.Error.Node}
	}
	h.Payload, _ = json.Marshal(sum) // plain values always encode
	return h
}

// look completes a head to what a row needs. Only the calls of a superstep
// that may be in doubt are read, never a checkpoint. Lists trust the store's
// count of open calls; all else reads the calls, to be certain.
func (s *Service) look(ctx context.Context, a *attachment, h stores.Head, certain bool) (glimpse, error) {
	g := glimpse{at: a, head: h, lease: h.Lease}
	g.verdict, g.reason = s.headVerdict(a, a.id(ctx), h)
	g.setBack = g.verdict == Regressed && s.regressed(a.ref(h.Key), h) != ""
	var err error
	g.body, g.foreign, err = decodeHead(h)
	if h.Bad != "" {
		g.unread = g.reason
	}
	switch {
	case err == nil || g.verdict.Bad():
	case g.foreign != nil:
		g.reason = nameOr(h.Bad, err.Error())
		g.head.Bad, g.unread = g.reason, "its row cannot be read: "+g.reason
	default:
		g.verdict, g.reason = Unreadable, "its list entry cannot be read: "+err.Error()
	}
	live := h.Lease != nil && h.Lease.Live
	if h.Status != stores.StatusRunning || !certain && (h.Open == 0 || live) {
		return g, nil
	}
	rows, err := a.store.Calls(ctx, h.Key, h.Base)
	if damaged(err) { // whether a call is in doubt is not known, and must not be told
		g.distrust(unreadableRows(h.Key, h.Step, err).reason)
		return g, nil
	}
	g.calls = engine.FoldCalls(rows)
	return g, err
}

// lookCloser says of the stuck runs of a page what their calls tell, such as that
// one was resolved meanwhile: which of them wait for a person was told without.
func (s *Service) lookCloser(ctx context.Context, rows []Row) {
	s.parallel(ctx, readers, len(rows), func(i int) {
		r := &rows[i]
		if r.Foreign() || !r.has(Stuck) {
			return
		}
		a, k, err := s.at(r.Ref)
		if err != nil {
			return
		}
		if g, err := s.glimpse(ctx, a, k); err == nil && g.head.Step == r.Step && g.head.Status == stores.StatusRunning {
			r.Why, r.Next = why(s.facts(g))
		}
	})
}

// Recoverable reports that nothing but a recovery brings the run on, and that it can
// be recovered here. Whether one of a store without leases waits for that is not known.
func (r Row) Recoverable() bool {
	return !r.Foreign() && len(r.Badges) > 0 && r.Badges[0] == Stuck &&
		slices.ContainsFunc(r.Actions, func(o Offer) bool { return o.Action == Recover && o.Disabled == "" })
}

// distrust says that a part of the run could not be read.
func (g *glimpse) distrust(reason string) {
	g.unread = reason
	if !g.verdict.Bad() {
		g.verdict, g.reason = Unreadable, reason
	}
}

// facts gathers what is known.
func (s *Service) facts(g glimpse) facts {
	h := g.head
	f := facts{
		status: string(h.Status), verdict: g.verdict, reason: g.reason, step: h.Step, base: h.Base, segment: h.Segment,
		at: g.body.At, stored: g.body.Stored, worker: g.body.Worker, failure: g.body.Error, denial: g.body.Denied,
		updated: h.Updated, now: s.now(), leases: g.at.leases(), refusals: s.refusals(g.at, h),
		setBack: g.setBack, foreign: g.foreign,
	}
	if f.setBack {
		f.forget = s.forgetHint(g.at, h.Key)
	}
	if h.Bad != "" || !h.Status.Valid() || g.verdict == Unreadable {
		f.status = unreadable
	}
	if g.lease != nil && g.lease.Live {
		f.lease = g.lease
	} else {
		f.lapsed = g.lease
	}
	if g.foreign != nil {
		w := s.workflowOf(f)
		f.noWorkflow = w.err != nil && !s.o.NoCommand
		if f.refusals.flow = s.noWorkflow(w.err); w.err == nil && w.unsupported != nil {
			f.unsupported = w.unsupported.Error()
		}
	}
	for i, w := range g.body.Waiting {
		if i == 0 || w.Since.Before(f.since) {
			f.since = w.Since
		}
		f.waiting = append(f.waiting, waitingOf(w, true))
	}
	for _, c := range g.calls {
		switch {
		case c.Step != h.Base || !f.running():
		case c.Doubtful():
			f.doubts = append(f.doubts, c)
		case unstarted(c):
			f.unstarted = append(f.unstarted, c)
		case c.Status == stores.CallResolved:
			f.resolved = append(f.resolved, c.ID)
		}
	}
	return f
}

// waitingOf is an approval or interrupt for showing. It shares no list with the
// flow, whose choices must not be scrubbed. Long arguments are not in
// a list entry, which is said.
func waitingOf(w engine.Waiting, mask bool) Waiting {
	v := Waiting{Type: w.Type, ID: w.ID, Key: w.Key, Tool: w.Tool, Args: asJSON(w.Args), Prompt: w.Prompt, Choices: slices.Clone(w.Choices), Node: w.Node, Options: w.Want.Options(), Want: w.Want.String(), Wanted: w.Want, Turn: w.Turn}
	if w.Size > 0 && len(w.Args) == 0 {
		v.Why = fmt.Sprintf("its arguments of %s are read with the run, not with the list", plural(w.Size, "byte"))
	}
	if mask && len(v.Args) > 0 {
		m := maskJSON(v.Args)
		v.Args, v.Masked = m.JSON, m.Count()
	}
	if mask {
		v.Masked += v.maskedTexts()
	}
	return v
}

func doubtOf(c engine.CallInfo, mask bool) Waiting {
	v := Waiting{Type: WaitInDoubt, ID: c.ID, Tool: c.Tool, Args: asJSON(c.Args), Why: doubtOn(c, "it"), Ran: ran(c), Node: c.Node}
	if mask && len(v.Args) > 0 {
		m := maskJSON(v.Args)
		v.Args, v.Masked = m.JSON, m.Count()
	}
	return v
}

// row is what a list, a detail and a plan show of a run.
func (s *Service) row(g glimpse) Row {
	h, f := g.head, s.facts(g)
	r := Row{
		Ref: g.at.ref(h.Key), Store: g.at.label, Owner: h.Owner, Run: h.Run, Flow: h.Flow, Kind: h.Kind, Status: f.status,
		Badges: badges(f), Verdict: f.verdict, Step: h.Step, Segment: h.Segment, At: append([]string{}, f.at...),
		Waiting: append([]Waiting{}, f.waiting...), Updated: h.Updated.UTC(), Created: h.Created.UTC(),
		Error: f.failure, User: h.User, Thread: h.Thread, Actions: offers(f), Version: rowVersion + fingerprint(h),
		Unread: g.unread, Denied: f.denied().Tool != "",
	}
	r.Why, r.Next = why(f)
	if f.foreign != nil {
		r.Native, r.Parent, r.Children = f.native(), f.foreign.Parent, f.foreign.Children
	}
	if f.inDoubt() {
		for _, c := range f.doubts {
			r.Waiting = append(r.Waiting, doubtOf(c, true))
		}
	}
	if f.lease != nil {
		r.Lease = &Lease{f.lease.Holder, f.lease.Expires.UTC()}
	}
	return r
}

// rowVersion marks a version that a list gave. Act takes it as well as a plan's.
const rowVersion = "row-"

// refusals are the reasons against acting that do not lie in the run's rows.
func (s *Service) refusals(a *attachment, h stores.Head) refusals {
	var r refusals
	a.mu.Lock()
	info := a.info
	a.mu.Unlock()
	switch {
	case s.o.ReadOnly:
		r.write = s.whyReadOnly()
	case info.ReadOnly && info.Why != "":
		r.write = "the store is read-only: " + info.Why
	case info.ReadOnly:
		r.write = "the store is read-only"
	}
	if want := s.o.Identity.Principal; want != h.Principal {
		r.principal = fmt.Sprintf("it runs with principal %q, not %q", h.Principal, want)
	}
	if h.Kind == teff.Kind {
		return r // which workflow, its facts tell
	}
	_, _, err := s.flow(h)
	if err != nil {
		r.flow = unnamed(err.Error(), h.Run)
	}
	return r
}
