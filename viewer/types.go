package viewer

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/flowtui/flowtui/engine/teff"
)

// Ref names one run for the Service. Its strings are exactly what the store
// holds: never print them, print the fields of [Row].
type Ref struct {
	Store string // label of the attached store
	Owner string
	Run   string
}

// Badge is the short word for what a run is. List, detail and command line use
// the same function to compute it.
type Badge string

// The badges, most urgent first.
const (
	Tampered  Badge = "tampered"
	InDoubt   Badge = "in-doubt"
	Paused    Badge = "paused"
	Failed    Badge = "failed"
	Stuck     Badge = "stuck"
	Spoiled   Badge = "unreadable" // of an unsigned run: nothing tells who or what spoiled it
	Running   Badge = "running"
	Recovered Badge = "recovered"
	NoKey     Badge = "no-key"
	Done      Badge = "done"
)

// Verdict is the outcome of checking a run's signatures.
type Verdict string

// The verdicts. Unchecked is shown only until the check has been made.
const (
	Unchecked  Verdict = ""
	Verified   Verdict = "verified"
	NoKeyGiven Verdict = "no-key"
	UnknownKey Verdict = "unknown-key"
	Forged     Verdict = "forged"
	Gap        Verdict = "gap"
	Regressed  Verdict = "regressed"
	Unreadable Verdict = "unreadable"
	Unsigned   Verdict = "unsigned"
)

// Bad reports a verdict that means that somebody or something changed the rows.
func (v Verdict) Bad() bool {
	return v == Forged || v == Gap || v == Regressed || v == Unreadable
}

// Keyless reports the verdict of rows whose key was not given. Missing and
// unreadable ones, and broken links between them, are found all the same.
func (v Verdict) Keyless() bool { return v == NoKeyGiven || v == UnknownKey }

// Lease says who works on a run.
type Lease struct {
	Holder  string    `json:"holder"`
	Expires time.Time `json:"expires"`
}

// Row is one run in a list. Its JSON is the contract of `flowtui ls`.
type Row struct {
	Ref      Ref       `json:"-" scrub:"-"`
	Store    string    `json:"store"`
	Owner    string    `json:"owner"`
	Run      string    `json:"run"`
	Flow     string    `json:"flow"`
	Kind     string    `json:"kind"`
	Status   string    `json:"status"`
	Native   string    `json:"native,omitempty"` // the word of a foreign store for the status
	Badges   []Badge   `json:"badges"`
	Verdict  Verdict   `json:"verdict"`
	Step     int64     `json:"step"`
	Segment  int64     `json:"segment"`
	At       []string  `json:"at"`
	Waiting  []Waiting `json:"waiting"`
	Why      string    `json:"why"` // why it is not moving, one sentence
	Next     string    `json:"-"`   // what the operator can do, one sentence
	Updated  time.Time `json:"updated"`
	Created  time.Time `json:"-"`
	Lease    *Lease    `json:"lease"`
	Error    string    `json:"-"` // of a failed run
	User     string    `json:"-"`
	Thread   string    `json:"-"`
	Actions  []Offer   `json:"-"`
	Version  string    `json:"-"`                  // fingerprint of what is shown, see Request.Version
	Denied   bool      `json:"-"`                  // it failed because a person denied a call
	Parent   string    `json:"parent,omitempty"`   // run that this nested one belongs to
	Children []string  `json:"children,omitempty"` // nested runs below it, all levels
	Unread   string    `json:"-"`                  // what of it could not be read, one sentence, "" for nothing
}

// Foreign reports a run of another program: it has no segments, calls or events.
func (r Row) Foreign() bool { return r.Kind == teff.Kind }

// Where are the nodes at which the run stands. A paused run of teff's has no node
// that runs next, but one that asks.
func (r Row) Where() []string {
	if len(r.At) > 0 || !r.Foreign() {
		return r.At
	}
	var nodes []string
	for _, w := range r.Waiting {
		if w.Node != "" {
			nodes = append(nodes, w.Node)
		}
	}
	return nodes
}

// NeedsYou reports whether a person has to look at the run.
func (r Row) NeedsYou() bool {
	if len(r.Badges) == 0 || r.Parent != "" { // who acts on a nested run acts on its parent
		return false
	}
	switch r.Badges[0] {
	case Paused:
		return slices.ContainsFunc(r.Waiting, func(w Waiting) bool { return !w.Turn }) || len(r.Waiting) == 0
	case Tampered, InDoubt, Stuck, Spoiled:
		return true
	case Failed:
		return !r.Denied // that is what a person wanted
	}
	return false
}

