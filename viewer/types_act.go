package viewer

import (
	"encoding/json"
	"time"
)

// Plan is what an action would do, computed without touching anything. Its
// JSON is the contract of `flowtui plan`.
type Plan struct {
	Run      string    `json:"run"`
	Action   string    `json:"action"` // recover, resume, start, none
	Version  string    `json:"version"`
	Replay   []Call    `json:"replay"`
	Rerun    []Call    `json:"rerun"`
	Runs     []Call    `json:"runs"` // run for the first time, their approval is stored
	InDoubt  []Call    `json:"in_doubt"`
	Decision *Decision `json:"decision"`
	Lease    *Lease    `json:"lease"`
	Blocked  *string   `json:"blocked"` // a sentence when the action would be refused
	Hint     string    `json:"-"`       // what would unblock it
	// Undecided is why a recovery would be refused for its calls in doubt, ""
	// when that is not the reason. A resolution or Request.RerunInDoubt passes.
	Undecided string        `json:"-"`
	Lately    string        `json:"-"` // who decided last on it, what and when: "ben approved pay.1 at 09:30:01"
	Row       Row           `json:"-"`
	Claims    string        `json:"-"` // "claims step 3 as segment 2; the old worker is cut off"
	Then      string        `json:"-"` // what follows: "then send", "then the run ends"
	Review    []ReviewEntry `json:"-"` // everything that is being approved or asked
}

// ReviewEntry is one open approval, interrupt or in-doubt call in full.
type ReviewEntry struct {
	Waiting
	Text       string `scrub:"lines"` // the prompt, in its lines
	Idempotent bool
	Lines      []Line // all of the arguments, nothing left out
	Bytes      int    // size of the arguments as stored
	Digest     string // of the arguments as stored, hex
	Since      time.Time
	IfYes      string // what approving does, one sentence
	IfNo       string // what denying does
}

// Decision is a stored decision that is not spent yet.
type Decision struct {
	Type string    `json:"type"` // approve, deny, answer
	ID   string    `json:"id"`
	By   string    `json:"by"`
	Time time.Time `json:"time"`
	Note string    `json:"note,omitempty"`
}

// Action names something an operator can do to a run.
type Action string

// The actions.
const (
	Approve Action = "approve"
	Deny    Action = "deny"
	Answer  Action = "answer"
	Resolve Action = "resolve"
	Recover Action = "recover"
)

// Offer is an action with the reason why it is not possible, if it is not.
type Offer struct {
	Action   Action
	Target   string // approval, interrupt or call id; "" for recover
	Title    string // "approve charge_card"
	Disabled string // why not, "" when possible
	// StoreOnly says that the flow cannot run here: the decision can be stored,
	// with Request.NoRun, and whoever has the flow goes on with it.
	StoreOnly bool
}

// Request asks for an action.
type Request struct {
	Ref          Ref
	Action       Action
	Target       string // approval id, interrupt id or key, call id; "" when there is only one
	Version      string // Plan.Version that was seen; "" means "whatever is there now"
	Note         string
	Value        json.RawMessage // answer, or the result of a resolved call
	NotRun       bool            // resolve: the call did not run
	NoRun        bool            // store the decision only
	Unchecked    bool            // answer: also one that the question says would not pass
	RerunInDoubt bool
	Takeover     bool // recover, resolve: also while another worker's lease is live
	// MaxIterations bounds a run of teff's, in node executions in all; 0: none.
	MaxIterations int64
	unattended    bool // recover: nobody asked for this run by name, see engine.RecoverOptions
}

// Outcome is what became of a request. Its JSON is the contract of approve,
// deny, answer, resolve, recover and run.
type Outcome struct {
	Run        string    `json:"run"`
	Status     string    `json:"status"`
	Outcome    string    `json:"outcome"` // one sentence
	Step       int64     `json:"step"`
	Segment    int64     `json:"segment"`
	Replayed   []string  `json:"replayed"`
	Rerun      []string  `json:"rerun"`
	Unreplayed []string  `json:"unreplayed"`
	Waiting    []Waiting `json:"waiting"`
	Reply      string    `json:"-" scrub:"lines"` // of a conversation that waits for the next message
	Denied     bool      `json:"-"`               // it failed because a person denied a call
	Unused     bool      `json:"-"`               // the decision was for something else than the flow asks now
}

// Progress is a stage of an action under way.
type Progress struct {
	Stage string // recorded, picked up, completed
	Text  string // one line
}
