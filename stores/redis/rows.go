package redis

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowtui/flowtui/stores"
)

// A row is a JSON object; that of a head, a call record or an event is followed
// by a line feed and the payload as it is. The payload of a checkpoint is a
// field of its own, so that lists of steps need not read it. Owner and run are
// those of the key that the row is found at.

type sealRow struct {
	Format int    `json:"format"`
	KeyID  string `json:"key_id"`
	Prev   []byte `json:"prev"`
	MAC    []byte `json:"mac"`
}

type placeRow struct {
	Store       string `json:"store"`
	Incarnation string `json:"incarnation"`
}

type identityRow struct {
	User      string `json:"user"`
	Thread    string `json:"thread"`
	Principal string `json:"principal"`
}

// stepRow is what checkpoints and heads have in common.
type stepRow struct {
	placeRow
	Step    int64  `json:"step"`
	Base    int64  `json:"base"`
	Segment int64  `json:"segment"`
	Kind    string `json:"kind"`
	Flow    string `json:"flow"`
	Digest  string `json:"digest"`
	Status  string `json:"status"`
	identityRow
}

type checkpointRow struct {
	stepRow
	Calls  int64 `json:"calls"`
	Events int64 `json:"events"`
	Time   int64 `json:"time"`
	Size   int64 `json:"size"`
	sealRow
}

type headRow struct {
	stepRow
	Created int64 `json:"created"`
	Updated int64 `json:"updated"`
	sealRow
}

type callRow struct {
	placeRow
	Segment    int64  `json:"segment"`
	N          int64  `json:"n"`
	Step       int64  `json:"step"`
	Node       string `json:"node"`
	Ordinal    int64  `json:"ordinal"`
	Tool       string `json:"tool"`
	Idempotent bool   `json:"idempotent"`
	Status     string `json:"status"`
	Time       int64  `json:"time"`
	sealRow
}

type eventRow struct {
	placeRow
	N    int64  `json:"n"`
	Step int64  `json:"step"`
	Type string `json:"type"`
	Time int64  `json:"time"`
	sealRow
}

func sealOf(s stores.Seal) sealRow { return sealRow{s.Format, s.KeyID, s.Prev, s.MAC} }

func (s sealRow) seal() stores.Seal {
	return stores.Seal{Format: s.Format, KeyID: s.KeyID, Prev: s.Prev, MAC: s.MAC}
}

func placeOf(p stores.Place) placeRow { return placeRow{p.Store, p.Incarnation} }

func (p placeRow) place(k stores.Key) stores.Place {
	return stores.Place{Key: k, Store: p.Store, Incarnation: p.Incarnation}
}

func (i identityRow) identity() stores.Identity {
	return stores.Identity{User: i.User, Thread: i.Thread, Principal: i.Principal}
}

// encode makes a row. JSON would replace bytes that are not UTF-8, and a
// signature over the replaced ones does not fit, so such texts are refused.
func encode(row any, payload []byte, texts ...string) (string, error) {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return "", fmt.Errorf("%w: the text %q is not UTF-8", stores.ErrInvalid, s)
		}
	}
	b, err := json.Marshal(row)
	if err != nil {
		return "", fmt.Errorf("%w: %w", stores.ErrInvalid, err)
	}
	if payload == nil {
		return string(b), nil
	}
	return string(b) + "\n" + string(payload), nil
}

func encodeCheckpoint(c stores.Checkpoint) (string, error) {
	row := checkpointRow{
		stepRow: stepRow{
			placeOf(c.Place), c.Step, c.Base, c.Segment, c.Kind, c.Flow, c.Digest, string(c.Status), identityRow(c.Identity),
		},
		Calls: c.Calls, Events: c.Events, Time: c.Time.UnixMicro(), Size: int64(len(c.Payload)), sealRow: sealOf(c.Seal),
	}
	return encode(row, nil, c.Store, c.Incarnation, c.Kind, c.Flow, c.Digest, c.User, c.Thread, c.Principal, c.KeyID)
}

func encodeHead(h stores.Head) (string, error) {
	row := headRow{
		stepRow: stepRow{
			placeOf(h.Place), h.Step, h.Base, h.Segment, h.Kind, h.Flow, h.Digest, string(h.Status), identityRow(h.Identity),
		},
		Created: h.Created.UnixMicro(), Updated: h.Updated.UnixMicro(), sealRow: sealOf(h.Seal),
	}
	return encode(row, some(h.Payload), h.Store, h.Incarnation, h.Kind, h.Flow, h.Digest, h.User, h.Thread, h.Principal, h.KeyID)
}

func encodeCall(c stores.Call) (string, error) {
	row := callRow{
		placeOf(c.Place), c.Segment, c.N, c.Step, c.Node, c.Ordinal, c.Tool, c.Idempotent, string(c.Status), c.Time.UnixMicro(), sealOf(c.Seal),
	}
	return encode(row, some(c.Payload), c.Store, c.Incarnation, c.Node, c.Tool, string(c.Status), c.KeyID)
}

