package worker

import (
	"context"
	"encoding/hex"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// ref names a list entry: that one of a run cannot be read says nothing about
// another one.
type ref struct {
	stores.Key
	bad string
}

// mark tells one version of a run from another, as far as a list shows it. Open
// changes when an operator resolves a call, though no checkpoint is saved.
type mark struct {
	life, mac     string
	step, segment int64
	open          int64
}

func markOf(h stores.Head) mark {
	return mark{h.Incarnation, hex.EncodeToString(h.Prev), h.Step, h.Segment, h.Open}
}

// entry is what is remembered of a run that was left.
type entry struct {
	apart string // why it is not for this worker, as it was told

	tried mark // the version that was tried
	// Where the try itself left the run, if it claimed it: that is no change.
	claimed       bool
	step, segment int64
	tries         int
	due           time.Time // zero: only when the run has changed
	told          string
}

// same reports whether nothing but this worker's own try changed the run.
func (e *entry) same(m mark) bool {
	return m == e.tried || e.claimed && m.life == e.tried.life && m.step == e.step && m.segment == e.segment
}

// The back-off of one run, and of a store that does not answer.
const (
	firstRetry = time.Second
	lastRetry  = 10 * time.Minute

	firstAsk = time.Second
	lastAsk  = 30 * time.Second
)

// backoff doubles with every try, from first to last. Half of it is left to
// chance (r in [0, 1)), so that workers that failed together do not come back
// together.
func backoff(first, last time.Duration, tries int, r float64) time.Duration {
	d := first
	for range tries - 1 {
		if d *= 2; d >= last {
			d = last
			break
		}
	}
	return d/2 + time.Duration(r*float64(d/2))
}

// keepOnly forgets the runs that are no longer unfinished.
func (s *Sweeper) keepOnly(heads []stores.Head) {
	listed := make(map[ref]bool, len(heads))
	for _, h := range heads {
		listed[ref{h.Key, h.Bad}] = true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := range s.runs {
		if !listed[r] {
			delete(s.runs, r)
		}
	}
}

// ready reports whether a run is to be tried now, and else brings next forward
// to when it will be.
func (s *Sweeper) ready(h stores.Head, now time.Time, next *time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, busy := s.busy[h.Key]; busy {
		return false
	}
	e := s.runs[ref{h.Key, h.Bad}]
	m := markOf(h)
	switch {
	case e == nil || e.tries == 0:
		return true
	case !e.same(m): // somebody else changed it
		*e = entry{apart: e.apart}
		return true
	case e.due.IsZero():
		return m != e.tried // it was left in another state than it was found in: look once more
	case now.Before(e.due):
		if next.IsZero() || e.due.Before(*next) {
			*next = e.due
		}
		return false
	}
	return true
}

// mine reports whether the run's flow and principal are known here, and tells
// once when they are not.
func (s *Sweeper) mine(ctx context.Context, h stores.Head) bool {
	why := ""
	if h.Principal != "" && !slices.Contains(s.o.Principals, h.Principal) {
		why = fmt.Sprintf("it runs with principal %q, which this worker may not act for", h.Principal)
	} else if _, err := s.o.Flows(h.Flow); err != nil {
		why = fmt.Sprintf("flow %q cannot be run here: %v", h.Flow, err)
	}
	if why == "" {
		return true
	}
	s.mu.Lock()
	e := s.entry(h)
	news := e.apart != why
	e.apart = why
	s.mu.Unlock()
	if news {
		s.tell(ctx, slog.LevelInfo, "left to others", h, slog.String("why", why))
	}
	return false
}

// entry is what is remembered of a run, made when there is nothing yet. The
// caller holds the lock.
func (s *Sweeper) entry(h stores.Head) *entry {
	r := ref{h.Key, h.Bad}
	if s.runs[r] == nil {
		s.runs[r] = &entry{}
	}
	return s.runs[r]
}

// fruitless is how many claims in a row look like a run that ends its workers,
// or at which nothing can be done; at most so many rows are looked at.
const (
	fruitless = 3
	enough    = 40
)

// postponed reports whether a run has to wait because workers claimed it again
// and again and it never got any further: else it could end one after the other,
// or each would take the tries of the others for news. The stored rows say so,
// since those workers cannot.
func (s *Sweeper) postponed(ctx context.Context, h stores.Head) bool {
	claims := s.claims(ctx, h)
	if claims < fruitless {
		return false
	}
	wait := backoff(firstRetry, lastRetry, claims, s.random())
	s.mu.Lock()
	e, m := s.entry(h), markOf(h)
	waited := e.tries > 0 && e.same(m)
	if !waited {
		*e = entry{apart: e.apart, tried: m, tries: claims, due: time.Now().Add(wait)}
	}
	s.mu.Unlock()
	if !waited {
		s.tell(ctx, slog.LevelWarn, "postponed", h, slog.Int("claims", claims), again(wait),
			slog.String("why", "it was claimed again and again and never got any further: it may end its workers, or a call fails every time"))
	}
	return !waited
}

// claims is how often the run was claimed since its superstep began and since a
// person's decision: each claim begins a segment, and what else was saved says
// only that a node failed, see [engine.Flow.HoldOnError].
func (s *Sweeper) claims(ctx context.Context, h stores.Head) int {
	history, ok := s.o.Store.(stores.Historian)
	if !ok || h.Step-h.Base < fruitless {
		return 0
	}
	rows, err := history.History(ctx, h.Key, stores.HistoryQuery{From: max(h.Base, h.Step-enough), Limit: enough + 1})
	if err != nil {
		return 0 // the recovery will meet the same error
	}
	n := 0
	for i := len(rows) - 1; i > 0 && rows[i-1].Status == stores.StatusRunning; i-- {
		if rows[i].Segment != rows[i-1].Segment {
			n++
		}
	}
	return n
}
