package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/engine/tool"
	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/memory"
)

func testKeys(t testing.TB) *seal.Keyring {
	t.Helper()
	k, err := seal.NewKey([]byte("use-a-secret-from-your-vault-32b"))
	if err != nil {
		t.Fatal(err)
	}
	return seal.NewKeyring(k)
}

func key(run string) stores.Key { return stores.Key{Owner: stores.DefaultOwner, Run: run} }

// world is what the tools act on. It counts what happened to each run.
type world struct {
	mu   sync.Mutex
	hits map[string]int // "run tool"
	do   map[string]tool.Func
}

func newWorld() *world { return &world{hits: map[string]int{}, do: map[string]tool.Func{}} }

func (w *world) tool(name string, change ...func(*tool.Tool)) tool.Tool {
	t := tool.Tool{Name: name, Run: func(ctx context.Context, in tool.Input) (any, error) {
		w.mu.Lock()
		w.hits[in.Run+" "+name]++
		do := w.do[name]
		w.mu.Unlock()
		if do != nil {
			return do(ctx, in)
		}
		return name + " did it", nil
	}}
	for _, c := range change {
		c(&t)
	}
	return t
}

func (w *world) count(run, name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.hits[run+" "+name]
}

func idempotent(t *tool.Tool) { t.Idempotent = true }
func needsOK(t *tool.Tool)    { t.Approval = tool.ApprovalRequired }

var ticketTools = []string{"hold_seats", "charge_card", "email_tickets"}

func (w *world) tickets(change ...func(*tool.Tool)) *tool.Registry {
	reg := tool.NewRegistry()
	for _, name := range ticketTools {
		if err := reg.Add(w.tool(name, change...)); err != nil {
			panic(err)
		}
	}
	return reg
}

// tickets is the flow of the reference: hold, pay, send.
func tickets() *engine.Flow {
	return engine.NewFlow("tickets").
		Node("hold", engine.Call{Tool: "hold_seats", Into: "note"}).
		Node("pay", engine.Call{Tool: "charge_card", Into: "charge"}).
		Node("send", engine.Call{Tool: "email_tickets", Into: "mail"}).
		Edge("hold", "pay").Edge("pay", "send").End("send")
}

func onlyTickets(name string) (*engine.Flow, error) {
	if name != "tickets" {
		return nil, fmt.Errorf("no flow has this name")
	}
	return tickets(), nil
}

func runner(t testing.TB, s stores.Store, tools *tool.Registry, name string) *engine.Runner {
	t.Helper()
	r, err := engine.New(engine.Config{Store: s, Keys: testKeys(t), Tools: tools, Worker: name})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// sweeper makes a Sweeper for tickets that logs into a book.
func sweeper(t testing.TB, s stores.Store, tools *tool.Registry, change ...func(*Options)) (*Sweeper, *book) {
	t.Helper()
	b := &book{}
	o := Options{Store: s, Runner: runner(t, s, tools, "sweeper"), Flows: onlyTickets, Log: slog.New(b)}
	for _, c := range change {
		c(&o)
	}
	w, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return w, b
}

// running runs a sweeper until the returned function stops it.
func running(t testing.TB, w *Sweeper) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx) }()
	return sync.OnceFunc(func() {
		cancel(errors.New("told to"))
		if err := <-done; err != nil {
			t.Errorf("stopped with %v", err)
		}
	})
}

// full is a store with every capability that the engine uses.
type full interface {
	stores.Store
	stores.Lister
	stores.Historian
	stores.EventLog
	stores.Grapher
	stores.Leaser
	stores.Preparer
}

var errCrash = errors.New("the worker crashed here")

// dying is a store whose worker dies right after a write. Its lease stays until
// it expires, unless freed is set.
type dying struct {
	full
	at    point
	freed bool

	mu   sync.Mutex
	dead bool
}

func (d *dying) write(last bool, do func() error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return errCrash
	}
	if err := do(); err != nil || !last {
		return err
	}
	d.dead = true
	return errCrash
}

