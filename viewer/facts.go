package viewer

import (
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/teff"
	"github.com/flowtui/flowtui/stores"
)

// unreadable is the status of a run whose list entry cannot be read.
const unreadable = "unreadable"

// facts are what is known of a run: the one input of badges, of why and next,
// and of the offers. Lists, details and plans make them in the same way.
type facts struct {
	status  string
	verdict Verdict
	reason  string // what does not verify, one sentence
	setBack bool   // regressed only by what was seen before
	forget  string // then: what to do when that was on purpose

	step, base, segment int64
	at                  []string
	waiting             []Waiting // approvals and interrupts
	since               time.Time // when it began to wait, zero when unknown
	doubts              []engine.CallInfo
	resolved            []string // calls of the superstep that an operator resolved
	unstarted           []engine.CallInfo
	stored              int // decisions stored and not spent
	worker              string
	failure             string
	denial              *engine.Denial

	decisions []engine.Decision        // stored and not spent, where the checkpoint was read
	denials   map[callAt]engine.Denial // of calls that wait in the log, see decided

	updated  time.Time
	now      time.Time
	leases   bool          // the store tells who works on a run
	lease    *stores.Lease // live
	lapsed   *stores.Lease // expired
	refusals refusals
	foreign  *teff.Row // of a run of teff's

	noWorkflow  bool   // of a run of teff's: none was given, a flag would
	unsupported string // why its workflow cannot be run here
}

// refusals are reasons why actions are not possible that do not lie in the
// run's own rows, "" where there is none.
type refusals struct {
	write     string // read-only
	flow      string // the flow cannot go on here
	principal string // it runs with another principal
}

// native is the word that a foreign store has for the status.
func (f facts) native() string {
	if f.status == unreadable {
		return ""
	}
	return f.foreign.Status
}

func (f facts) running() bool { return f.status == string(stores.StatusRunning) }
func (f facts) paused() bool  { return f.status == string(stores.StatusPaused) }
func (f facts) final() bool   { return stores.Status(f.status).Final() }

// denied is the decision that a failed run failed with, zero if it was none.
func (f facts) denied() engine.Denial {
	if f.denial == nil || f.status != string(stores.StatusFailed) {
		return engine.Denial{}
	}
	return *f.denial
}

// quiet is how long a run may be silent where no lease tells who works on it.
const quiet = time.Minute

// pulse is what is known about a worker being on the run.
type pulse int

const (
	gone    pulse = iota // nobody has the lease, or it is silent for too long
	alive                // a live lease
	maybe                // no leases here, and it was updated just now
	skewed               // no leases here, and its last update is in the future
	settled              // the run does not need a worker
)

func (f facts) pulse() pulse {
	silent := f.now.Sub(f.updated)
	switch {
	case !f.running():
		return settled
	case f.lease != nil:
		return alive
	case f.leases:
		return gone
	case silent < -quiet:
		return skewed
	case silent < quiet:
		return maybe
	}
	return gone
}

// inDoubt reports whether a person has to say what became of a call. While a
// worker may still be on it, the call is merely under way.
func (f facts) inDoubt() bool {
	p := f.pulse()
	return len(f.doubts) > 0 && (p == gone || p == skewed)
}
