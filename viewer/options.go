package viewer

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// FlowSource finds the flows that runs go on with. An error of Flow is a
// sentence that says why there is none; a [Problem] also says what to do.
type FlowSource interface {
	Flow(name string) (*engine.Flow, *tool.Registry, error)
	Names() []string
}

// Memory remembers how far each run was seen, beyond the life of a process. It
// must be safe for concurrent use. What was never seen has step -1.
type Memory interface {
	Seen(store, owner, run string) (incarnation string, step int64)
	See(store, owner, run, incarnation string, step int64)
}

// Options are how stores are attached.
type Options struct {
	Formats Registry
	Keys    *seal.Keyring // nil: nothing can be verified or acted on
	Flows   FlowSource    // nil: no run can go on
	// Workflows reads the workflows that runs of teff's go on with, once. No row
	// names its own: a run goes on with the only one that has the node where it
	// stands. nil: none was given, and such runs are only read.
	Workflows   func() ([]Workflow, error)
	Owner       string          // whose runs are listed; "" is the default owner, "*" all
	AnyOwner    bool            // the screens may show the runs of other owners too; they may where Owner is "*"
	Identity    stores.Identity // of runs that are started; of others only the principal counts
	By          string          // the operator, for the audit log
	ReadOnly    bool            // refuse every action
	ReadOnlyWhy string          // why ReadOnly, one sentence; "": it was asked for with --read-only
	// Production says which stores are marked so, by their specs.
	Production map[string]bool
	Clock      func() time.Time
	// Raw leaves all texts as they are stored, for JSON output, which escapes
	// them. Otherwise they are scrubbed, see [Scrub]. Secrets are masked in both.
	Raw       bool
	Worker    string        // who this process is, for leases and the log; unique among all
	LeaseTTL  time.Duration // how long a run counts as held after the last sign of life; 0: the engine's default
	Command   string        // how the program was called, for Service.Command
	NoCommand bool          // no command line does the same: Service.Command is ""
	KeyFlags  []string      // flags to repeat in Service.Command, never secrets
	SayOwner  bool          // name the default owner too in Service.Command: a context may have another
	Memory    Memory        // nil: what was seen is forgotten with the process
}

func (o Options) withDefaults() Options {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Owner == "" {
		o.Owner = stores.DefaultOwner
	}
	o.AnyOwner = o.AnyOwner || o.Owner == stores.AnyOwner
	if o.Command == "" {
		o.Command = "flowtui"
	}
	if o.By == "" {
		o.By = "operator"
	}
	if o.Worker == "" {
		o.Worker = "viewer-" + randomName()
	}
	return o
}

// randomName tells processes apart that hold leases.
func randomName() string {
	b := make([]byte, 4)
	rand.Read(b) // never fails, see crypto/rand
	return hex.EncodeToString(b)
}

// Format is one kind of store that can be attached.
type Format struct {
	Name string
	// Sniff looks whether spec is a store of this format, and creates nothing.
	// When it is none, found says what is there instead.
	Sniff func(ctx context.Context, spec string) (match bool, found string, err error)
	Open  func(ctx context.Context, spec string, readOnly bool) (stores.Store, error)
	// Unsigned formats are foreign: their rows never carry signatures.
	Unsigned bool
}

// Registry is the formats in the order in which they are tried.
type Registry []Format
