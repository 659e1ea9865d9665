package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// trusted returns nil when every row of the run verifies.
func (l *loaded) trusted() error {
	if len(l.findings) == 0 {
		return nil
	}
	v := worst(l.findings)
	e := &Error{Class: ErrCheckpointStoreCorrupt, Key: l.key, Findings: l.findings}
	switch v {
	case NoKey:
		e.Class, e.Reason, e.Hint = ErrRefused, "its signatures cannot be checked without a key", keyHint
	case UnknownKey:
		f := l.findings[slices.IndexFunc(l.findings, func(f Finding) bool { return f.Verdict == UnknownKey })]
		e.Class, e.Reason, e.Hint = ErrRefused, f.Reason, "add the key to the key file: one key a line, the newest first; see flowtui verify for the rows"
	default:
		for _, f := range l.findings {
			if f.Verdict == v {
				e.Reason = fmt.Sprintf("it does not verify, %s of step %d is %s: %s", f.Record, f.Step, f.Verdict, f.Reason)
				break
			}
		}
		e.Hint = "nothing is done with it; see flowtui verify for all findings"
	}
	return e
}

// version names exactly what was read: the newest checkpoint and the call log
// of its superstep. Whatever a decision could depend on changes it.
func (l *loaded) version() string {
	h := sha256.New()
	if l.last != nil {
		h.Write(l.last.MAC)
	}
	for _, seg := range sortedKeys(l.tails) {
		fmt.Fprintf(h, "%d.%d:%x;", seg, l.tails[seg].N, l.tails[seg].MAC)
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// open reads a run that somebody wants to act on. It must verify.
func (r *Runner) open(ctx context.Context, k stores.Key) (*loaded, Checkpoint, error) {
	l, err := load(ctx, r.store, r.keys, k)
	if err != nil {
		return nil, Checkpoint{}, err
	}
	if err := l.trusted(); err != nil {
		return nil, Checkpoint{}, err
	}
	b, err := DecodeCheckpoint(*l.last)
	if err != nil {
		return nil, b, &Error{Class: ErrCheckpointStoreCorrupt, Key: k, Err: err}
	}
	return l, b, nil
}

// session makes a session that goes on where the run stands.
func (r *Runner) session(g *graph, l *loaded, b Checkpoint) (*session, error) {
	state, err := DecodeState(b.State)
	if err != nil {
		return nil, &Error{Class: ErrCheckpointStoreCorrupt, Key: l.key, Err: err}
	}
	if err := g.fitsState(l.key, b.State); err != nil {
		return nil, err
	}
	s := &session{
		turn: make(chan struct{}, 1), r: r, g: g, place: l.place(), identity: l.last.Identity, created: l.created.Time,
		step: l.last.Step, base: l.last.Base, segment: l.last.Segment, lastMAC: l.last.MAC,
		state: state, frontier: b.Frontier, visits: b.Visits, decisions: b.Decisions, again: b.Again, supersteps: b.Supersteps, asked: b.Waiting,
		events: l.events.N, eventMAC: l.events.MAC, replay: b.replay(FoldCalls(l.current()), l.last.Segment),
	}
	if b.Error == nil {
		s.again = unfinishedSince(b.Again, FoldCalls(l.current()), l.last.Segment)
	}
	if s.visits == nil {
		s.visits = map[string]int64{}
	}
	if t, ok := l.tails[s.segment]; ok {
		s.calls, s.callMAC = t.N, t.MAC
	}
	return s, nil
}

// unfinishedSince leaves of the calls of a hold those that did not end in the
// given segment, which is one after it.
func unfinishedSince(again []string, calls []CallInfo, segment int64) []string {
	return slices.DeleteFunc(slices.Clone(again), func(id string) bool {
		return slices.ContainsFunc(calls, func(c CallInfo) bool { return c.ID == id && c.Finished() && c.Segment >= segment })
	})
}

// replay are the calls that a worker meets, but for those that the superstep was
// held for: they run again, and so do the attempts that ended a node then.
func (b Checkpoint) replay(calls []CallInfo, segment int64) map[callKey]CallInfo {
	m := map[callKey]CallInfo{}
	for _, c := range calls {
		if !b.again(c, segment) {
			m[c.key()] = c
		}
	}
	return m
}

// fits refuses a flow that is not the run's, or whose graph changed.
func fits(g *graph, c *stores.Checkpoint) error {
	if g.name != c.Flow {
		return conflict(c.Key, "", "it belongs to flow %q, not %q", c.Flow, g.name)
	}
	if g.digest != c.Digest {
		return &Error{
			Class: ErrFlow, Key: c.Key, Reason: fmt.Sprintf("the graph of flow %q changed since the checkpoint was saved", c.Flow),
			Hint: "recover it with the version of the flow that it was started with",
		}
	}
	return nil
}

// allowed refuses another end user's identity, and a run that had a principal
// when none is given.
func allowed(given stores.Identity, c *stores.Checkpoint) error {
	refuse := func(format string, args ...any) error {
		return &Error{Class: ErrRefused, Key: c.Key, Reason: fmt.Sprintf(format, args...), Hint: "give the run's own identity with --user and --principal"}
	}
	switch {
	case given.User != "" && given.User != c.User:
		return refuse("it runs for user %q, not %q", c.User, given.User)
	case given.Thread != "" && given.Thread != c.Thread:
		return refuse("it runs in thread %q, not %q", c.Thread, given.Thread)
	case given.Principal != c.Principal:
		return refuse("it runs with principal %q, not %q", c.Principal, given.Principal)
	}
	return nil
}

// changed tells the loser of a race what happened instead and who did it.
func changed(ctx context.Context, s stores.Store, keys *seal.Keyring, k stores.Key, cause error) error {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), detached)
	defer stop()
	e := &Error{Class: ErrCheckpointConflict, Key: k, Hint: "look at it again before you act", Err: cause}
	l, err := load(ctx, s, keys, k)
	switch {
	case errors.Is(err, ErrCheckpointNotFound):
		e.Reason = "it was deleted"
	case err != nil || l.last == nil:
		e.Reason = "it changed"
	default:
		e.Reason = "changed since you looked: " + l.now(ctx, s)
	}
	return e
}

// now says in one line where the run stands and who touched it last.
func (l *loaded) now(ctx context.Context, s stores.Store) string {
	return fmt.Sprintf("it is %s at step %d, segment %d", l.last.Status, l.last.Step, l.last.Segment) +
		lastDecision(ctx, s, l.keys, l.key, l.events.N, "")
}

func pastTense(action string) string {
	switch action {
	case DecideApprove:
		return "approved"
	case DecideDeny:
		return "denied"
	case DecideAnswer:
		return "answered"
	case "resolve":
		return "resolved"
	case "recover":
		return "recovered"
	}
	return action
}

func sortedKeys[V any](m map[int64]V) []int64 {
	keys := make([]int64, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
