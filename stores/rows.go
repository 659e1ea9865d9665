package stores

import "time"

// DefaultOwner is the owner of a run that was started without one.
const DefaultOwner = "default"

// AnyOwner in a filter means the runs of every owner. It is not a valid owner.
const AnyOwner = "*"

// Key names a run. The owner is part of every key, so the same run id under
// two owners never collides.
type Key struct {
	Owner string
	Run   string
}

// Status is what a checkpoint says of its run.
type Status string

// The statuses of a native run.
const (
	StatusRunning Status = "running"
	StatusPaused  Status = "paused"
	StatusDone    Status = "done"
	StatusFailed  Status = "failed"
)

// Final reports whether no further checkpoint can follow.
func (s Status) Final() bool { return s == StatusDone || s == StatusFailed }

// Valid reports whether s is one of the four statuses of a native run.
func (s Status) Valid() bool {
	return s == StatusRunning || s == StatusPaused || s.Final()
}

// Seal is the signature of a row. The store carries it and never checks it.
type Seal struct {
	Format int    // version of the signing format
	KeyID  string // short public id of the signing key
	Prev   []byte // MAC of the row before it in its chain, empty for the first
	MAC    []byte
}

// Place is what every row of a run says of where it belongs.
type Place struct {
	Key
	Store       string // id of the store that the row was made for
	Incarnation string // random id made at the run's start
}

// Identity is for whom a run acts, signed into every checkpoint.
type Identity struct {
	User      string `json:"user,omitempty"`
	Thread    string `json:"thread,omitempty"`
	Principal string `json:"principal,omitempty"`
}

// Checkpoint is one saved step of a run.
type Checkpoint struct {
	Place
	Step    int64 // 0, 1, 2, …
	Base    int64 // the last real superstep; less than Step for a claim or a pause
	Segment int64 // 1, 2, …: one per worker that claimed the run
	Kind    string
	Flow    string
	Digest  string // of the flow's graph
	Status  Status
	Identity
	Calls   int64 // call records of this segment so far
	Events  int64 // events of the run so far, this save's included
	Time    time.Time
	Payload []byte
	Size    int64 // length of the payload, also when the payload was not read
	Seal
	Bad string // why the row cannot be read, empty for a sound row
}

// Head is the summary of a run's newest checkpoint, for lists. It is signed on
// its own, so that a list needs no payload; its Prev is the MAC of the
// checkpoint that it sums up.
type Head struct {
	Place
	Step    int64
	Base    int64
	Segment int64
	Kind    string
	Flow    string
	Digest  string
	Status  Status
	Identity
	Created time.Time
	Updated time.Time
	Payload []byte // a small summary, never the state
	Seal

	// Kept by the store and not signed: hints for lists, never for decisions.

	// Open counts the calls of the current superstep that may be in doubt: of
	// the call records with Step == Base, the call ids whose newest record
	// (highest segment, then highest N) is started and not idempotent, or
	// unrecordable and not idempotent. It is 0 unless Status is running.
	Open  int64
	Lease *Lease // nil when the store has no leases, or nobody ever held one
	Bad   string
}

// CallStatus is what one record of the call log says.
type CallStatus string

// The statuses of a call record. See the reference on the call log: started
// before the call can run, then one of the others.
const (
	CallStarted      CallStatus = "started"
	CallDone         CallStatus = "done"         // its result or its error is known
	CallPending      CallStatus = "pending"      // waits for an approval, did not run
	CallUnrecordable CallStatus = "unrecordable" // may have run, no result could be kept
	CallResolved     CallStatus = "resolved"     // an operator said what happened
)

// Call is one record of the call log.
type Call struct {
	Place
	Segment    int64
	N          int64 // 1, 2, … within the segment
	Step       int64 // base step of the superstep that made the call
	Node       string
	Ordinal    int64 // 1, 2, …: the node's first call, second call, …
	Tool       string
	Idempotent bool
	Status     CallStatus
	Time       time.Time
	Payload    []byte
	Seal
	Bad string
}

// Open reports whether a call whose newest record this is may have run without a
// result that could be kept, and must not simply run again.
func (c Call) Open() bool {
	return !c.Idempotent && (c.Status == CallStarted || c.Status == CallUnrecordable)
}

// Event is one entry of a run's log.
type Event struct {
	Place
	N       int64 // 1, 2, … within the run
	Step    int64 // newest step of the run when the event was written
	Type    string
	Time    time.Time
	Payload []byte
	Seal
	Bad string
}

// Lease says who works on a run. Expires is by the store's clock.
type Lease struct {
	Holder  string
	Expires time.Time
	Live    bool // not expired, by the store's clock when it was read
}
