package engine

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// Verdict is what a verification found.
type Verdict string

// The verdicts, worst first.
const (
	Forged     Verdict = "forged"
	Gap        Verdict = "gap"
	Regressed  Verdict = "regressed"
	Unreadable Verdict = "unreadable"
	UnknownKey Verdict = "unknown-key"
	NoKey      Verdict = "no-key"
	Verified   Verdict = "verified"
)

var verdictRank = []Verdict{Forged, Gap, Regressed, Unreadable, UnknownKey, NoKey, Verified}

// The records that a finding can be about.
const (
	RecordCheckpoint = "checkpoint"
	RecordCall       = "call"
	RecordEvent      = "event"
	RecordHead       = "head"
)

// Finding is one row that does not verify, with one plain sentence.
type Finding struct {
	Key     stores.Key
	Record  string
	Step    int64
	Segment int64 // of a call record
	N       int64 // of a call record or an event
	Verdict Verdict
	Reason  string
}

// maxMissing bounds how many missing rows of one gap are named one by one.
const maxMissing = 20

// chain checks the rows of one run, fed in the order checkpoints, calls,
// events, the checkpoints that were saved meanwhile, head. It is pure: rows in,
// findings out. Each row that was changed is named once; the rows around it
// are not blamed for it, and it decides nothing about them.
type chain struct {
	keys  *seal.Keyring
	store string // id of the store that the rows were read from
	key   stores.Key
	life  string // incarnation of the run

	origins []origin // where the run was before it was imported, in order
	foreign bool     // a sound row names a store that it must not name

	created stores.Checkpoint  // the first sound one
	last    *stores.Checkpoint // newest checkpoint that counts, payload included
	lastOK  bool
	opened  bool                 // the payload of last was read
	late    bool                 // the logs were read: newer checkpoints vouch for nothing in them
	floor   int64                // newest step when the logs were read
	macs    map[int64][]byte     // of sound checkpoints from floor on
	claimed map[int64]int64      // call records per segment that checkpoints vouch for
	pinned  map[int64]SegmentEnd // last records of segments that claims vouch for
	vouched int64                // events that checkpoints vouch for

	tails    map[int64]stores.Call // newest call record of each segment
	logged   []stores.Call         // call records that may belong to the current superstep
	resolved map[[2]int64]int64    // segment and number of resolutions: number of their event
	events   stores.Event          // newest event
	eventOK  bool
	told     map[[2]int64]bool // resolutions that events speak of
	newer    bool              // the calls were read: newer events may speak of calls that were not
	beyond   int64             // newest step that any log refers to
	keyless  keyless
	sounds   int // rows that verified

	findings []Finding
}

func newChain(keys *seal.Keyring, storeID, life string, k stores.Key) *chain {
	return &chain{
		keys: keys, store: storeID, key: k, life: life,
		claimed: map[int64]int64{}, pinned: map[int64]SegmentEnd{}, tails: map[int64]stores.Call{},
		macs: map[int64][]byte{}, resolved: map[[2]int64]int64{}, told: map[[2]int64]bool{},
	}
}

func (c *chain) find(record string, step, segment, n int64, v Verdict, format string, args ...any) {
	c.findings = append(c.findings, Finding{c.key, record, step, segment, n, v, fmt.Sprintf(format, args...)})
}

// trust is how far a row can be relied on.
type trust int

const (
	rejected  trust = iota // unreadable, forged or out of place
	uncertain              // its key is not here: it counts for order, and is not verified
	sound
)

// judge checks one row's signature and place.
func (c *chain) judge(record string, h seal.Header, payload []byte, s stores.Seal, bad string) trust {
	v, reason := Verified, ""
	switch err := check(c.keys, h, payload, s); {
	case bad != "":
		v, reason = Unreadable, bad
	case errors.Is(err, seal.ErrNoKey), errors.Is(err, seal.ErrUnknownKey):
		c.keyless.add(record, h, s.KeyID)
		return uncertain
	case errors.Is(err, seal.ErrFormat):
		v, reason = Unreadable, err.Error()
	case err != nil:
		v, reason = Forged, "the "+record+" was changed after it was signed: "+err.Error()
	case h.Store != c.home(record, h):
		c.foreign = true
		v, reason = Forged, fmt.Sprintf("it was signed for another store (%s), this one is %q", h.Store, c.home(record, h))
	case c.life != "" && h.Incarnation != c.life:
		v, reason = Forged, "it belongs to another run of this id, which was deleted"
	}
	if v == Verified {
		c.life = h.Incarnation
		c.sounds++
		return sound
	}
	c.find(record, h.Step, h.Segment, h.N, v, "%s", reason)
	return rejected
}

// missing names the numbers from want on that are not there. A rejected row
// says nothing about others: only a row that can stand in its place, or one
// that verifies, moves the expectation.
func (c *chain) missing(t trust, want, n int64, find func(n int64)) (counts bool) {
	if n < want || t == rejected && n != want {
		return false
	}
	for m := want; m < n && m < want+maxMissing; m++ {
		find(m)
	}
	return true
}