func (d *dying) gone() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dead
}

func (d *dying) Save(ctx context.Context, w stores.Save) error {
	last := d.at == saved(w.Checkpoint.Step) || slices.ContainsFunc(w.Calls, func(c stores.Call) bool { return d.at == recorded(c.Node, c.Status) })
	return d.write(last, func() error { return d.full.Save(ctx, w) })
}

func (d *dying) RecordCall(ctx context.Context, w stores.CallWrite) error {
	return d.write(d.at == recorded(w.Call.Node, w.Call.Status), func() error { return d.full.RecordCall(ctx, w) })
}

func (d *dying) Latest(ctx context.Context, k stores.Key) (stores.Checkpoint, error) {
	if d.gone() {
		return stores.Checkpoint{}, errCrash
	}
	return d.full.Latest(ctx, k)
}

func (d *dying) Calls(ctx context.Context, k stores.Key, since int64) ([]stores.Call, error) {
	if d.gone() {
		return nil, errCrash
	}
	return d.full.Calls(ctx, k, since)
}

func (d *dying) Release(ctx context.Context, k stores.Key, holder string) error {
	if d.freed {
		return d.full.Release(ctx, k, holder)
	}
	return errCrash
}

// point is a write after which a worker dies.
type point string

func saved(step int64) point { return point(fmt.Sprint("save ", step)) }

func recorded(node string, status stores.CallStatus) point {
	return point(node + " " + string(status))
}

var (
	afterStart = saved(0)
	afterHold  = recorded("hold", stores.CallDone)
	inSend     = recorded("send", stores.CallStarted) // email_tickets did not run, but nobody can know
)

// crash starts a run whose worker dies at a point.
func crash(t testing.TB, s full, tools *tool.Registry, run string, at point, freed bool, change ...func(*engine.Start)) {
	t.Helper()
	start := engine.Start{Key: key(run)}
	for _, c := range change {
		c(&start)
	}
	d := &dying{full: s, at: at, freed: freed}
	if _, err := runner(t, d, tools, "first").Run(context.Background(), tickets(), start); err == nil || !d.gone() {
		t.Fatalf("%s: the worker did not die: %v", run, err)
	}
}

// flaky is a memory store that fails when it is told to, before an operation
// is done or, as when a reply is lost, after it.
type flaky struct {
	*memory.Store
	mu     sync.Mutex
	before func(op string, k stores.Key) error
	after  func(op string, k stores.Key) error
	ops    map[string]int // "op run"
}

func newFlaky() *flaky { return &flaky{Store: memory.New(memory.Options{}), ops: map[string]int{}} }

