package storetest

import (
	"crypto/sha256"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// Epoch is the time of step 0; step n is n seconds later.
var Epoch = time.Date(2026, 1, 2, 3, 4, 5, 123456000, time.UTC)

// Step is a sound save of step n of a running run. The edits change the
// checkpoint; the head follows.
func Step(p stores.Place, n int64, edits ...func(*stores.Checkpoint)) stores.Save {
	c := stores.Checkpoint{
		Place: p, Step: n, Base: n, Segment: 1,
		Kind: "step", Flow: "flow", Digest: "digest", Status: stores.StatusRunning,
		Identity: stores.Identity{User: "user", Thread: "thread", Principal: "principal"},
		Time:     Epoch.Add(time.Duration(n) * time.Second),
		Payload:  fmt.Appendf(nil, `{"step": %d}`, n),
		Seal:     seal(p.Run, n),
	}
	for _, edit := range edits {
		edit(&c)
	}
	c.Size = int64(len(c.Payload))
	return stores.Save{Checkpoint: c, Head: HeadOf(c)}
}

// HeadOf is the head that sums up a checkpoint.
func HeadOf(c stores.Checkpoint) stores.Head {
	return stores.Head{
		Place: c.Place, Step: c.Step, Base: c.Base, Segment: c.Segment,
		Kind: c.Kind, Flow: c.Flow, Digest: c.Digest, Status: c.Status, Identity: c.Identity,
		Created: Epoch, Updated: c.Time,
		Payload: fmt.Appendf(nil, "summary of step %d", c.Step),
		Seal:    seal(c.Run+" head", c.Step),
	}
}

// Record is a started call record of the superstep at step 0.
func Record(p stores.Place, segment, n int64, edits ...func(*stores.Call)) stores.Call {
	c := stores.Call{
		Place: p, Segment: segment, N: n, Step: 0,
		Node: "node", Ordinal: n, Tool: "tool", Status: stores.CallStarted,
		Time:    Epoch.Add(time.Duration(n) * time.Millisecond),
		Payload: fmt.Appendf(nil, "call %d", n),
		Seal:    seal(p.Run+" call", segment<<32|n),
	}
	for _, edit := range edits {
		edit(&c)
	}
	return c
}

// Event is the n-th event of a run.
func Event(p stores.Place, n int64) stores.Event {
	return stores.Event{
		Place: p, N: n, Step: n, Type: "checkpoint.saved",
		Time:    Epoch.Add(time.Duration(n) * time.Microsecond),
		Payload: fmt.Appendf(nil, "event %d", n),
		Seal:    seal(p.Run+" event", n),
	}
}

// seal makes up a signature; a store does not look at it.
func seal(what string, n int64) stores.Seal {
	prev := sha256.Sum256(fmt.Append(nil, what, n-1))
	mac := sha256.Sum256(fmt.Append(nil, what, n))
	s := stores.Seal{Format: 1, KeyID: "key", Prev: prev[:], MAC: mac[:]}
	if n == 0 {
		s.Prev = nil
	}
	return s
}

// Edits of checkpoints and call records, to be read as in Step(p, 1, paused).

func paused(c *stores.Checkpoint) { c.Status = stores.StatusPaused }
func done(c *stores.Checkpoint)   { c.Status = stores.StatusDone }
func failed(c *stores.Checkpoint) { c.Status = stores.StatusFailed }

// claim makes a step that a new worker saves when it takes the run over.
func claim(segment, base int64) func(*stores.Checkpoint) {
	return func(c *stores.Checkpoint) { c.Segment, c.Base, c.Kind = segment, base, "claim" }
}

func finished(c *stores.Call)            { c.Status = stores.CallDone }
func unrecordable(c *stores.Call)        { c.Status = stores.CallUnrecordable }
func idempotent(c *stores.Call)          { c.Idempotent = true }
func ordinal(n int64) func(*stores.Call) { return func(c *stores.Call) { c.Ordinal = n } }
func at(step int64) func(*stores.Call)   { return func(c *stores.Call) { c.Step = step } }
