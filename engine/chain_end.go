package engine

import (
	"bytes"
	"maps"
	"slices"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/stores"
)

// keyless collects rows whose key is not at hand.
type keyless struct {
	rows  []Finding // the first ones
	ids   map[string]int
	count int
}

func (k *keyless) add(record string, h seal.Header, id string) {
	if k.ids == nil {
		k.ids = map[string]int{}
	}
	k.ids[id]++
	if k.count++; len(k.rows) < maxMissing {
		k.rows = append(k.rows, Finding{stores.Key{}, record, h.Step, h.Segment, h.N, UnknownKey, id})
	}
}

// finish takes the head, nil when the store keeps none, and returns all findings.
func (c *chain) finish(head *stores.Head, hasEvents bool) []Finding {
	if c.lastOK && !c.opened {
		c.open(*c.last)
	}
	if hasEvents {
		c.finishEvents()
	}
	if head != nil {
		c.head(*head)
	}
	switch {
	case c.last == nil && head != nil:
		c.find(RecordCheckpoint, 0, 0, 0, Gap, "no checkpoint is stored, but the run's list entry is")
	case c.last == nil:
		c.find(RecordCheckpoint, 0, 0, 0, Gap, "no checkpoint is stored, but the run's log is")
	case c.beyond > c.last.Step:
		c.find(RecordCheckpoint, c.last.Step, 0, 0, Regressed, "the run's log refers to step %d, but the newest checkpoint is step %d", c.beyond, c.last.Step)
	}
	c.finishKeyless()
	return c.findings
}

// finishEvents reports a cut tail, and resolutions of which one half is gone.
func (c *chain) finishEvents() {
	for n := c.events.N + 1; c.last != nil && n <= c.vouched && n <= c.events.N+maxMissing; n++ {
		c.find(RecordEvent, c.last.Step, 0, n, Gap, "event %d is missing", n)
	}
	for _, at := range slices.SortedFunc(maps.Keys(c.told), compare2) {
		if _, there := c.resolved[at]; !there && c.tails[at[0]].N < at[1] {
			c.find(RecordCall, c.tails[at[0]].Step, at[0], at[1], Gap, "the record of a resolution is missing: an event speaks of call record %d of segment %d", at[1], at[0])
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(c.resolved), compare2) {
		if n := c.resolved[at]; !c.told[at] && n > c.events.N {
			c.find(RecordEvent, c.tails[at[0]].Step, 0, n, Gap, "event %d, which tells who resolved a call, is missing", n)
		}
	}
}

func compare2(a, b [2]int64) int { return slices.Compare(a[:], b[:]) }

// finishKeyless tells rows that could not be checked: all together when the
// run's key is not here, one by one when other rows of the run verify, since
// then a row may also have been replaced.
func (c *chain) finishKeyless() {
	step := int64(0)
	if c.last != nil {
		step = c.last.Step
	}
	switch {
	case c.keyless.count == 0:
	case c.keys == nil:
		c.find(RecordCheckpoint, step, 0, 0, NoKey, "no key was given, so nothing can be verified")
	case c.sounds == 0:
		for _, id := range slices.Sorted(maps.Keys(c.keyless.ids)) {
			c.find(RecordCheckpoint, step, 0, 0, UnknownKey, "%d rows are signed with key %s, which was not given", c.keyless.ids[id], id)
		}
	default:
		for _, f := range c.keyless.rows {
			c.find(f.Record, f.Step, f.Segment, f.N, UnknownKey, "it names key %s, which was not given, while other rows of the run verify: the key is an older one, or the row was replaced", f.Reason)
		}
		if more := c.keyless.count - len(c.keyless.rows); more > 0 {
			c.find(RecordCheckpoint, step, 0, 0, UnknownKey, "%d more rows name keys that were not given", more)
		}
	}
}

// head compares the list entry with the checkpoint that it sums up. It was read
// after the logs and before the newest checkpoints, so it may be behind those.
func (c *chain) head(h stores.Head) {
	if c.last == nil {
		return
	}
	t := c.judge(RecordHead, headHeader(h), h.Payload, h.Seal, h.Bad)
	at, known := c.macs[h.Step]
	switch {
	case t == rejected:
	case h.Step < c.floor:
		c.find(RecordHead, h.Step, 0, 0, Regressed, "the list entry was put back to step %d, the newest checkpoint is step %d", h.Step, c.last.Step)
	case h.Step > c.last.Step:
		c.beyond = max(c.beyond, h.Step)
	case t == sound && known && !bytes.Equal(h.Prev, at):
		c.find(RecordHead, h.Step, 0, 0, Forged, "the list entry was not made for this step %d", h.Step)
	}
}

// read marks that the logs are read now: the run was at least at this step.
func (c *chain) read() {
	c.late = true
	if c.last != nil {
		c.floor = c.last.Step
	}
}

// current returns the call records of the current superstep.
func (c *chain) current() []stores.Call {
	if c.last == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.logged), func(r stores.Call) bool { return r.Step < c.last.Base })
}

// worst returns the verdict of a run with these findings.
func worst(findings []Finding) Verdict {
	v := len(verdictRank) - 1
	for _, f := range findings {
		v = min(v, slices.Index(verdictRank, f.Verdict))
	}
	return verdictRank[v]
}