// checkpoint takes the next row and reports whether it counts in the order.
func (c *chain) checkpoint(row stores.Checkpoint) bool {
	t := c.judge(RecordCheckpoint, checkpointHeader(row), row.Payload, row.Seal, row.Bad)
	want := int64(0)
	if c.last != nil {
		want = c.last.Step + 1
	}
	if !c.missing(t, want, row.Step, func(s int64) { c.find(RecordCheckpoint, s, 0, 0, Gap, "step %d is missing", s) }) {
		return false
	}
	if t == sound && c.last != nil && c.lastOK && row.Step == want {
		if err := row.Follows(c.last); err != nil {
			c.find(RecordCheckpoint, row.Step, 0, 0, Forged, "it cannot follow step %d: %v", c.last.Step, err)
		} else if !bytes.Equal(row.Prev, c.last.MAC) {
			c.find(RecordCheckpoint, row.Step, 0, 0, Forged, "it was not made after this step %d", c.last.Step)
		}
	}
	claims := row.Step > 0 && (c.last == nil || !c.lastOK || row.Segment != c.last.Segment)
	c.last, c.lastOK = &row, t == sound
	if t != rejected && c.created.Segment == 0 {
		c.created = row
	}
	if t == sound {
		c.anchored(row)
		c.vouch(row, claims)
		if !c.late {
			clear(c.macs)
		}
		c.macs[row.Step] = row.MAC
	}
	return true
}

// vouch takes over what a sound checkpoint says of the logs. What was saved
// after the logs were read speaks of rows that were not read. Of payloads only
// those of claims have to be read for it, and finish reads the newest one: to
// read them all takes ten times as long as to check their signatures.
func (c *chain) vouch(row stores.Checkpoint, claims bool) {
	var log []SegmentEnd
	if c.opened = claims; claims {
		log = c.open(row)
	}
	if c.late {
		return
	}
	c.claimed[row.Segment] = max(c.claimed[row.Segment], row.Calls)
	c.vouched = max(c.vouched, row.Events)
	for _, end := range log {
		c.pinned[end.Segment] = end
		c.claimed[end.Segment] = max(c.claimed[end.Segment], end.Calls)
	}
}

// open reads the payload of a sound checkpoint.
func (c *chain) open(row stores.Checkpoint) []SegmentEnd {
	b, err := DecodeCheckpoint(row)
	if err != nil {
		c.find(RecordCheckpoint, row.Step, 0, 0, Unreadable, "%v", err)
	}
	return b.Log
}

// calls takes every call record, ordered by segment and number.
func (c *chain) calls(rows []stores.Call) {
	var prev *stores.Call
	prevOK := true
	for i := range rows {
		r := &rows[i]
		if prev != nil && prev.Segment != r.Segment {
			c.missingCalls(*prev)
			prev, prevOK = nil, true
		}
		if next, t := c.call(r, prev, prevOK); next {
			prev, prevOK = r, t == sound
		}
	}
	if prev != nil {
		c.missingCalls(*prev)
	}
	for _, seg := range sortedKeys(c.claimed) {
		if _, any := c.tails[seg]; !any {
			c.missingCalls(stores.Call{Segment: seg})
		}
	}
}

// call takes one record and reports whether the next one is compared with it.
func (c *chain) call(r, prev *stores.Call, prevOK bool) (counts bool, t trust) {
	t = c.judge(RecordCall, callHeader(*r), r.Payload, r.Seal, r.Bad)
	want, link := int64(1), []byte(nil)
	if prev != nil {
		want, link = prev.N+1, prev.MAC
	}
	if !c.missing(t, want, r.N, func(n int64) {
		c.find(RecordCall, r.Step, r.Segment, n, Gap, "call record %d of segment %d is missing", n, r.Segment)
	}) {
		return false, t
	}
	if c.last == nil || r.Step >= c.last.Base {
		c.logged = append(c.logged, *r)
	}
	c.tails[r.Segment] = *r
	if t != sound {
		return true, t
	}
	if prevOK && r.N == want && !bytes.Equal(r.Prev, link) {
		c.find(RecordCall, r.Step, r.Segment, r.N, Forged, "it was not made after call record %d of segment %d", want-1, r.Segment)
	}
	if end, pinned := c.pinned[r.Segment]; pinned && end.Calls == r.N && end.MAC != hex.EncodeToString(r.MAC) {
		c.find(RecordCall, r.Step, r.Segment, r.N, Forged, "it is not the record that was there when segment %d was cut off", r.Segment)
	}
	c.beyond = max(c.beyond, r.Step)
	var b callBody
	if r.Status == stores.CallResolved && decodeBody(r.Payload, &b) == nil && b.Event > 0 {
		c.resolved[[2]int64{r.Segment, r.N}] = b.Event
	}
	return true, t
}

// missingCalls reports a cut tail after the last record of a segment.
func (c *chain) missingCalls(last stores.Call) {
	for n := last.N + 1; n <= c.claimed[last.Segment] && n <= last.N+maxMissing; n++ {
		c.find(RecordCall, last.Step, last.Segment, n, Gap, "call record %d of segment %d is missing", n, last.Segment)
	}
}

// event takes the next event and reports whether it counts in the order.
func (c *chain) event(e stores.Event) bool {
	t := c.judge(RecordEvent, eventHeader(e), e.Payload, e.Seal, e.Bad)
	want := c.events.N + 1
	if !c.missing(t, want, e.N, func(n int64) { c.find(RecordEvent, e.Step, 0, n, Gap, "event %d is missing", n) }) {
		return false
	}
	if t == sound {
		if (c.eventOK || want == 1) && e.N == want && !bytes.Equal(e.Prev, c.events.MAC) {
			c.find(RecordEvent, e.Step, 0, e.N, Forged, "it was not made after event %d", want-1)
		}
		c.beyond = max(c.beyond, e.Step)
		var b operatorEvent
		if e.Type == EventResolved && !c.newer && decodeBody(e.Payload, &b) == nil && b.Record > 0 {
			c.told[[2]int64{b.Segment, b.Record}] = true
		}
	}
	c.events, c.eventOK = e, t == sound
	return true
}
