package jsonfile

import (
	"errors"
	"time"

	"github.com/flowtui/flowtui/stores"
)

type checkpointRow struct {
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
	Time   stamp `json:"time"`
	sealRow
	payload
}

func checkpointOf(c stores.Checkpoint) *checkpointRow {
	return &checkpointRow{
		c.Step, c.Base, c.Segment, c.Kind, c.Flow, c.Digest, c.Status, c.Identity,
		c.Calls, c.Events, stamp(c.Time), sealOf(c.Seal), payloadOf(c.Payload),
	}
}

func (r *checkpointRow) row(p stores.Place) stores.Checkpoint {
	b := r.payload.bytes()
	return stores.Checkpoint{
		Place: p, Step: r.Step, Base: r.Base, Segment: r.Segment, Kind: r.Kind, Flow: r.Flow, Digest: r.Digest,
		Status: r.Status, Identity: r.Identity, Calls: r.Calls, Events: r.Events, Time: time.Time(r.Time),
		Payload: b, Size: int64(len(b)), Seal: r.seal(),
	}
}

type headRow struct {
	Step    int64         `json:"step"`
	Base    int64         `json:"base"`
	Segment int64         `json:"segment"`
	Kind    string        `json:"kind"`
	Flow    string        `json:"flow"`
	Digest  string        `json:"digest"`
	Status  stores.Status `json:"status"`
	stores.Identity
	Created stamp `json:"created"`
	Updated stamp `json:"updated"`
	sealRow
	payload
}

func headOf(h stores.Head) *headRow {
	return &headRow{
		h.Step, h.Base, h.Segment, h.Kind, h.Flow, h.Digest, h.Status, h.Identity,
		stamp(h.Created), stamp(h.Updated), sealOf(h.Seal), payloadOf(h.Payload),
	}
}

func (r *headRow) row(p stores.Place) stores.Head {
	return stores.Head{
		Place: p, Step: r.Step, Base: r.Base, Segment: r.Segment, Kind: r.Kind, Flow: r.Flow, Digest: r.Digest,
		Status: r.Status, Identity: r.Identity, Created: time.Time(r.Created), Updated: time.Time(r.Updated),
		Payload: r.payload.bytes(), Seal: r.seal(),
	}
}

type callRow struct {
	Segment    int64             `json:"segment"`
	N          int64             `json:"n"`
	Step       int64             `json:"step"`
	Node       string            `json:"node"`
	Ordinal    int64             `json:"ordinal"`
	Tool       string            `json:"tool"`
	Idempotent bool              `json:"idempotent"`
	Status     stores.CallStatus `json:"status"`
	Time       stamp             `json:"time"`
	sealRow
	payload
}

func callOf(c stores.Call) callRow {
	return callRow{
		c.Segment, c.N, c.Step, c.Node, c.Ordinal, c.Tool, c.Idempotent, c.Status,
		stamp(c.Time), sealOf(c.Seal), payloadOf(c.Payload),
	}
}

func (r callRow) row(p stores.Place) stores.Call {
	return stores.Call{
		Place: p, Segment: r.Segment, N: r.N, Step: r.Step, Node: r.Node, Ordinal: r.Ordinal, Tool: r.Tool,
		Idempotent: r.Idempotent, Status: r.Status, Time: time.Time(r.Time), Payload: r.payload.bytes(), Seal: r.seal(),
	}
}

type eventRow struct {
	N    int64  `json:"n"`
	Step int64  `json:"step"`
	Type string `json:"type"`
	Time stamp  `json:"time"`
	sealRow
	payload
}

func eventOf(e stores.Event) eventRow {
	return eventRow{e.N, e.Step, e.Type, stamp(e.Time), sealOf(e.Seal), payloadOf(e.Payload)}
}

func (r eventRow) row(p stores.Place) stores.Event {
	return stores.Event{
		Place: p, N: r.N, Step: r.Step, Type: r.Type, Time: time.Time(r.Time), Payload: r.payload.bytes(), Seal: r.seal(),
	}
}

// check refuses rows that JSON cannot hold as they are.
func (l *line) check() error {
	err := text(l.Owner, l.Run, l.Store, l.Incarnation)
	if c := l.Checkpoint; c != nil {
		err = errors.Join(err, text(c.Kind, c.Flow, c.Digest, string(c.Status), c.User, c.Thread, c.Principal, c.KeyID))
	}
	if h := l.Head; h != nil {
		err = errors.Join(err, text(h.Kind, h.Flow, h.Digest, string(h.Status), h.User, h.Thread, h.Principal, h.KeyID))
	}
	for _, c := range l.Calls {
		err = errors.Join(err, text(c.Node, c.Tool, string(c.Status), c.KeyID))
	}
	for _, e := range l.Events {
		err = errors.Join(err, text(e.Type, e.KeyID))
	}
	return err
}
