// Package viewstest is a backend for tests of the screens: rows of every kind
// in memory, a clock that stands still, and a switch for everything that can
// go wrong. Only tests import it.
package viewstest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/flowtui/flowtui/viewer"
)

// Now is the time at which the rows of [Rows] were looked at.
var Now = time.Date(2026, 3, 4, 9, 30, 0, 0, time.UTC)

// Backend is a viewer in memory. Its fields may be changed between calls,
// under [Backend.Lock] while a program runs.
type Backend struct {
	sync.Mutex
	Infos    []viewer.StoreInfo
	Rows     []viewer.Row
	Others   viewer.Counts // runs of other owners, which no list shows
	Plans    map[viewer.Ref]viewer.Plan
	Revealed map[viewer.Ref]viewer.Plan // with secrets
	Details  map[viewer.Ref]viewer.Detail
	States   map[viewer.Ref]viewer.StateView
	CallLog  map[viewer.Ref][]viewer.Call
	EventLog map[viewer.Ref][]viewer.Event
	Talks    map[viewer.Ref]func(step int64, reveal bool) viewer.Conversation
	StateAt  func(ref viewer.Ref, step int64, reveal bool) viewer.StateView // instead of States
	Report   *viewer.Report                                                 // of each verification
	TalkErr  error                                                          // every conversation fails with it
	Err      error                                                          // every read fails with it
	Problems []viewer.StoreProblem                                          // of each page
	ActErr   error
	Outcome  viewer.Outcome
	Stages   []viewer.Progress
	Hold     chan struct{}                  // when not nil, Act waits for it
	Then     func(*Backend, viewer.Request) // what an action that is not refused changes, under the lock
	NoLine   bool                           // no command line does the same as an action

	Acted    []viewer.Request
	Verified []viewer.Ref
	Listed   []viewer.Query
	notices  chan struct{}
}

// New is a backend with one store and rows of every kind.
func New() *Backend {
	b := &Backend{
		Infos:   []viewer.StoreInfo{{Label: "demo.db", Format: "sqlite", Key: "key 3f9a ok", Owner: "default"}},
		Rows:    Rows(),
		Plans:   map[viewer.Ref]viewer.Plan{},
		Details: map[viewer.Ref]viewer.Detail{},
		notices: make(chan struct{}, 1),
	}
	for _, p := range Plans() {
		b.Plans[p.Row.Ref] = p
	}
	return b
}

// Notify tells watchers that something changed.
func (b *Backend) Notify() { b.notices <- struct{}{} }

// Stores implements views.Backend.
func (b *Backend) Stores() []viewer.StoreInfo { return b.Infos }

// List implements views.Backend.
func (b *Backend) List(_ context.Context, q viewer.Query) (viewer.Page, error) {
	b.Lock()
	defer b.Unlock()
	b.Listed = append(b.Listed, q)
	if b.Err != nil {
		return viewer.Page{}, b.Err
	}
	var rows []viewer.Row
	for _, r := range b.Rows {
		unread := slices.ContainsFunc(b.Problems, func(p viewer.StoreProblem) bool { return p.Store == r.Store })
		if !unread && b.owns(q, r) && inTab(r, q.Tab) && strings.Contains(r.Ref.Run, q.Text) {
			rows = append(rows, r)
		}
	}
	from, _ := strconv.Atoi(q.Cursor)
	to := min(len(rows), from+max(1, q.Limit))
	page := viewer.Page{Rows: slices.Clone(rows[min(from, to):to]), Problems: b.Problems}
	if to < len(rows) {
		page.Next = strconv.Itoa(to)
	}
	return page, nil
}

// owns reports whether a run is of the owner that is asked for.
func (b *Backend) owns(q viewer.Query, r viewer.Row) bool {
	if q.Owner == "" && !q.None {
		q.Owner = b.Infos[0].Owner
	}
	return q.Owner == "*" || q.Owner == r.Ref.Owner
}

