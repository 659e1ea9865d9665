package engine

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

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
// events, head. It is pure: rows in, findings out. Each row that was changed
// is named once; the rows around it are not blamed for it.
type chain struct {
	keys    *seal.Keyring
	store   string // id of the store that the rows were read from, "" when unknown
	key     stores.Key
	life    string // incarnation of the run
	created stores.Checkpoint

	last    *stores.Checkpoint // newest checkpoint, payload included
	lastOK  bool
	claimed map[int64]int64       // call records per segment that checkpoints vouch for
	pinned  map[int64]SegmentEnd  // last records of segments that claims vouch for
	tails   map[int64]stores.Call // newest call record of each segment
	current []stores.Call         // call records since the newest base step
	events  stores.Event          // newest event
	eventOK bool
	beyond  int64 // newest step that any log refers to
	keyless map[string]int

	findings []Finding
}

func newChain(keys *seal.Keyring, storeID string, k stores.Key) *chain {
	return &chain{
		keys: keys, store: storeID, key: k,
		claimed: map[int64]int64{}, pinned: map[int64]SegmentEnd{}, tails: map[int64]stores.Call{}, keyless: map[string]int{},
	}
}

func (c *chain) find(record string, step, segment, n int64, v Verdict, format string, args ...any) {
	c.findings = append(c.findings, Finding{c.key, record, step, segment, n, v, fmt.Sprintf(format, args...)})
}

// sound checks one row's signature and place, and reports whether it can be
// relied on. Rows under a missing key are counted, not blamed one by one.
func (c *chain) sound(record string, h seal.Header, payload []byte, s stores.Seal, bad string) bool {
	v, reason := Verified, ""
	switch err := check(c.keys, h, payload, s); {
	case bad != "":
		v, reason = Unreadable, bad
	case errors.Is(err, seal.ErrNoKey), errors.Is(err, seal.ErrUnknownKey):
		c.keyless[s.KeyID]++
		return false
	case errors.Is(err, seal.ErrFormat):
		v, reason = Unreadable, err.Error()
	case err != nil:
		v, reason = Forged, "the "+record+" was changed after it was signed: "+err.Error()
	case c.store != "" && h.Store != c.store:
		v, reason = Forged, "it was signed for another store ("+h.Store+")"
	case c.life != "" && h.Incarnation != c.life:
		v, reason = Forged, "it belongs to another run of this id, which was deleted"
	}
	if v == Verified {
		return true
	}
	c.find(record, h.Step, h.Segment, h.N, v, "%s", reason)
	return false
}

func (c *chain) checkpoint(row stores.Checkpoint) {
	if c.life == "" {
		c.life, c.created = row.Incarnation, row
	}
	ok := c.sound(RecordCheckpoint, checkpointHeader(row), row.Payload, row.Seal, row.Bad)
	want := int64(0)
	if c.last != nil {
		want = c.last.Step + 1
	}
	for s := want; s < row.Step && s < want+maxMissing; s++ {
		c.find(RecordCheckpoint, s, 0, 0, Gap, "step %d is missing", s)
	}
	if ok && c.last != nil && c.lastOK && row.Step == want {
		if err := row.Follows(c.last); err != nil {
			c.find(RecordCheckpoint, row.Step, 0, 0, Forged, "it cannot follow step %d: %v", c.last.Step, err)
		} else if !bytes.Equal(row.Prev, c.last.MAC) {
			c.find(RecordCheckpoint, row.Step, 0, 0, Forged, "it was not made after this step %d", c.last.Step)
		}
	}
	c.last, c.lastOK = &row, ok
	if !ok {
		return
	}
	c.claimed[row.Segment] = max(c.claimed[row.Segment], row.Calls)
	b, err := DecodeCheckpoint(row)
	if err != nil {
		c.find(RecordCheckpoint, row.Step, 0, 0, Unreadable, "%v", err)
		return
	}
	for _, end := range b.Log {
		c.pinned[end.Segment] = end
		c.claimed[end.Segment] = max(c.claimed[end.Segment], end.Calls)
	}
}

