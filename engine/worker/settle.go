package worker

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// trouble is how one class of errors is told and when the run is tried again.
type trouble struct {
	class error
	level slog.Level
	msg   string
	// retry is the first wait of the back-off; 0: only when the run has changed.
	retry time.Duration
}

// troubles are tried in order. What is in none of them is temporary: the store
// is busy or down, a tool or a model is not there.
var troubles = []trouble{
	{engine.ErrRecoveryNeedsDecision, slog.LevelWarn, "needs a decision", 0},
	{engine.ErrCheckpointStoreCorrupt, slog.LevelError, "does not verify", lastRetry}, // somebody may put the rows back
	{engine.ErrFlow, slog.LevelWarn, "does not fit the flow", 0},
	{engine.ErrHeld, slog.LevelWarn, "held", firstRetry}, // what does not run again by itself is left at the next try
	{engine.ErrCheckpointConflict, slog.LevelDebug, faster, firstRetry},
	{engine.ErrCheckpointNotFound, slog.LevelDebug, faster, firstRetry},
	{stores.ErrConflict, slog.LevelDebug, faster, firstRetry},
}

const faster = "somebody else was faster"

var temporary = trouble{level: slog.LevelWarn, msg: "not recovered", retry: firstRetry}

// wrongKey is a run with rows that are signed with another key than this worker's:
// the engine writes nothing to it.
var wrongKey = trouble{level: slog.LevelWarn, msg: "key does not fit", retry: lastRetry}

func troubleOf(err error) trouble {
	if e, ok := errors.AsType[*engine.Error](err); ok && errors.Is(e, engine.ErrRefused) && slices.ContainsFunc(e.Findings, isUnknownKey) {
		return wrongKey
	}
	for _, t := range troubles {
		if errors.Is(err, t.class) {
			return t
		}
	}
	return temporary
}

func isUnknownKey(f engine.Finding) bool { return f.Verdict == engine.UnknownKey }

// isConflict reports an error that only says that the run is somebody else's.
func isConflict(err error) bool { return err != nil && troubleOf(err).msg == faster }

// settle remembers what became of a run and tells it.
func (s *Sweeper) settle(ctx context.Context, t try) {
	switch {
	case t.err == nil:
		s.mu.Lock()
		delete(s.runs, ref{t.head.Key, t.head.Bad})
		s.mu.Unlock()
		s.tellResult(ctx, t)
	case t.cut:
		s.tellLeft(ctx, t.head, slog.Any("error", t.err), slog.Int64("duration_ms", t.took.Milliseconds()))
	default:
		s.leave(ctx, t)
	}
}

// leave remembers a run that could not be recovered, and when to try it again.
func (s *Sweeper) leave(ctx context.Context, t try) {
	what := troubleOf(t.err)
	s.mu.Lock()
	e := s.entry(t.head)
	m := markOf(t.head)
	if e.tries > 0 && !e.same(m) {
		*e = entry{apart: e.apart}
	}
	e.tries++
	e.tried, e.claimed = m, t.result.Key == t.head.Key
	e.step, e.segment = t.result.Step, t.result.Segment
	e.due = time.Time{}
	var wait time.Duration
	if what.retry > 0 && (e.claimed || !errors.Is(t.err, engine.ErrHeld)) {
		wait = backoff(what.retry, lastRetry, e.tries, s.random())
		e.due = time.Now().Add(wait)
	}
	text := what.msg + ": " + t.err.Error()
	level := what.level
	if e.told == text {
		level = slog.LevelDebug
	}
	e.told = text
	tries := e.tries
	s.mu.Unlock()
	args := []slog.Attr{slog.Any("error", t.err)}
	if x, ok := errors.AsType[*engine.Error](t.err); ok && x.Hint != "" {
		args = append(args, slog.String("hint", x.Hint))
	}
	if wait > 0 {
		args = append(args, slog.Int("tries", tries), again(wait))
	}
	s.tell(ctx, level, what.msg, t.head, args...)
}

// tell logs one line about a run.
func (s *Sweeper) tell(ctx context.Context, level slog.Level, msg string, h stores.Head, more ...slog.Attr) {
	s.log.LogAttrs(ctx, level, msg, append([]slog.Attr{
		slog.String("run", h.Run), slog.String("owner", h.Owner), slog.String("flow", h.Flow),
	}, more...)...)
}

func again(d time.Duration) slog.Attr { return slog.Int64("again_ms", d.Milliseconds()) }

// tellResult tells of a run that was brought on until it was done, failed or
// paused.
func (s *Sweeper) tellResult(ctx context.Context, t try) {
	r := t.result
	if r.Segment == t.head.Segment {
		s.tell(ctx, slog.LevelDebug, faster, t.head) // it had paused meanwhile
		return
	}
	level := slog.LevelInfo
	if r.Status == stores.StatusFailed && r.Denied == nil || len(r.Unreplayed) > 0 {
		level = slog.LevelWarn
	}
	args := []slog.Attr{
		slog.String("status", string(r.Status)), slog.Int64("step", r.Step), slog.Int64("segment", r.Segment),
		list("replayed", r.Replayed), list("rerun", r.Rerun), list("unreplayed", r.Unreplayed),
		slog.Int64("duration_ms", t.took.Milliseconds()),
	}
	if r.Error != "" {
		args = append(args, slog.String("error", r.Error))
	}
	if len(r.Waiting) > 0 {
		var ids []string
		for _, w := range r.Waiting {
			ids = append(ids, w.ID)
		}
		args = append(args, list("waiting", ids))
	}
	s.tell(ctx, level, "recovered", t.head, args...)
}

func list(name string, ids []string) slog.Attr {
	return slog.Any(name, append([]string{}, ids...)) // [] when there are none
}

// tellLeft tells of a run that was cut short because this worker stops, and
// where it stands: there another worker goes on.
func (s *Sweeper) tellLeft(ctx context.Context, h stores.Head, more ...slog.Attr) {
	ctx, stop := context.WithTimeout(context.WithoutCancel(ctx), putDown)
	defer stop()
	if now, err := s.look(ctx, h); err == nil {
		h = now
	}
	body, _ := engine.DecodeHead(h) // only to tell where it is
	s.tell(ctx, slog.LevelWarn, "left", h, append([]slog.Attr{
		slog.Int64("step", h.Step), slog.Int64("segment", h.Segment), list("at", body.At),
	}, more...)...)
}
