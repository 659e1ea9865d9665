//go:build unix

package crash

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/model"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores"
)

// jobVariable makes this binary a worker.
const jobVariable = "FLOWTUI_TEST_JOB"

// job is what a worker is told when it starts.
type job struct {
	Name    string
	Store   teststores.Place
	Durable teststores.Durability
	Journal string
	Server  string        // where orders come from and where tools pay
	TTL     time.Duration // of leases
	Deaf    bool          // its lease renewals are lost, so it is not told that others took over
	Room    int           // pages that the store may grow by; 0: no limit
}

// The things that an order can ask for.
const (
	doRun        = "run"
	doRecover    = "recover"
	doRecoverAll = "recover-all"
	doArm        = "arm"   // a trap
	doLimit      = "limit" // how far a file may grow
	doEnd        = "end"
)

// order is what a worker is asked to do next.
type order struct {
	Do       string
	Flow     string
	Run      string
	Rerun    bool
	Takeover bool
	Version  string
	Trap     trap
	Bytes    int64 // that the -wal file may grow by; negative: without limit
}

// outcome is what came of an order.
type outcome struct {
	First bool // of a worker that has done nothing yet
	Ops   int  // store operations
	Class string
	Error string
	All   map[string]outcome // by run, of recover-all
}

var classes = []struct {
	err  error
	name string
}{
	{engine.ErrCheckpointStoreCorrupt, "corrupt"}, {engine.ErrRecoveryNeedsDecision, "doubt"}, {engine.ErrFlow, "flow"},
	{engine.ErrRefused, "refused"}, {engine.ErrInvalid, "invalid"}, {engine.ErrCheckpointNotFound, "not-found"},
	{engine.ErrCheckpointConflict, "conflict"}, {stores.ErrConflict, "conflict"}, {stores.ErrUnknown, "unknown"},
	{stores.ErrFull, "full"}, {stores.ErrBusy, "busy"}, {stores.ErrUnavailable, "unavailable"},
}

func classOf(err error) string {
	if err == nil {
		return ""
	}
	for _, c := range classes {
		if errors.Is(err, c.err) {
			return c.name
		}
	}
	return "other"
}

func outcomeOf(err error) outcome {
	if err == nil {
		return outcome{}
	}
	return outcome{Class: classOf(err), Error: err.Error()}
}

func checkpointKeys() (*seal.Keyring, error) {
	k, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	return seal.NewKeyring(k), err
}

func keyOf(run string) stores.Key { return stores.Key{Owner: stores.DefaultOwner, Run: run} }

// staff is a worker, in its own process.
type staff struct {
	job
	store  *hook
	runner *engine.Runner
	http   *http.Client
}

// work is a worker's life.
func work(text string) error {
	var w staff
	if err := json.Unmarshal([]byte(text), &w.job); err != nil {
		return err
	}
	// Every request has a connection of its own: Go's client would send one with
	// an idempotency key again when a connection that it used before is closed.
	w.http = &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	signal.Ignore(syscall.SIGXFSZ) // the write that finds no room fails instead
	ctx := context.Background()
	if err := w.open(ctx); err != nil {
		return err
	}
	for out := (outcome{First: true}); ; {
		o, err := w.next(ctx, out)
		if err != nil {
			return err
		}
		if o.Do == doEnd {
			return w.store.Close()
		}
		w.store.counted()
		out = w.do(ctx, o)
		out.Ops = w.store.counted()
	}
}

func (w *staff) open(ctx context.Context) error {
	if w.Room > 0 {
		limitPages(w.Room)
	}
	j, err := openJournal(w.Journal)
	if err != nil {
		return err
	}
	s, err := w.Store.Open(ctx, w.Durable)
	if err != nil {
		return err
	}
	w.store = &hook{s: s, worker: w.Name, journal: j, deaf: w.Deaf}
	keys, err := checkpointKeys()
	if err != nil {
		return err
	}
	w.runner, err = engine.New(engine.Config{Store: w.store, Keys: keys, Tools: tools(w.pay), Worker: w.Name, LeaseTTL: w.TTL})
	return err
}

// next reports what came of the last order and waits for the next one. It fails
// when the test is gone, and so the worker ends.
func (w *staff) next(ctx context.Context, last outcome) (order, error) {
	var o order
	body, err := json.Marshal(last)
	if err != nil {
		return o, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.Server+"/orders/"+w.Name, bytes.NewReader(body))
	if err != nil {
		return o, err
	}
	resp, err := w.http.Do(req)
	if err != nil {
		return o, err
	}
	defer resp.Body.Close()
	return o, json.NewDecoder(resp.Body).Decode(&o)
}

func (w *staff) do(ctx context.Context, o order) outcome {
	k := keyOf(o.Run)
	switch o.Do {
	case doArm:
		w.store.arm(o.Trap)
		return outcome{}
	case doLimit:
		return outcomeOf(limitFile(w.Store.At+"-wal", o.Bytes))
	case doRecoverAll:
		all, err := w.runner.RecoverAll(ctx, stores.AnyOwner, flowNamed, engine.RecoverOptions{})
		out := outcomeOf(err)
		out.All = map[string]outcome{}
		for k, r := range all {
			out.All[k.Run] = outcomeOf(r.Err)
		}
		return out
	}
	f, err := flowNamed(o.Flow)
	switch {
	case err != nil:
	case o.Do == doRecover:
		_, err = w.runner.Recover(ctx, f, k, engine.RecoverOptions{RerunInDoubt: o.Rerun, Takeover: o.Takeover, Version: o.Version, By: "olga"})
	case o.Flow == "chat":
		_, err = w.runner.RunToolLoop(ctx, chat(), engine.LoopStart{Key: k, Messages: []model.Message{{Role: model.User, Content: "two seats for Hamlet"}}})
	default:
		_, err = w.runner.Run(ctx, f, engine.Start{Key: k, State: initial(o.Run)})
	}
	return outcomeOf(err)
}

// pay is every tool's effect: a request to the payment server.
func (w *staff) pay(ctx context.Context, name string, in tool.Input) (any, error) {
	c := call{Run: in.Run, Tool: name}
	if err := json.Unmarshal(in.Args, &c); err != nil {
		return nil, err
	}
	body, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.Server+"/pay/"+w.Name, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Idempotency-Key", in.IdempotencyKey)
	resp, err := w.http.Do(req)
	if err != nil {
		if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
			return nil, fmt.Errorf("%w: %w", tool.ErrNotStarted, err)
		}
		return nil, fmt.Errorf("%w: %w", tool.ErrOutcomeUnknown, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	switch {
	case resp.StatusCode == http.StatusForbidden:
		return nil, fmt.Errorf("%w: %s", tool.ErrNotStarted, text)
	case err != nil:
		return nil, fmt.Errorf("%w: %w", tool.ErrOutcomeUnknown, err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("%w: %s", tool.ErrOutcomeUnknown, resp.Status)
	}
	return string(text), nil
}

// limitFile bounds how large a file of this process may become, counted from
// the present size of the given one.
func limitFile(path string, more int64) error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	limit.Cur = limit.Max
	if more >= 0 {
		info, err := os.Stat(path)
		if err != nil {
			return err
		}
		limit.Cur = uint64(info.Size() + more)
	}
	return syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit)
}
