package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// CallInfo is one call of a run, folded from its records: the newest word on it.
type CallInfo struct {
	ID         string // node.ordinal, unique within a superstep
	Step       int64  // base step of the superstep that made it
	Segment    int64  // of the newest record, like N
	N          int64
	Node       string
	Ordinal    int64
	Tool       string
	Idempotent bool
	Args       json.RawMessage
	Digest     string // of the arguments
	Status     stores.CallStatus
	Result     json.RawMessage
	Error      string // of a done call that failed
	Failed     bool
	Denied     *Denial // a failed call: the person who was asked at once said no
	Why        string
	NotRun     bool // resolved: it did not run
	By         string
	Note       string
	Started    time.Time
	Ended      time.Time
}

// CallID names a call within its superstep.
func CallID(node string, ordinal int64) string { return fmt.Sprintf("%s.%d", node, ordinal) }

// Finished reports whether the call's outcome is known, so that it replays.
func (c CallInfo) Finished() bool {
	return c.Status == stores.CallDone || c.Status == stores.CallResolved && !c.NotRun
}

// Open reports whether the call may or may not have run.
func (c CallInfo) Open() bool {
	return c.Status == stores.CallStarted || c.Status == stores.CallUnrecordable
}

// Doubtful reports whether a recovery needs a decision on the call: it is open
// and its tool is not idempotent.
func (c CallInfo) Doubtful() bool { return c.Open() && !c.Idempotent }

// Doubt says why an open call is in doubt.
func (c CallInfo) Doubt() string {
	if c.Status == stores.CallUnrecordable {
		return "it may have run, its result could not be kept: " + c.Why
	}
	return fmt.Sprintf("started at %s UTC, no result was recorded: it may or may not have run", c.Started.UTC().Format(time.TimeOnly))
}

type callKey struct {
	step    int64
	node    string
	ordinal int64
}

// replays reports whether the call's outcome stands for a call of this tool
// with these arguments.
func (c CallInfo) replays(tool, digest string) bool {
	return c.Finished() && c.Tool == tool && c.Digest == digest
}

func (c CallInfo) key() callKey { return callKey{c.Step, c.Node, c.Ordinal} }

// FoldCalls reduces call records to calls, in the order in which they were
// first made. Unreadable records are left out; Verify reports them.
func FoldCalls(rows []stores.Call) []CallInfo {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b stores.Call) int {
		if a.Segment != b.Segment {
			return int(a.Segment - b.Segment)
		}
		return int(a.N - b.N)
	})
	var out []CallInfo
	at := map[callKey]int{}
	for _, r := range rows {
		var b callBody
		if r.Bad != "" || decodeBody(r.Payload, &b) != nil {
			continue
		}
		k := callKey{r.Step, r.Node, r.Ordinal}
		i, ok := at[k]
		if !ok {
			i = len(out)
			at[k] = i
			out = append(out, CallInfo{ID: CallID(r.Node, r.Ordinal), Step: r.Step, Node: r.Node, Ordinal: r.Ordinal})
		}
		out[i].apply(r, b)
	}
	slices.SortStableFunc(out, func(a, b CallInfo) int { return int(a.Step - b.Step) })
	return out
}

// apply takes the next record of the call. Of a call that a person knows to have
// run, and with what result, no late word of its old worker says anything more:
// the run may have gone on with that result already, and another one would make
// what follows run again.
func (c *CallInfo) apply(r stores.Call, b callBody) {
	if c.Status == stores.CallResolved && !c.NotRun && r.Status != stores.CallResolved && c.Segment == r.Segment {
		return
	}
	c.Segment, c.N, c.Tool, c.Idempotent, c.Status = r.Segment, r.N, r.Tool, r.Idempotent, r.Status
	c.Digest, c.By, c.Note = b.Digest, b.By, b.Note
	c.Result, c.Error, c.Failed, c.Denied, c.Why, c.NotRun = b.Result, b.Error, b.Failed, b.Denied, b.Why, b.NotRun
	if b.Args != nil {
		c.Args = b.Args
	}
	if r.Status == stores.CallStarted || c.Started.IsZero() {
		c.Started, c.Ended = r.Time, time.Time{}
	}
	if r.Status != stores.CallStarted && r.Status != stores.CallPending {
		c.Ended = r.Time
	}
}
