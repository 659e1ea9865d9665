package engine

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"sync"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// session is one worker's work on one run: where the run stands, the ends of
// its chains, and what a recovery replays.
type session struct {
	r        *Runner
	g        *graph
	ctx      context.Context // of the work on the run, not of one call
	place    stores.Place
	identity stores.Identity
	created  time.Time

	step, base, segment int64
	lastMAC             []byte
	state               State
	text                stateText // of state
	frontier            []string
	visits              map[string]int64
	visited             visitList
	decisions           []Decision
	again               []string // see [Checkpoint]
	supersteps          int64
	asked               []Waiting // what the run was paused for before
	log                 []SegmentEnd

	replay map[callKey]CallInfo
	notes  resultNotes

	turn      chan struct{}    // held while a row is added to the chains below
	calls     int64            // records of this segment
	overruled map[callKey]bool // its calls that a person resolved meanwhile
	callMAC   []byte
	events    int64
	eventMAC  []byte

	mu    sync.Mutex // guards fatal, and is never held while something waits
	fatal error      // why this worker must stop; the run stays as it is
}

type resultNotes struct {
	replayed, rerun, unreplayed []string
}

// saveRequest is what one save says beside the session's own fields.
type saveRequest struct {
	status  stores.Status
	base    int64
	waiting []Waiting
	failure *Failure
	nodes   []NodeRun
	pending []pendingCall
	events  []newEvent
	held    error // the save is the last thing that this worker does, and why
}

// newEvent is an event before it has a place in the log.
type newEvent struct {
	typ  string
	data any
}

// save writes the next step. A conflict is told apart from a number in the
// event log that somebody else took meanwhile, and a save whose outcome is
// unknown is looked up.
func (s *session) save(ctx context.Context, q saveRequest) error {
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	for try := 1; ; try++ {
		w, err := s.build(q)
		if err != nil {
			return err
		}
		err = s.r.store.Save(ctx, w)
		if err == nil || s.landed(ctx, w.Checkpoint, err) {
			s.advance(w)
			return nil
		}
		if !errors.Is(err, stores.ErrConflict) || try == 5 {
			return s.explain(ctx, err)
		}
		if moved, rerr := s.reread(ctx); rerr != nil || moved {
			return s.explain(ctx, err)
		}
	}
}

// build makes the rows of a save.
func (s *session) build(q saveRequest) (stores.Save, error) {
	now := s.r.clock.now()
	if s.text == nil {
		s.text = stateText{}
	}
	state, err := s.text.encode(s.state)
	if err != nil {
		return stores.Save{}, err
	}
	b := Checkpoint{
		State: state, Frontier: s.frontier, Visits: s.visits, Supersteps: s.supersteps, Waiting: q.waiting, Decisions: s.decisions,
		Error: q.failure, Nodes: q.nodes, Again: s.again, Log: s.log, Worker: s.r.worker,
	}
	w := stores.Save{}
	if w.Calls, err = s.buildCalls(q.pending, now); err != nil {
		return w, err
	}
	c := stores.Checkpoint{
		Place: s.place, Step: s.step + 1, Base: q.base, Segment: s.segment, Kind: s.g.kind, Flow: s.g.name,
		Digest: s.g.digest, Status: q.status, Identity: s.identity, Calls: s.calls + int64(len(w.Calls)), Time: now,
	}
	if c.Step == 0 {
		w.Graph = s.g.topology
	}
	if w.Events, err = s.buildEvents(c, q, now); err != nil {
		return w, err
	}
	c.Events = s.events + int64(len(w.Events))
	visits, err := s.visited.encode(s.visits, q.nodes)
	if err != nil {
		return w, err
	}
	if c.Payload, err = b.payload(visits); err != nil {
		return w, err
	}
	c.Size, c.Prev = int64(len(c.Payload)), s.lastMAC
	if c.Seal, err = sign(s.r.keys, checkpointHeader(c), c.Payload); err != nil {
		return w, err
	}
	w.Checkpoint = c
	w.Head, err = s.buildHead(c, b)
	return w, err
}

func (s *session) buildHead(c stores.Checkpoint, b Checkpoint) (stores.Head, error) {
	h := stores.Head{
		Place: c.Place, Step: c.Step, Base: c.Base, Segment: c.Segment, Kind: c.Kind, Flow: c.Flow, Digest: c.Digest,
		Status: c.Status, Identity: c.Identity, Created: s.created, Updated: c.Time,
	}
	h.Prev = c.MAC
	var err error
	if h.Payload, err = b.summary().payload(); err != nil {
		return h, err
	}
	h.Seal, err = sign(s.r.keys, headHeader(h), h.Payload)
	return h, err
}