func encodeEvent(e stores.Event) (string, error) {
	row := eventRow{placeOf(e.Place), e.N, e.Step, e.Type, e.Time.UnixMicro(), sealOf(e.Seal)}
	return encode(row, some(e.Payload), e.Store, e.Incarnation, e.Type, e.KeyID)
}

// some marks a row that has a payload, even if that is empty.
func some(payload []byte) []byte { return append([]byte{}, payload...) }

// reasons collects why a row is bad; the first one counts.
type reasons struct{ bad string }

func (r *reasons) note(wrong bool, format string, args ...any) {
	if wrong && r.bad == "" {
		r.bad = fmt.Sprintf(format, args...)
	}
}

// decode reads what it can of a row. The store does not check it against any
// signature, but tells a value that no worker can have written.
func (r *reasons) decode(what, text string, row any) {
	err := json.Unmarshal([]byte(text), row)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		r.note(true, "%s is no JSON object: %v", what, err)
	} else {
		r.note(err != nil, "%s: %v", what, err)
	}
}

func (r *reasons) number(name string, n, least int64) { r.note(n < least, "%s is %d", name, n) }

func (r *reasons) place(p placeRow) { r.note(p.Incarnation == "", "there is no incarnation") }

func (r *reasons) step(s stepRow) {
	r.place(s.placeRow)
	r.number("base", s.Base, 0)
	r.number("segment", s.Segment, 1)
	r.note(!stores.Status(s.Status).Valid(), "status is %q", s.Status)
}

// The years that a time can be shown in.
var (
	minTime = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro()
	maxTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMicro() - 1
)

func (r *reasons) time(name string, micros int64) time.Time {
	if micros < minTime || micros > maxTime {
		r.note(true, "%s is out of range", name)
		micros = 0
	}
	return time.UnixMicro(micros).UTC()
}

func decodeCheckpoint(k stores.Key, step int64, text string) stores.Checkpoint {
	var r reasons
	var row checkpointRow
	r.decode("the row", text, &row)
	r.step(row.stepRow)
	r.note(row.Step != step, "the row of step %d says that it is step %d", step, row.Step)
	r.number("calls", row.Calls, 0)
	r.number("events", row.Events, 0)
	at := r.time("time", row.Time)
	return stores.Checkpoint{
		Place: row.place(k), Step: step, Base: row.Base, Segment: row.Segment, Kind: row.Kind, Flow: row.Flow,
		Digest: row.Digest, Status: stores.Status(row.Status), Identity: row.identity(), Calls: row.Calls, Events: row.Events,
		Time: at, Size: row.Size, Seal: row.seal(), Bad: r.bad,
	}
}

func decodeHead(k stores.Key, text string) stores.Head {
	var r reasons
	var row headRow
	header, payload, ok := strings.Cut(text, "\n")
	r.decode("the head", header, &row)
	r.note(!ok, "the head has no payload")
	r.step(row.stepRow)
	r.number("step", row.Step, 0)
	created, updated := r.time("created", row.Created), r.time("updated", row.Updated)
	return stores.Head{
		Place: row.place(k), Step: row.Step, Base: row.Base, Segment: row.Segment, Kind: row.Kind, Flow: row.Flow,
		Digest: row.Digest, Status: stores.Status(row.Status), Identity: row.identity(),
		Created: created, Updated: updated,
		Payload: []byte(payload), Seal: row.seal(), Bad: r.bad,
	}
}

func decodeCall(k stores.Key, segment, n int64, text string) stores.Call {
	var r reasons
	var row callRow
	header, payload, ok := strings.Cut(text, "\n")
	r.decode("the row", header, &row)
	r.note(!ok, "the row has no payload")
	r.place(row.placeRow)
	r.note(row.Segment != segment || row.N != n, "record %d of segment %d says that it is record %d of segment %d", n, segment, row.N, row.Segment)
	r.number("step", row.Step, 0)
	at := r.time("time", row.Time)
	return stores.Call{
		Place: row.place(k), Segment: segment, N: n, Step: row.Step, Node: row.Node, Ordinal: row.Ordinal, Tool: row.Tool,
		Idempotent: row.Idempotent, Status: stores.CallStatus(row.Status), Time: at,
		Payload: []byte(payload), Seal: row.seal(), Bad: r.bad,
	}
}

func decodeEvent(k stores.Key, n int64, text string) stores.Event {
	var r reasons
	var row eventRow
	header, payload, ok := strings.Cut(text, "\n")
	r.decode("the row", header, &row)
	r.note(!ok, "the row has no payload")
	r.place(row.placeRow)
	r.note(row.N != n, "event %d says that it is event %d", n, row.N)
	at := r.time("time", row.Time)
	return stores.Event{
		Place: row.place(k), N: n, Step: row.Step, Type: row.Type, Time: at,
		Payload: []byte(payload), Seal: row.seal(), Bad: r.bad,
	}
}
