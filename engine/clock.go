package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"time"

	"github.com/flowtui/flowtui/engine/tool"
)

// Clock tells the time. Inject one to make runs repeatable.
type Clock func() time.Time

// now is in UTC and as precise as a store keeps it.
func (c Clock) now() time.Time {
	if c == nil {
		c = time.Now
	}
	return c().UTC().Truncate(time.Microsecond)
}

// randomID returns 16 random bytes in hex.
func randomID() string {
	b := make([]byte, 16)
	rand.Read(b) // never fails, see crypto/rand
	return hex.EncodeToString(b)
}

// short is the beginning of an id, enough to tell a few apart.
func short(id string) string { return id[:min(6, len(id))] }

// Now is the time of the run's clock inside a node, so that flows can be
// tested with an injected one. Outside a node it is the real time.
func Now(ctx context.Context) time.Time {
	if n, err := nodeRun(ctx); err == nil {
		return n.s.r.clock.now()
	}
	return Clock(nil).now()
}

// NowOnce is Now, but inside a [Subflow], [Map] or [Parallel] it is kept in the
// call log: what runs there again after a pause or a crash meets the same time,
// so that a question that says it is the same question.
func NowOnce(ctx context.Context) (time.Time, error) {
	n, err := nodeRun(ctx)
	if err != nil || n.parent == nil {
		return Now(ctx), nil
	}
	clock := tool.Tool{Name: "now", Idempotent: true, Run: func(context.Context, tool.Input) (any, error) { return n.s.r.clock.now(), nil }}
	p, err := n.numbered(clock, 0, json.RawMessage("{}"))
	if err != nil {
		return time.Time{}, err
	}
	defer n.underway.Done()
	raw, err := n.attempt(ctx, p)
	if err != nil {
		return time.Time{}, err
	}
	var t time.Time
	return t, json.Unmarshal(raw, &t)
}

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
