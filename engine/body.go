package engine

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/stores"
)

// Checkpoint is a checkpoint's payload: what the store keeps as opaque bytes.
type Checkpoint struct {
	State    json.RawMessage  `json:"state"`
	Frontier []string         `json:"frontier"` // nodes that run next
	Visits   map[string]int64 `json:"visits"`   // finished runs of each node
	// Supersteps counts the finished ones: claims, pauses and decisions do not.
	Supersteps int64      `json:"supersteps"`
	Waiting    []Waiting  `json:"waiting,omitempty"`   // what a paused run waits for
	Decisions  []Decision `json:"decisions,omitempty"` // stored, not spent yet
	Error      *Failure   `json:"error,omitempty"`     // of a failed run, or of a running one that is held, see [Flow.HoldOnError]
	Nodes      []NodeRun  `json:"nodes,omitempty"`     // what ran to reach this step
	// Again are the calls, failed attempts at nodes among them, that a hold was made
	// of and that did not run since: their errors do not replay. Every row of the
	// superstep has them.
	Again  []string     `json:"again,omitempty"`
	Log    []SegmentEnd `json:"log,omitempty"` // ends of the call log of earlier segments, in claims
	Worker string       `json:"worker"`
}

// Failure is why a run failed, or is held.
type Failure struct {
	Node    string  `json:"node,omitempty"`
	Message string  `json:"message"`
	Denied  *Denial `json:"denied,omitempty"` // a person denied a call
}

// Denial is a decision that a run failed with.
type Denial struct {
	Tool string `json:"tool"`
	By   string `json:"by"`
	Note string `json:"note,omitempty"`
}

func (d Denial) err() error { return &DeniedError{Tool: d.Tool, By: d.By, Note: d.Note} }

// NodeRun is one node's part in a superstep.
type NodeRun struct {
	Node       string    `json:"node"`
	Started    time.Time `json:"started"`
	Ended      time.Time `json:"ended"`
	Error      string    `json:"error,omitempty"`
	Replayed   []string  `json:"replayed,omitempty"`
	Unreplayed []string  `json:"unreplayed,omitempty"`
}

// SegmentEnd pins how far a segment's call log reached when a later segment
// was claimed, so that cutting its tail shows.
type SegmentEnd struct {
	Segment int64  `json:"segment"`
	Calls   int64  `json:"calls"`
	MAC     string `json:"mac"`
}

// The types of Waiting.
const (
	WaitApproval  = "approval"
	WaitInterrupt = "interrupt"
)

// Waiting is one approval or interrupt that a run is paused for.
type Waiting struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"` // approval: the call's id; interrupt: node and round
	Node    string          `json:"node"`
	Tool    string          `json:"tool,omitempty"`
	Args    json.RawMessage `json:"args,omitempty"`
	Size    int             `json:"size,omitempty"`   // of Args, also where they are left out
	Digest  string          `json:"digest,omitempty"` // of Args, or of the whole question
	Key     string          `json:"key,omitempty"`
	Prompt  string          `json:"prompt,omitempty"`
	Choices []string        `json:"choices,omitempty"`
	Want    *Want           `json:"want,omitempty"`
	Turn    bool            `json:"turn,omitempty"` // for the next message of a conversation
	Since   time.Time       `json:"since"`
}

// The types of Decision.
const (
	DecideApprove = "approve"
	DecideDeny    = "deny"
	DecideAnswer  = "answer"
)

// Decision is what a person decided, stored with the next checkpoint and spent
// by the superstep that it is for. The row that holds it signs store, run,
// incarnation and step; Asked and Digest bind it to one question.
type Decision struct {
	Type   string          `json:"type"`
	ID     string          `json:"id"`
	Key    string          `json:"key,omitempty"`    // of an answered interrupt
	Tool   string          `json:"tool,omitempty"`   // of an approval
	Asked  int64           `json:"asked"`            // step of the paused checkpoint
	Base   int64           `json:"base"`             // superstep that asked
	Digest string          `json:"digest,omitempty"` // of the approved arguments, or of the question
	Value  json.RawMessage `json:"value,omitempty"`  // of an answer
	By     string          `json:"by"`
	Note   string          `json:"note,omitempty"`
	Time   time.Time       `json:"time"`
}

// callBody is the payload of a call record. Args come with the first record,
// the outcome with the last.
type callBody struct {
	Args   json.RawMessage `json:"args,omitempty"`
	Digest string          `json:"digest"` // of the arguments, in every record
	Result json.RawMessage `json:"result,omitempty"`
	Error  string          `json:"error,omitempty"`
	Failed bool            `json:"failed,omitempty"` // done, with Error
	Denied *Denial         `json:"denied,omitempty"` // done, by a person who was asked at once and said no
	Why    string          `json:"why,omitempty"`    // unrecordable: the reason
	NotRun bool            `json:"not_run,omitempty"`
	By     string          `json:"by"` // worker, or who resolved it
	Note   string          `json:"note,omitempty"`
	Event  int64           `json:"event,omitempty"` // resolved: number of its event in the run's log
}

// HeadBody is a head's payload: what a list shows of a run.
type HeadBody struct {
	At      []string  `json:"at"`
	Waiting []Waiting `json:"waiting,omitempty"` // without Args over headArgs bytes
	Stored  int       `json:"stored,omitempty"`  // decisions stored and not spent
	Error   string    `json:"error,omitempty"`
	Denied  *Denial   `json:"denied,omitempty"`
	Worker  string    `json:"worker,omitempty"`
}

// A head stays small, so that a list costs little: longer arguments are read
// with the run.
const (
	headArgs = 1 << 10
	headText = 500
)

func decodeBody(payload []byte, into any) error {
	if err := json.Unmarshal(payload, into); err != nil {
		return fmt.Errorf("payload is unreadable: %w", err)
	}
	return nil
}

// DecodeCheckpoint reads a checkpoint's payload. Verify the row first.
func DecodeCheckpoint(c stores.Checkpoint) (Checkpoint, error) {
	var b Checkpoint
	if c.Bad != "" {
		return b, fmt.Errorf("row is unreadable: %s", c.Bad)
	}
	return b, decodeBody(c.Payload, &b)
}

// DecodeHead reads a head's payload.
func DecodeHead(h stores.Head) (HeadBody, error) {
	var b HeadBody
	if h.Bad != "" {
		return b, fmt.Errorf("row is unreadable: %s", h.Bad)
	}
	return b, decodeBody(h.Payload, &b)
}

// summary is what the head says of a checkpoint.
func (b Checkpoint) summary() HeadBody {
	h := HeadBody{At: b.Frontier, Worker: b.Worker, Stored: len(b.Decisions)}
	if b.Error != nil {
		h.Error, h.Denied = clip(b.Error.Message), b.Error.Denied
		if b.Error.Node != "" {
			h.At = []string{b.Error.Node}
		}
	}
	for _, w := range b.Waiting {
		if len(w.Args) > headArgs {
			w.Args = nil
		}
		w.Prompt = clip(w.Prompt)
		h.Waiting = append(h.Waiting, w)
	}
	return h
}

func clip(s string) string {
	r := []rune(s)
	if len(r) <= headText {
		return s
	}
	return string(r[:headText-1]) + "…"
}
