package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
)

// Config is what a Runner works with.
type Config struct {
	Store  stores.Store   // required
	Keys   *seal.Keyring  // required, but for a store that lives in this process only; see seal.ReadFile
	Tools  *tool.Registry // nil: flows bring no calls
	Worker string         // who this worker is, for leases and the log; "" makes a name up
	Clock  Clock          // nil: the real time
	IDs    func() string  // makes incarnations; nil: 16 random bytes
	// LeaseTTL is how long a run counts as held after the last sign of life;
	// 0 means 15 seconds.
	LeaseTTL time.Duration
	// Approver is asked at once about calls that need an approval; nil pauses
	// the run instead, until somebody resumes it.
	Approver Approver
	// Events is told every event after it was stored. It must not block.
	Events func(stores.Event)
}

// Runner runs flows on a store and brings runs on. It is safe for concurrent use.
type Runner struct {
	store  stores.Store
	keys   *seal.Keyring
	tools  *tool.Registry
	worker string
	clock  Clock
	ids    func() string
	ttl    time.Duration
	sink   func(stores.Event)

	approver Approver
}

const (
	defaultLeaseTTL = 15 * time.Second
	minLeaseTTL     = 10 * time.Millisecond
)

// New returns a Runner.
func New(c Config) (*Runner, error) {
	if c.Store == nil {
		return nil, errors.New("engine: no store")
	}
	if c.LeaseTTL != 0 && c.LeaseTTL < minLeaseTTL {
		return nil, fmt.Errorf("engine: a lease of %s is too short to be renewed, at least %s are needed", c.LeaseTTL, minLeaseTTL)
	}
	r := &Runner{store: c.Store, keys: c.Keys, tools: c.Tools, worker: c.Worker, clock: c.Clock, ids: c.IDs, ttl: c.LeaseTTL, sink: c.Events, approver: c.Approver}
	if r.ids == nil {
		r.ids = randomID
	}
	if r.worker == "" {
		r.worker = "worker-" + short(r.ids())
	}
	if r.ttl == 0 {
		r.ttl = defaultLeaseTTL
	}
	if r.sink == nil {
		r.sink = func(stores.Event) {}
	}
	if r.keys == nil {
		return r.keyless()
	}
	return r, nil
}

// keyless makes a key up for a store that nobody else can read.
func (r *Runner) keyless() (*Runner, error) {
	if _, local := r.store.(interface{ InProcess() }); !local {
		return nil, &Error{Class: ErrRefused, Reason: "no checkpoint key was given", Hint: keyHint}
	}
	k, err := seal.NewKey([]byte(randomID() + randomID()))
	if err != nil {
		return nil, err
	}
	r.keys = seal.NewKeyring(k)
	return r, nil
}

const keyHint = "give the key with --key-file, --key-env, --key-cmd or FLOWTUI_KEY_FILE"

// Start asks for a new run.
type Start struct {
	Key      stores.Key // an empty owner is the default owner, an empty run id is made up
	State    State      // nil: the flow's initial state
	Identity stores.Identity
}

// Result is where a run stands when the engine lets go of it.
type Result struct {
	Key        stores.Key
	Status     stores.Status
	Step       int64
	Segment    int64
	State      State
	Waiting    []Waiting
	Error      string  // of a failed run
	Denied     *Denial // it failed because a person denied a call
	Replayed   []string
	Rerun      []string
	Unreplayed []string
	Recorded   bool // a decision was stored and nothing was run
}

// Run starts a new run and works on it until it is done, failed or paused.
func (r *Runner) Run(ctx context.Context, f *Flow, start Start) (Result, error) {
	g, err := f.compile()
	if err != nil {
		return Result{}, err
	}
	k := start.Key
	if k.Owner == "" {
		k.Owner = stores.DefaultOwner
	}
	if k.Run == "" {
		k.Run = r.ids()
	}
	if err := checkKey(k); err != nil {
		return Result{}, err
	}
	if start.State, err = g.startState(k, start.State); err != nil {
		return Result{}, err // before anything is written
	}
	if err := r.prepare(ctx); err != nil {
		return Result{}, err
	}
	if _, err := r.store.Latest(ctx, k); !errors.Is(err, stores.ErrNotFound) {
		if err == nil {
			err = conflict(k, "choose another id, or recover it if it was cut short", "there is a run of this id already")
		}
		return Result{}, err
	}
	held, err := r.hold(ctx, k, false, actingHint)
	if err != nil {
		return Result{}, err
	}
	defer held.release()
	s, err := r.begin(held.ctx, g, k, start)
	if err != nil {
		return Result{}, takenOver(held.ctx, k, err)
	}
	return s.drive(held.ctx)
}

// begin saves step 0.
func (r *Runner) begin(ctx context.Context, g *graph, k stores.Key, start Start) (*session, error) {
	info, err := r.store.Info(ctx)
	if err != nil {
		return nil, err
	}
	if info.ID == "" {
		return nil, &Error{Class: ErrRefused, Key: k, Reason: "the store has no id to bind the run to", Hint: "see whether its id was deleted"}
	}
	s := &session{
		turn: make(chan struct{}, 1), r: r, g: g, segment: 1, step: -1, state: start.State, visits: map[string]int64{}, frontier: []string{g.start()},
		place:    stores.Place{Key: k, Store: info.ID, Incarnation: r.ids()},
		identity: start.Identity, created: r.clock.now(),
	}
	return s, s.save(ctx, saveRequest{status: stores.StatusRunning, base: 0})
}

func (r *Runner) prepare(ctx context.Context) error {
	if p, ok := r.store.(stores.Preparer); ok {
		return p.Prepare(ctx)
	}
	return nil
}

// checkKey is stricter than the stores are: what is made here must be safe to
// show and to type.
func checkKey(k stores.Key) error {
	if err := k.Validate(); err != nil {
		return &Error{Class: ErrInvalid, Reason: fmt.Sprintf("run %q: %v", k.Run, err)}
	}
	for _, s := range []string{k.Owner, k.Run} {
		for _, c := range s {
			if c < ' ' || c >= 0x7f && c < 0xa0 {
				return &Error{Class: ErrInvalid, Reason: fmt.Sprintf("%q has control characters", s), Hint: "choose an id that can be typed"}
			}
		}
	}
	return nil
}