// calls takes every call record, ordered by segment and number.
func (c *chain) calls(rows []stores.Call) {
	var prev *stores.Call
	prevOK := false
	for i := range rows {
		r := &rows[i]
		if prev == nil || prev.Segment != r.Segment {
			c.missingCalls(prev)
			prev, prevOK = nil, true
		}
		ok := c.sound(RecordCall, callHeader(*r), r.Payload, r.Seal, r.Bad)
		want, link := int64(1), []byte(nil)
		if prev != nil {
			want, link = prev.N+1, prev.MAC
		}
		for n := want; n < r.N && n < want+maxMissing; n++ {
			c.find(RecordCall, r.Step, r.Segment, n, Gap, "call record %d of segment %d is missing", n, r.Segment)
		}
		if ok && prevOK && r.N == want && !bytes.Equal(r.Prev, link) {
			c.find(RecordCall, r.Step, r.Segment, r.N, Forged, "it was not made after call record %d of segment %d", want-1, r.Segment)
		}
		if end, pinned := c.pinned[r.Segment]; ok && pinned && end.Calls == r.N && end.MAC != hex.EncodeToString(r.MAC) {
			c.find(RecordCall, r.Step, r.Segment, r.N, Forged, "it is not the record that was there when segment %d was cut off", r.Segment)
		}
		if ok {
			c.beyond = max(c.beyond, r.Step)
		}
		if c.last != nil && r.Step >= c.last.Base {
			c.current = append(c.current, *r)
		}
		c.tails[r.Segment] = *r
		prev, prevOK = r, ok
	}
	c.missingCalls(prev)
	for _, seg := range slices.Sorted(maps.Keys(c.claimed)) {
		if _, any := c.tails[seg]; !any {
			c.missingCalls(&stores.Call{Segment: seg})
		}
	}
}

// missingCalls reports a cut tail after the last record of a segment.
func (c *chain) missingCalls(last *stores.Call) {
	if last == nil {
		return
	}
	for n := last.N + 1; n <= c.claimed[last.Segment] && n <= last.N+maxMissing; n++ {
		c.find(RecordCall, last.Step, last.Segment, n, Gap, "call record %d of segment %d is missing", n, last.Segment)
	}
}

func (c *chain) event(e stores.Event) {
	ok := c.sound(RecordEvent, eventHeader(e), e.Payload, e.Seal, e.Bad)
	want := c.events.N + 1
	for n := want; n < e.N && n < want+maxMissing; n++ {
		c.find(RecordEvent, e.Step, 0, n, Gap, "event %d is missing", n)
	}
	if ok && (c.eventOK || want == 1) && e.N == want && !bytes.Equal(e.Prev, c.events.MAC) {
		c.find(RecordEvent, e.Step, 0, e.N, Forged, "it was not made after event %d", want-1)
	}
	if ok {
		c.beyond = max(c.beyond, e.Step)
	}
	c.events, c.eventOK = e, ok
}

// finish takes the head, nil when the store keeps none, and returns all findings.
func (c *chain) finish(head *stores.Head, hasEvents bool) []Finding {
	if c.last != nil && c.lastOK && hasEvents {
		for n := c.events.N + 1; n <= c.last.Events && n <= c.events.N+maxMissing; n++ {
			c.find(RecordEvent, c.last.Step, 0, n, Gap, "event %d is missing", n)
		}
	}
	if head != nil {
		c.head(*head)
	}
	switch {
	case c.last == nil:
		c.find(RecordCheckpoint, 0, 0, 0, Gap, "no checkpoint is stored, but the run's list entry is")
	case c.beyond > c.last.Step:
		c.find(RecordCheckpoint, c.last.Step, 0, 0, Regressed, "the run's log refers to step %d, but the newest checkpoint is step %d", c.beyond, c.last.Step)
	}
	for _, id := range slices.Sorted(maps.Keys(c.keyless)) {
		v, reason := UnknownKey, fmt.Sprintf("%d rows are signed with key %s, which was not given", c.keyless[id], id)
		if c.keys == nil {
			v, reason = NoKey, "no key was given, so nothing can be verified"
		}
		step := int64(0)
		if c.last != nil {
			step = c.last.Step
		}
		c.find(RecordCheckpoint, step, 0, 0, v, "%s", reason)
	}
	return c.findings
}

func (c *chain) head(h stores.Head) {
	if c.last == nil {
		return
	}
	ok := c.sound(RecordHead, headHeader(h), h.Payload, h.Seal, h.Bad)
	switch {
	case !ok:
	case h.Step < c.last.Step:
		c.find(RecordHead, h.Step, 0, 0, Regressed, "the list entry was put back to step %d, the newest checkpoint is step %d", h.Step, c.last.Step)
	case h.Step > c.last.Step:
		c.beyond = max(c.beyond, h.Step)
	case c.lastOK && !bytes.Equal(h.Prev, c.last.MAC):
		c.find(RecordHead, h.Step, 0, 0, Forged, "the list entry was not made for this step %d", h.Step)
	}
}

// worst returns the verdict of a run with these findings.
func worst(findings []Finding) Verdict {
	v := len(verdictRank) - 1
	for _, f := range findings {
		v = min(v, slices.Index(verdictRank, f.Verdict))
	}
	return verdictRank[v]
}
