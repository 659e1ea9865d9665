package engine

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"
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

func micros(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMicro()
}