// Owners implements views.Backend: the owners of the rows, as they come.
func (b *Backend) Owners(context.Context) ([]viewer.Owner, error) {
	b.Lock()
	defer b.Unlock()
	if b.Err != nil {
		return nil, b.Err
	}
	var list []viewer.Owner
	for _, r := range b.Rows {
		at := slices.IndexFunc(list, func(o viewer.Owner) bool { return o.ID == r.Ref.Owner })
		if at < 0 {
			at, list = len(list), append(list, viewer.Owner{ID: r.Ref.Owner, Name: r.Owner})
		}
		if r.NeedsYou() {
			list[at].Needs++
		}
	}
	return list, nil
}

func inTab(r viewer.Row, t viewer.Tab) bool {
	want := map[viewer.Tab]viewer.Badge{
		viewer.TabRunning: viewer.Running, viewer.TabPaused: viewer.Paused, viewer.TabInDoubt: viewer.InDoubt,
		viewer.TabFailed: viewer.Failed, viewer.TabDone: viewer.Done,
	}
	switch {
	case t == viewer.TabNeedsYou:
		return r.NeedsYou()
	case want[t] == "":
		return true
	}
	return slices.Contains(r.Badges, want[t])
}

// Counts implements views.Backend.
func (b *Backend) Counts(_ context.Context, q viewer.Query) (viewer.Counts, error) {
	b.Lock()
	defer b.Unlock()
	if b.Err != nil {
		return nil, b.Err
	}
	c := viewer.Counts{}
	for _, t := range viewer.Tabs {
		c[t] = 0
		for _, r := range b.Rows {
			if b.owns(q, r) && inTab(r, t) {
				c[t]++
			}
		}
		if q.Owner == "*" {
			c[t] += b.Others[t]
		}
	}
	return c, nil
}

// Show implements views.Backend.
func (b *Backend) Show(_ context.Context, ref viewer.Ref) (viewer.Detail, error) {
	b.Lock()
	defer b.Unlock()
	if b.Err != nil {
		return viewer.Detail{}, b.Err
	}
	if d, ok := b.Details[ref]; ok {
		return d, nil
	}
	i := b.index(ref)
	if i < 0 {
		return viewer.Detail{}, notFound(ref)
	}
	return viewer.Detail{Row: b.Rows[i]}, nil
}

// State implements views.Backend.
func (b *Backend) State(_ context.Context, ref viewer.Ref, step int64, reveal bool) (viewer.StateView, error) {
	b.Lock()
	defer b.Unlock()
	if b.StateAt != nil {
		return b.StateAt(ref, step, reveal), b.Err
	}
	s := b.States[ref]
	s.Step = max(step, 0)
	return s, b.Err
}

// Conversation implements views.Backend.
func (b *Backend) Conversation(_ context.Context, ref viewer.Ref, step int64, reveal bool) (viewer.Conversation, error) {
	b.Lock()
	defer b.Unlock()
	at, ok := b.Talks[ref]
	switch {
	case b.TalkErr != nil:
		return viewer.Conversation{}, b.TalkErr
	case b.Err != nil || !ok:
		return viewer.Conversation{}, b.Err
	}
	return at(step, reveal), nil
}

// Calls implements views.Backend.
func (b *Backend) Calls(_ context.Context, ref viewer.Ref, _ bool) ([]viewer.Call, error) {
	b.Lock()
	defer b.Unlock()
	return b.CallLog[ref], b.Err
}

// Events implements views.Backend.
func (b *Backend) Events(_ context.Context, ref viewer.Ref, after int64) ([]viewer.Event, error) {
	b.Lock()
	defer b.Unlock()
	var later []viewer.Event
	for _, e := range b.EventLog[ref] {
		if e.N > after {
			later = append(later, e)
		}
	}
	return later, b.Err
}

