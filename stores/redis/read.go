package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	client "github.com/redis/go-redis/v9"

	"github.com/flowtui/flowtui/stores"
)

const (
	// defaultRows is the limit of History and Events when none is given.
	defaultRows = 1000
	// chunk is how many rows are read in one round trip, so that the server
	// serves others in between.
	chunk = 200

	lostRows = "all rows of the run are gone, though it was not to expire: its key was deleted, evicted, or given a ttl by hand"
)

// standing is where a run stands, by the fields that the scripts compare.
type standing struct {
	exists      bool
	lost        bool   // it should exist
	bad         string // why it cannot be told
	step        int64
	incarnation string
	fields      []any // the further fields that were asked for
}

// stand reads where a run stands, with further fields of its hash. A run that is
// created between the two replies of a pipeline looks lost once, not twice.
func (s *Store) stand(ctx context.Context, k stores.Key, fields ...string) (st standing, err error) {
	st, err = s.standOnce(ctx, k, fields...)
	if st.lost {
		return s.standOnce(ctx, k, fields...)
	}
	return st, err
}

func (s *Store) standOnce(ctx context.Context, k stores.Key, fields ...string) (st standing, err error) {
	var state *client.SliceCmd
	var index *client.StringCmd
	names := append([]string{"step", "incarnation"}, fields...)
	now, err := s.read(ctx, lenient, func(p client.Pipeliner) {
		state = p.HMGet(ctx, s.keys.run(k), names...)
		index = p.HGet(ctx, s.keys.index(), id(k))
	})
	if err != nil {
		return st, err
	}
	if isReply(state.Err(), "WRONGTYPE") {
		return standing{exists: true, bad: "the key of the run holds something else"}, nil
	}
	if err := errors.Join(state.Err(), notNil(index.Err())); err != nil {
		return st, err
	}
	return standingOf(state.Val(), index, now), nil
}

func standingOf(state []any, index *client.StringCmd, now time.Time) (st standing) {
	st.fields = state[2:]
	for _, v := range state {
		st.exists = st.exists || v != nil
	}
	if !st.exists {
		st.lost = index.Err() == nil && !gone(index.Val(), now)
		return st
	}
	step, _ := state[0].(string)
	n, err := strconv.ParseInt(step, 10, 64)
	if err != nil || n < 0 {
		st.bad = fmt.Sprintf("the newest step is %q", step)
	}
	st.step = n
	st.incarnation, _ = state[1].(string)
	return st
}

// gone reports whether an index record is that of a run that has expired.
func gone(index string, now time.Time) bool {
	r, ok := parseRecord(index)
	return ok && r.expired(now)
}

func notNil(err error) error {
	if errors.Is(err, client.Nil) {
		return nil
	}
	return err
}

// number is a field with a count, 0 if there is none.
func number(v any) int64 {
	text, _ := v.(string)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// fields reads fields of a run's hash in chunks. A missing field is nil.
func (s *Store) fields(ctx context.Context, k stores.Key, names []string, size int, f func(at int, value any)) error {
	for from := 0; from < len(names); from += size {
		part := names[from:min(from+size, len(names))]
		var cmd *client.SliceCmd
		_, err := s.read(ctx, strict, func(p client.Pipeliner) { cmd = p.HMGet(ctx, s.keys.run(k), part...) })
		if err != nil {
			return err
		}
		for i, v := range cmd.Val() {
			f(from+i, v)
		}
	}
	return nil
}

// settled reads rows of a run in several round trips. The run may be deleted or
// started anew in between, and its rows then seem gone: bad rows count only if
// the run is of the same life before and after. Others need no further trips.
func settled[T any](ctx context.Context, s *Store, k stores.Key, bad func(T) bool, read func() ([]T, error)) ([]T, error) {
	rows, err := read()
	for err == nil && slices.ContainsFunc(rows, bad) {
		before, err := s.stand(ctx, k)
		if err != nil {
			return nil, err
		}
		if rows, err = read(); err != nil {
			return nil, err
		}
		after, err := s.stand(ctx, k)
		if err != nil {
			return nil, err
		}
		if before.exists == after.exists && before.lost == after.lost && before.incarnation == after.incarnation {
			break
		}
	}
	return rows, err
}

// Latest implements stores.Store.
func (s *Store) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	c, err := s.latest(ctx, k)
	return c, s.wrap("latest", k, err)
}

func (s *Store) latest(ctx context.Context, k stores.Key) (c stores.Checkpoint, err error) {
	bad := func(why string) stores.Checkpoint { return stores.Checkpoint{Place: stores.Place{Key: k}, Bad: why} }
	for before := int64(-1); ; {
		st, err := s.stand(ctx, k)
		switch {
		case err != nil:
			return c, err
		case st.lost:
			return bad(lostRows), nil
		case !st.exists:
			return c, stores.ErrNotFound
		case st.bad != "":
			return bad(st.bad), nil
		}
		c, err := s.at(ctx, k, st.step)
		switch {
		case err == nil && (c.Bad != "" || c.Incarnation == st.incarnation):
			return c, nil
		case err != nil && !errors.Is(err, stores.ErrNotFound):
			return c, err
		case before == st.step: // nobody is just replacing the run
			c = bad("its row is gone, or of another run")
			c.Step = st.step
			return c, nil
		}
		before = st.step
	}
}