// Tab is one of the fixed views of the run list.
type Tab string

// The tabs, in the order of the screen.
const (
	TabNeedsYou Tab = "needs-you"
	TabRunning  Tab = "running"
	TabPaused   Tab = "paused"
	TabInDoubt  Tab = "in-doubt"
	TabFailed   Tab = "failed"
	TabDone     Tab = "done"
	TabAll      Tab = "all"
)

// Tabs lists all tabs in the order of the screen.
var Tabs = []Tab{TabNeedsYou, TabRunning, TabPaused, TabInDoubt, TabFailed, TabDone, TabAll}

// Query asks for a page of runs over all attached stores.
type Query struct {
	Tab    Tab    // "" is TabAll
	Text   string // substring of the run id, literal
	Owner  string // "" is the Service's owner, "*" all
	None   bool   // with Owner "": the runs that have no owner
	Limit  int    // 0 is 100
	Cursor string
	Check  bool // verify every run of the page before returning it
}

// Page is one page of rows. NeedsYou is sorted by urgency, then longest wait;
// every other tab by newest update.
type Page struct {
	Rows     []Row
	Next     string         // "" on the last page
	Problems []StoreProblem // stores that could not be read, or only in part
	Unread   []Problem      // runs of which a part could not be read, also where the tab leaves them out
}

// StoreProblem is a store that could not be read, or only in part.
type StoreProblem struct {
	Partly  bool // what was read of it is there, but runs may be missing
	Store   string
	Problem Problem
	Since   time.Time
}

// Counts are numbers of runs for the tabs.
type Counts map[Tab]int64

// StoreInfo describes an attached store for the header.
type StoreInfo struct {
	Label    string // short name: file name or context
	Format   string // "sqlite", "memory", …
	Location string // never with a password
	ReadOnly bool
	Why      string // why it is read-only
	Key      string // "key 3f9a ok", "no key", "unsigned"
	Unfit    bool   // the newest run is signed with another key
	Owner    string // whose runs are listed unless a Query says another one, "*" for all
	AnyOwner bool   // a Query may say another one
	NoLease  bool   // no lease information in this store
	Foreign  bool   // of another program: rows are unsigned, and it keeps no calls and no events
	// Production stores ask more of who acts: the run's id is typed.
	Production bool
}

// HistoryStep is one saved step.
type HistoryStep struct {
	Step    int64     `json:"step"`
	Segment int64     `json:"segment"`
	Status  string    `json:"status"`
	At      []string  `json:"at"`
	Time    time.Time `json:"time"`
	Claim   bool      `json:"claim"`
	Verdict Verdict   `json:"verdict"`
	Nodes   []NodeRun `json:"-"` // what ran to reach this step
	Asks    []Asked   `json:"-"` // approvals that the run waits for at this step
	Decided []Decided `json:"-"` // decisions that were stored with this step
}

// Asked is a call that waits for an approval.
type Asked struct {
	ID, Node, Tool string
}

// Decided is what a person decided: Approve or Deny a call, or Answer a question.
type Decided struct {
	Type     Action
	ID, Tool string // of the call
	Key      string // under which an answer lands
	By, Note string
}

// NodeRun is one node's part in a superstep.
type NodeRun struct {
	Node    string
	Started time.Time
	Ended   time.Time
	Error   string
}

// Identity is for whom a run acts.
type Identity struct {
	User      string `json:"user"`
	Thread    string `json:"thread"`
	Principal string `json:"principal"`
}

// Detail is one run. Its JSON is the contract of `flowtui show`.
type Detail struct {
	Row
	Identity Identity      `json:"identity"`
	Digest   string        `json:"digest"`
	Error    string        `json:"error"`
	History  []HistoryStep `json:"history"`
	Expires  *time.Time    `json:"expires"` // when the store drops it unless it is written to, nil: never
	Findings []Finding     `json:"-"`
	Flow     *Graph        `json:"-"`                // nil when the store has no topology
	Nested   []Row         `json:"nested,omitempty"` // the rows of Children
	Notes    []string      `json:"notes,omitempty"`  // what a reader of a foreign store has to know
	Talks    bool          `json:"-"`                // there is a conversation to show, see Service.Conversation
}