// Verify implements views.Backend: every unchecked row verifies.
func (b *Backend) Verify(_ context.Context, v viewer.VerifyRequest) (viewer.Report, error) {
	b.Lock()
	defer b.Unlock()
	if b.Err != nil {
		return viewer.Report{}, b.Err
	}
	b.Verified = append(b.Verified, v.Refs...)
	if b.Report != nil {
		return *b.Report, nil
	}
	report := viewer.Report{Runs: len(v.Refs)}
	for _, ref := range v.Refs {
		if i := b.index(ref); i >= 0 && b.Rows[i].Verdict == viewer.Unchecked {
			b.Rows[i].Verdict = viewer.Verified
		}
		if i := b.index(ref); i >= 0 {
			report.Rows = append(report.Rows, viewer.RunVerdict{Ref: ref, Verdict: b.Rows[i].Verdict})
		}
	}
	return report, nil
}

// Plan implements views.Backend. The plan follows the version of the row.
func (b *Backend) Plan(_ context.Context, ref viewer.Ref, reveal bool) (viewer.Plan, error) {
	b.Lock()
	defer b.Unlock()
	if b.Err != nil {
		return viewer.Plan{}, b.Err
	}
	i := b.index(ref)
	if i < 0 {
		return viewer.Plan{}, notFound(ref)
	}
	p, ok := b.Plans[ref]
	if full, has := b.Revealed[ref]; reveal && has {
		p = full
	}
	if !ok {
		p.Action = "none"
	}
	p.Row, p.Version, p.Run = b.Rows[i], b.Rows[i].Version, b.Rows[i].Run
	p.Review = slices.Clone(p.Review)
	for i := range p.Review {
		p.Review[i].Text = cmp.Or(p.Review[i].Text, p.Review[i].Prompt)
	}
	return p, nil
}

// Act implements views.Backend. It refuses a request for another version.
func (b *Backend) Act(ctx context.Context, r viewer.Request, progress func(viewer.Progress)) (viewer.Outcome, error) {
	b.Lock()
	hold, stages := b.Hold, b.Stages
	b.Acted = append(b.Acted, r)
	b.Unlock()
	for _, s := range stages {
		progress(s)
	}
	if hold != nil {
		select {
		case <-hold:
		case <-ctx.Done():
			return viewer.Outcome{}, ctx.Err()
		}
	}
	b.Lock()
	defer b.Unlock()
	if b.ActErr != nil {
		return viewer.Outcome{}, b.ActErr
	}
	i := b.index(r.Ref)
	if i < 0 {
		return viewer.Outcome{}, notFound(r.Ref)
	}
	if r.Version != "" && r.Version != b.Rows[i].Version {
		return viewer.Outcome{}, viewer.Problem{Code: "conflict", Message: "changed since you looked"}
	}
	if b.Then != nil {
		b.Then(b, r)
	}
	return b.Outcome, nil
}

// Watch implements views.Backend.
func (b *Backend) Watch(context.Context) (<-chan struct{}, error) { return b.notices, nil }

// Command implements views.Backend.
func (b *Backend) Command(r viewer.Request) string {
	if b.NoLine {
		return ""
	}
	line := fmt.Sprintf("flowtui %s %s %s", r.Action, r.Ref.Store, r.Ref.Run)
	if r.Target != "" {
		line += " --target " + r.Target
	}
	if r.NotRun {
		line += " --not-run"
	}
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || (c >= 0x80 && c < 0xa0) {
			return '\uFFFD'
		}
		return c
	}, line)
}

// Explain implements views.Backend.
func (b *Backend) Explain(err error) viewer.Problem {
	var p viewer.Problem
	if errors.As(err, &p) {
		return p
	}
	return viewer.Problem{Code: "failed", Message: err.Error()}
}

func (b *Backend) index(ref viewer.Ref) int {
	return slices.IndexFunc(b.Rows, func(r viewer.Row) bool { return r.Ref == ref })
}

func notFound(ref viewer.Ref) error {
	return viewer.Problem{Code: "not-found", Message: "there is no run " + ref.Run, Run: ref.Run}
}