// at reads one step with its payload.
func (s *Store) at(ctx context.Context, k stores.Key, step int64) (c stores.Checkpoint, err error) {
	var row, payload any
	err = s.fields(ctx, k, []string{stepField(step), payloadField(step)}, 2, func(at int, v any) {
		if at == 0 {
			row = v
		} else {
			payload = v
		}
	})
	if err == nil && row == nil && payload == nil {
		err = stores.ErrNotFound
	}
	if err != nil {
		return c, err
	}
	f := checkpointOf(k, step, row)
	f.hold(payload)
	return f.Checkpoint, nil
}

// found is a checkpoint whose fields are read one after the other.
type found struct{ stores.Checkpoint }

func checkpointOf(k stores.Key, step int64, row any) found {
	text, ok := row.(string)
	if !ok {
		return found{stores.Checkpoint{Place: stores.Place{Key: k}, Step: step, Bad: "its row is gone"}}
	}
	return found{decodeCheckpoint(k, step, text)}
}

func (c *found) hold(payload any) {
	text, ok := payload.(string)
	if ok {
		c.Payload, c.Size = []byte(text), int64(len(text))
	} else if c.Bad == "" {
		c.Bad = "its payload is gone"
	}
}

func stepField(step int64) string    { return "s" + strconv.FormatInt(step, 10) }
func payloadField(step int64) string { return "p" + strconv.FormatInt(step, 10) }

// At implements stores.Historian.
func (s *Store) At(ctx context.Context, k stores.Key, step int64) (stores.Checkpoint, error) {
	c, err := s.at(ctx, k, step)
	return c, s.wrap("at", k, err)
}

// History implements stores.Historian.
func (s *Store) History(ctx context.Context, k stores.Key, q stores.HistoryQuery) ([]stores.Checkpoint, error) {
	steps, err := settled(ctx, s, k, func(c stores.Checkpoint) bool { return c.Bad != "" },
		func() ([]stores.Checkpoint, error) { return s.history(ctx, k, q) })
	return steps, s.wrap("history", k, err)
}

func (s *Store) history(ctx context.Context, k stores.Key, q stores.HistoryQuery) (steps []stores.Checkpoint, err error) {
	st, err := s.stand(ctx, k)
	if st.lost {
		st.exists, st.bad = true, lostRows
	}
	if err != nil || !st.exists {
		return nil, err
	}
	if st.bad != "" {
		return []stores.Checkpoint{{Place: stores.Place{Key: k}, Bad: st.bad}}, nil
	}
	if q.Limit <= 0 {
		q.Limit = defaultRows
	}
	from := max(0, q.From)
	count := min(st.step-from+1, int64(q.Limit))
	var names []string
	for n := range max(0, count) {
		names = append(names, stepField(from+n))
		if q.Payload {
			names = append(names, payloadField(from+n))
		}
	}
	size, per := chunk, 1
	if q.Payload {
		size, per = chunk/5, 2
	}
	err = s.fields(ctx, k, names, size, func(at int, v any) {
		if at%per == 0 {
			steps = append(steps, checkpointOf(k, from+int64(at/per), v).Checkpoint)
			return
		}
		f := found{steps[len(steps)-1]}
		f.hold(v)
		steps[len(steps)-1] = f.Checkpoint
	})
	return steps, err
}

// Graph implements stores.Grapher.
func (s *Store) Graph(ctx context.Context, digest string) ([]byte, error) {
	var graph *client.StringCmd
	_, err := s.read(ctx, strict, func(p client.Pipeliner) { graph = p.HGet(ctx, s.keys.graphs(), digest) })
	if err == nil && errors.Is(graph.Err(), client.Nil) {
		err = stores.ErrNotFound
	}
	if err != nil {
		return nil, s.wrap("graph", stores.Key{}, err)
	}
	return []byte(graph.Val()), nil
}

// Expires implements stores.Expirer.
func (s *Store) Expires(ctx context.Context, k stores.Key) (at time.Time, ok bool, err error) {
	var left *client.DurationCmd
	now, err := s.read(ctx, strict, func(p client.Pipeliner) { left = p.PTTL(ctx, s.keys.run(k)) })
	switch {
	case err != nil:
		return at, false, s.wrap("expires", k, err)
	case left.Val() == -2: // no such key
		return at, false, s.wrap("expires", k, stores.ErrNotFound)
	case left.Val() < 0:
		return at, false, nil
	}
	return stores.Micro(now.Add(left.Val())), true, nil
}
