package rowjson

import (
	"errors"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// CheckpointRow is a checkpoint without its place, which its line has.
type CheckpointRow struct {
	Step    int64         `json:"step"`
	Base    int64         `json:"base"`
	Segment int64         `json:"segment"`
	Kind    string        `json:"kind"`
	Flow    string        `json:"flow"`
	Digest  string        `json:"digest"`
	Status  stores.Status `json:"status"`
	stores.Identity
	Calls  int64 `json:"calls"`
	Events int64 `json:"events"`
	Time   Stamp `json:"time"`
	sealRow
	Payload
}

// CheckpointOf is the row of a checkpoint.
func CheckpointOf(c stores.Checkpoint) *CheckpointRow {
	return &CheckpointRow{
		c.Step, c.Base, c.Segment, c.Kind, c.Flow, c.Digest, c.Status, c.Identity,
		c.Calls, c.Events, Stamp(c.Time), sealOf(c.Seal), PayloadOf(c.Payload),
	}
}

// Row is the checkpoint that lies at a place.
func (r *CheckpointRow) Row(p stores.Place) stores.Checkpoint {
	b := r.Payload.Bytes()
	return stores.Checkpoint{
		Place: p, Step: r.Step, Base: r.Base, Segment: r.Segment, Kind: r.Kind, Flow: r.Flow, Digest: r.Digest,
		Status: r.Status, Identity: r.Identity, Calls: r.Calls, Events: r.Events, Time: time.Time(r.Time),
		Payload: b, Size: int64(len(b)), Seal: r.seal(),
	}
}

// HeadRow is a head without its place.
type HeadRow struct {
	Step    int64         `json:"step"`
	Base    int64         `json:"base"`
	Segment int64         `json:"segment"`
	Kind    string        `json:"kind"`
	Flow    string        `json:"flow"`
	Digest  string        `json:"digest"`
	Status  stores.Status `json:"status"`
	stores.Identity
	Created Stamp `json:"created"`
	Updated Stamp `json:"updated"`
	sealRow
	Payload
}

// HeadOf is the row of a head.
func HeadOf(h stores.Head) *HeadRow {
	return &HeadRow{
		h.Step, h.Base, h.Segment, h.Kind, h.Flow, h.Digest, h.Status, h.Identity,
		Stamp(h.Created), Stamp(h.Updated), sealOf(h.Seal), PayloadOf(h.Payload),
	}
}

// Row is the head that lies at a place.
func (r *HeadRow) Row(p stores.Place) stores.Head {
	return stores.Head{
		Place: p, Step: r.Step, Base: r.Base, Segment: r.Segment, Kind: r.Kind, Flow: r.Flow, Digest: r.Digest,
		Status: r.Status, Identity: r.Identity, Created: time.Time(r.Created), Updated: time.Time(r.Updated),
		Payload: r.Payload.Bytes(), Seal: r.seal(),
	}
}

// CallRow is a call record without its place.
type CallRow struct {
	Segment    int64             `json:"segment"`
	N          int64             `json:"n"`
	Step       int64             `json:"step"`
	Node       string            `json:"node"`
	Ordinal    int64             `json:"ordinal"`
	Tool       string            `json:"tool"`
	Idempotent bool              `json:"idempotent"`
	Status     stores.CallStatus `json:"status"`
	Time       Stamp             `json:"time"`
	sealRow
	Payload
}

// CallOf is the row of a call record.
func CallOf(c stores.Call) CallRow {
	return CallRow{
		c.Segment, c.N, c.Step, c.Node, c.Ordinal, c.Tool, c.Idempotent, c.Status,
		Stamp(c.Time), sealOf(c.Seal), PayloadOf(c.Payload),
	}
}

// Row is the call record that lies at a place.
func (r CallRow) Row(p stores.Place) stores.Call {
	return stores.Call{
		Place: p, Segment: r.Segment, N: r.N, Step: r.Step, Node: r.Node, Ordinal: r.Ordinal, Tool: r.Tool,
		Idempotent: r.Idempotent, Status: r.Status, Time: time.Time(r.Time), Payload: r.Payload.Bytes(), Seal: r.seal(),
	}
}

// EventRow is an event without its place.
type EventRow struct {
	N    int64  `json:"n"`
	Step int64  `json:"step"`
	Type string `json:"type"`
	Time Stamp  `json:"time"`
	sealRow
	Payload
}

// EventOf is the row of an event.
func EventOf(e stores.Event) EventRow {
	return EventRow{e.N, e.Step, e.Type, Stamp(e.Time), sealOf(e.Seal), PayloadOf(e.Payload)}
}

// Row is the event that lies at a place.
func (r EventRow) Row(p stores.Place) stores.Event {
	return stores.Event{
		Place: p, N: r.N, Step: r.Step, Type: r.Type, Time: time.Time(r.Time), Payload: r.Payload.Bytes(), Seal: r.seal(),
	}
}

// Check refuses rows that JSON cannot hold as they are.
func (l *Line) Check() error {
	err := Text(l.Owner, l.Run, l.Store, l.Incarnation)
	if c := l.Checkpoint; c != nil {
		err = errors.Join(err, Text(c.Kind, c.Flow, c.Digest, string(c.Status), c.User, c.Thread, c.Principal, c.KeyID))
	}
	if h := l.Head; h != nil {
		err = errors.Join(err, Text(h.Kind, h.Flow, h.Digest, string(h.Status), h.User, h.Thread, h.Principal, h.KeyID))
	}
	for _, c := range l.Calls {
		err = errors.Join(err, Text(c.Node, c.Tool, string(c.Status), c.KeyID))
	}
	for _, e := range l.Events {
		err = errors.Join(err, Text(e.Type, e.KeyID))
	}
	return err
}

// Graph is the topology of a flow.
type Graph struct {
	Digest string `json:"digest"`
	Payload
}