func (s *session) buildEvents(c stores.Checkpoint, q saveRequest, now time.Time) ([]stores.Event, error) {
	saved := savedEvent{Kind: c.Kind, Step: c.Step, Status: c.Status}
	if c.Kind == KindLoop {
		stage := s.stage(q)
		saved.Stage = &stage
	} else {
		saved.Flow = c.Flow
	}
	for _, n := range q.nodes {
		saved.Unreplayed = append(saved.Unreplayed, n.Unreplayed...)
	}
	list := append([]newEvent{{EventSaved, saved}}, q.events...)
	return s.chainEvents(c.Step, list, now)
}

// stage says where in a loop a save is: at the node that has just run, or else
// at the one that is next.
func (s *session) stage(q saveRequest) string {
	switch {
	case len(q.nodes) > 0:
		return q.nodes[0].Node
	case len(s.frontier) > 0:
		return s.frontier[0]
	}
	return ""
}

// chainEvents numbers, links and signs events after the newest known one.
func (s *session) chainEvents(step int64, list []newEvent, now time.Time) ([]stores.Event, error) {
	return chainEvents(s.r, s.place, step, s.events, s.eventMAC, list, now)
}

func chainEvents(r *Runner, p stores.Place, step, n int64, prev []byte, list []newEvent, now time.Time) ([]stores.Event, error) {
	out := make([]stores.Event, 0, len(list))
	for _, ne := range list {
		n++
		payload, err := eventPayload(ne.data)
		if err != nil {
			return nil, err
		}
		e := stores.Event{Place: p, N: n, Step: step, Type: ne.typ, Time: now, Payload: payload}
		e.Prev = prev
		if e.Seal, err = sign(r.keys, eventHeader(e), payload); err != nil {
			return nil, err
		}
		prev = e.MAC
		out = append(out, e)
	}
	return out, nil
}

// advance takes over what a save wrote.
func (s *session) advance(w stores.Save) {
	c := w.Checkpoint
	s.step, s.base, s.lastMAC = c.Step, c.Base, c.MAC
	if n := len(w.Calls); n > 0 {
		s.calls, s.callMAC = w.Calls[n-1].N, w.Calls[n-1].MAC
	}
	if n := len(w.Events); n > 0 {
		s.events, s.eventMAC = w.Events[n-1].N, w.Events[n-1].MAC
	}
	for _, e := range w.Events {
		s.r.sink(e)
	}
}

// landed reports whether a save that returned an error is there all the same.
func (s *session) landed(ctx context.Context, c stores.Checkpoint, err error) bool {
	if certain(err) {
		return false
	}
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), detached)
	defer stop()
	now, err := s.r.store.Latest(ctx, s.place.Key)
	if h, ok := s.r.store.(stores.Historian); ok && err == nil && now.Step > c.Step {
		now, err = h.At(ctx, s.place.Key, c.Step) // somebody went on from it already
	}
	return err == nil && bytes.Equal(now.MAC, c.MAC)
}

// certain reports errors that a store only returns when nothing was written.
func certain(err error) bool {
	for _, class := range []error{stores.ErrConflict, stores.ErrReadOnly, stores.ErrInvalid, stores.ErrBusy, stores.ErrFull, stores.ErrClosed, stores.ErrNotFound} {
		if errors.Is(err, class) && !errors.Is(err, stores.ErrUnknown) {
			return true
		}
	}
	return false
}

// reread refreshes the ends of the event log and of this segment's call log.
// It reports whether the run itself moved on without this worker.
func (s *session) reread(ctx context.Context) (moved bool, err error) {
	now, err := s.r.store.Latest(ctx, s.place.Key)
	if errors.Is(err, stores.ErrNotFound) {
		return s.step >= 0, nil
	}
	if err != nil {
		return false, err
	}
	if now.Step != s.step || now.Incarnation != s.place.Incarnation || !bytes.Equal(now.MAC, s.lastMAC) {
		return true, nil
	}
	l, err := load(ctx, s.r.store, s.r.keys, s.place.Key)
	if err != nil {
		return false, err
	}
	if err := l.trusted(); err != nil {
		return false, err
	}
	s.overrule(l.current())
	s.events, s.eventMAC = l.events.N, l.events.MAC
	if t, ok := l.tails[s.segment]; ok {
		s.calls, s.callMAC = t.N, t.MAC
	}
	return false, nil
}

// explain turns a store's conflict into the engine's.
func (s *session) explain(ctx context.Context, err error) error {
	if errors.Is(err, stores.ErrUnknown) {
		return &Error{Class: stores.ErrUnknown, Key: s.place.Key, Reason: "the store did not say whether the write took effect", Hint: "look at the run before you try again", Err: err}
	}
	if !errors.Is(err, stores.ErrConflict) {
		return err
	}
	return changed(ctx, s.r.store, s.r.keys, s.place.Key, err)
}

func (s *session) ends(l *loaded) {
	for _, seg := range sortedKeys(l.tails) {
		t := l.tails[seg]
		s.log = append(s.log, SegmentEnd{Segment: seg, Calls: t.N, MAC: hex.EncodeToString(t.MAC)})
	}
}

func (s *session) stop(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fatal == nil {
		s.fatal = err
	}
}

func (s *session) stopped() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fatal
}
