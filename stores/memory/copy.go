package memory

import (
	"slices"

	"github.com/flowtui/flowtui/stores"
)

// The copies below are what goes in and what comes out: no slice is shared
// with the caller, and times are cut to what every store can keep.

func copyCheckpoint(c stores.Checkpoint) stores.Checkpoint {
	c.Time, c.Payload, c.Seal = stores.Micro(c.Time), slices.Clone(c.Payload), copySeal(c.Seal)
	return c
}

func copyHead(h stores.Head) stores.Head {
	h.Created, h.Updated = stores.Micro(h.Created), stores.Micro(h.Updated)
	h.Payload, h.Seal = slices.Clone(h.Payload), copySeal(h.Seal)
	h.Lease, h.Bad = nil, ""
	return h
}

func copyCall(c stores.Call) stores.Call {
	c.Time, c.Payload, c.Seal = stores.Micro(c.Time), slices.Clone(c.Payload), copySeal(c.Seal)
	return c
}

func copyEvent(e stores.Event) stores.Event {
	e.Time, e.Payload, e.Seal = stores.Micro(e.Time), slices.Clone(e.Payload), copySeal(e.Seal)
	return e
}

func copySeal(s stores.Seal) stores.Seal {
	s.Prev, s.MAC = slices.Clone(s.Prev), slices.Clone(s.MAC)
	return s
}