// set changes when it fails; nil is never.
func (f *flaky) set(before, after func(op string, k stores.Key) error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func (f *flaky) times(op, run string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.ops[op+" "+run]
}

func (f *flaky) op(op string, k stores.Key, do func() error) error {
	f.mu.Lock()
	f.ops[op+" "+k.Run]++
	before, after := f.before, f.after
	f.mu.Unlock()
	if before != nil {
		if err := before(op, k); err != nil {
			return err
		}
	}
	if err := do(); err != nil || after == nil {
		return err
	}
	return after(op, k)
}

func (f *flaky) ListUnfinished(ctx context.Context, owner string) (h []stores.Head, err error) {
	err = f.op("list", stores.Key{}, func() error { h, err = f.Store.ListUnfinished(ctx, owner); return err })
	return h, err
}

func (f *flaky) Latest(ctx context.Context, k stores.Key) (c stores.Checkpoint, err error) {
	err = f.op("latest", k, func() error { c, err = f.Store.Latest(ctx, k); return err })
	return c, err
}

func (f *flaky) Head(ctx context.Context, k stores.Key) (h stores.Head, err error) {
	err = f.op("head", k, func() error { h, err = f.Store.Head(ctx, k); return err })
	return h, err
}

func (f *flaky) Calls(ctx context.Context, k stores.Key, since int64) (c []stores.Call, err error) {
	err = f.op("calls", k, func() error { c, err = f.Store.Calls(ctx, k, since); return err })
	return c, err
}

func (f *flaky) Save(ctx context.Context, w stores.Save) error {
	return f.op("save", w.Checkpoint.Key, func() error { return f.Store.Save(ctx, w) })
}

func (f *flaky) RecordCall(ctx context.Context, w stores.CallWrite) error {
	return f.op("record", w.Call.Key, func() error { return f.Store.RecordCall(ctx, w) })
}

func down(string, stores.Key) error { return &stores.OpError{Op: "test", Class: stores.ErrUnavailable} }

// book keeps what was logged.
type book struct {
	mu    sync.Mutex
	lines []line
}

type line struct {
	level slog.Level
	msg   string
	at    time.Time
	attrs map[string]slog.Value
}

func (b *book) Enabled(context.Context, slog.Level) bool { return true }
func (b *book) WithAttrs([]slog.Attr) slog.Handler       { return b }
func (b *book) WithGroup(string) slog.Handler            { return b }
func (b *book) Handle(_ context.Context, r slog.Record) error {
	l := line{r.Level, r.Message, time.Now(), map[string]slog.Value{}}
	r.Attrs(func(a slog.Attr) bool { l.attrs[a.Key] = a.Value; return true })
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lines = append(b.lines, l)
	return nil
}

// about returns the lines of a run ("" for those of none) from a level on.
func (b *book) about(run string, level slog.Level) []line {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []line
	for _, l := range b.lines {
		if l.level >= level && l.attrs["run"].String() == valueOf(run) {
			out = append(out, l)
		}
	}
	return out
}

func valueOf(run string) string {
	if run == "" {
		return slog.Value{}.String() // of an attribute that is not there
	}
	return run
}

func msgs(lines []line) []string {
	out := []string{}
	for _, l := range lines {
		out = append(out, l.msg)
	}
	return out
}

// wantMsgs compares the messages about a run, from info on.
func (b *book) wantMsgs(t testing.TB, run string, want ...string) {
	t.Helper()
	if got := msgs(b.about(run, slog.LevelInfo)); !slices.Equal(got, want) {
		t.Errorf("%q: logged %q, want %q", run, got, want)
	}
}

func status(t testing.TB, s stores.Store, run string) stores.Status {
	t.Helper()
	return latest(t, s, run).Status
}

func latest(t testing.TB, s stores.Store, run string) stores.Checkpoint {
	t.Helper()
	c, err := s.Latest(context.Background(), key(run))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// home fails the test unless the run is done, verifies, and each tool acted once.
func (w *world) home(t testing.TB, s stores.Store, run string) {
	t.Helper()
	if got := status(t, s, run); got != stores.StatusDone {
		t.Errorf("%s is %s, want done", run, got)
	}
	for _, name := range ticketTools {
		if n := w.count(run, name); n != 1 {
			t.Errorf("%s: %s acted %d times, want once", run, name, n)
		}
	}
	r, err := engine.Verify(context.Background(), s, testKeys(t), key(run))
	if err != nil || r.Verdict != engine.Verified {
		t.Errorf("%s is %s: %+v, %v", run, r.Verdict, r.Findings, err)
	}
}

func doubt(t testing.TB, s full, w *world, run string) {
	t.Helper()
	crash(t, s, w.tickets(), run, inSend, true)
}

// notRun is what an operator found out about send.1.
func notRun(t testing.TB, s stores.Store, run string) {
	t.Helper()
	if err := runner(t, s, nil, "olga").Resolve(context.Background(), key(run), engine.Resolution{Call: "send.1", NotRun: true, By: "olga"}); err != nil {
		t.Fatal(err)
	}
}

// waitFor polls until a condition holds.
func waitFor(t testing.TB, what string, ok func() bool) {
	t.Helper()
	end := time.After(5 * time.Minute)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("waited five minutes for: %s", what)
		}
	}
}