// Graph is a flow's topology.
type Graph struct {
	Nodes []GraphNode
	Edges []GraphEdge
	Entry string
}

// GraphNode is a node with what happened to it.
type GraphNode struct {
	ID, Type string
	Visits   int64
	Frontier bool
}

// GraphEdge is an edge with its condition as text.
type GraphEdge struct {
	From, To, Condition string
}

// Call is one call of a run, folded from its records. Its JSON is the contract
// of `flowtui calls`.
type Call struct {
	ID         string          `json:"id"`
	Step       int64           `json:"step"`
	Segment    int64           `json:"segment"`
	N          int64           `json:"n"`
	Node       string          `json:"node"`
	Ordinal    int64           `json:"ordinal"`
	Tool       string          `json:"tool"`
	Idempotent bool            `json:"idempotent"`
	Args       json.RawMessage `json:"args"`
	Status     string          `json:"status"`
	InDoubt    bool            `json:"in_doubt"`
	Why        string          `json:"why"`
	Ran        bool            `json:"ran,omitempty"` // in doubt, but the record says that it ran: only its result is lost
	Result     json.RawMessage `json:"result"`
	Error      string          `json:"error"`
	Started    *time.Time      `json:"started"`
	Ended      *time.Time      `json:"ended"`
	By         string          `json:"by"`
	Masked     int             `json:"masked,omitempty"`
	State      CallState       `json:"-"`
	Digest     string          `json:"-"`                // of the arguments as stored, hex
	Before     []Attempt       `json:"before,omitempty"` // attempts that it was made again after, the first one first
}

// Event is one entry of a run's log.
type Event struct {
	N    int64           `json:"n"`
	Time time.Time       `json:"time"`
	Type string          `json:"type"`
	Data json.RawMessage `json:"data"`
}

// Finding is one row that does not verify. Its JSON is part of the contract of
// `flowtui verify`.
type Finding struct {
	Owner   string  `json:"owner"`
	Run     string  `json:"run"`
	Record  string  `json:"record"` // checkpoint, call, event, head
	Step    int64   `json:"step"`
	N       int64   `json:"n"`
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason"`
}

// Report is the outcome of a verification.
type Report struct {
	Runs     int            `json:"runs"`
	Verified int            `json:"verified"`
	Unsigned int            `json:"unsigned"` // of a format without signatures: nothing could be verified
	Findings []Finding      `json:"findings"`
	Rows     []RunVerdict   `json:"-" scrub:"-"`
	Problems []StoreProblem `json:"-"`
	SetBack  int            `json:"-"` // runs that were seen at a later step before, see Memory
}

// RunVerdict is the verdict of one run.
type RunVerdict struct {
	Ref     Ref
	Verdict Verdict
}

// VerifyRequest selects what to verify: the given runs, or all.
type VerifyRequest struct {
	Refs  []Ref // nil: every run
	Owner string
	None  bool // see Query
	// Newest, if not 0, bounds the work for a look in the background: of the
	// newest runs of each store, those whose verdict is not known yet.
	Newest int
	// Progress is told after each run; it may be nil.
	Progress func(done, total int)
}

// StateView is a state at one step.
type StateView struct {
	Step   int64
	JSON   json.RawMessage `mask:"done"` // secrets masked unless revealed; numbers as stored
	Size   int64           // bytes as stored
	Masked int             // how many values are masked
	Lines  []Line          // the same as a tree, bounded
	Cut    int             // lines left out of Lines
}

// Line is one line of a value drawn as a tree.
type Line struct {
	Depth    int
	Path     string // unique within the value, like a.b[3]
	Key      string // "amount", "[3]", "" for the root
	Text     string // the scalar, or "{3 keys}", "[12 items]"
	Children int    // lines below this one, all depths
	Masked   bool
	More     bool // the next line of the text that began above; it has no key
}

// Problem is an error told to a person. Code is one of failed, usage,
// not-found, conflict, needs-decision, corrupt, refused.
type Problem struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Run     string `json:"run,omitempty"`
	Hint    string `json:"hint,omitempty"`
	// Overridable says that an answer was refused that Request.Unchecked sends all the same.
	Overridable bool `json:"-"`
}

func (p Problem) Error() string { return p.Message }
