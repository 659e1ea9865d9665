//go:build unix

package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/engine/seal"
	"github.com/flowtui/flowtui/internal/teststores"
)

// world is one store, the workers on it, the bank that they pay at, and the
// test's own way to the store, for its operator.
type world struct {
	*testing.T
	dir      string
	place    teststores.Place
	bank     *bank
	server   *httptest.Server
	launcher *launcher
	journal  *journal
	store    *hook
	keys     *seal.Keyring
	runner   *engine.Runner // of the operator

	mu      sync.Mutex
	workers map[string]*worker
	kills   map[string]int // by reason
	totals  totals
}

// totals are what the operator and the stops came to.
type totals struct {
	approved, answered, resolved, rerun, stopped int
}

func newWorld(t *testing.T, host *teststores.Host) *world {
	w := &world{T: t, dir: t.TempDir(), place: host.Fresh(), bank: newBank(), launcher: newLauncher(), workers: map[string]*worker{}, kills: map[string]int{}}
	mux := http.NewServeMux()
	mux.Handle("POST /pay/{worker}", w.bank)
	mux.HandleFunc("POST /orders/{worker}", func(rw http.ResponseWriter, r *http.Request) { w.worker(r.PathValue("worker")).serve(rw, r) })
	w.server = httptest.NewServer(mux)
	t.Cleanup(w.close)
	s, err := w.place.Open(t.Context(), teststores.Kill)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	if w.journal, err = openJournal(w.journalPath()); err != nil {
		t.Fatal(err)
	}
	if w.keys, err = checkpointKeys(); err != nil {
		t.Fatal(err)
	}
	w.store = &hook{s: s, worker: "olga", journal: w.journal}
	if err := w.store.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if w.runner, err = engine.New(engine.Config{Store: w.store, Keys: w.keys, Worker: "olga"}); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) journalPath() string { return filepath.Join(w.dir, "journal.txt") }

// close leaves no process behind, also when the test failed.
func (w *world) close() {
	w.mu.Lock()
	for _, p := range w.workers {
		p.signal(syscall.SIGKILL)
	}
	w.mu.Unlock()
	w.launcher.close()
	w.server.Close()
}

// worker is a worker process as the test sees it.
type worker struct {
	*process
	name     string
	w        *world
	orders   chan order
	outcomes chan outcome

	mu     sync.Mutex
	reason string // why the test killed it
}

func (w *world) worker(name string) *worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.workers[name]
}

// hire starts a worker. It knows the store before its process runs, so that no
// request comes from somebody unknown.
func (w *world) hire(change ...func(*job)) *worker {
	w.Helper()
	w.mu.Lock()
	p := &worker{name: fmt.Sprint("w", len(w.workers)+1), w: w, orders: make(chan order), outcomes: make(chan outcome)}
	j := job{Name: p.name, Store: w.place, Durable: teststores.Kill, Journal: w.journalPath(), Server: w.server.URL, TTL: time.Minute}
	for _, f := range change {
		f(&j)
	}
	text, err := json.Marshal(j)
	if err == nil {
		err = p.launch(string(text))
	}
	if err == nil {
		w.workers[p.name] = p
	}
	w.mu.Unlock()
	if err != nil {
		w.Fatal(err)
	}
	return p
}

func (p *worker) launch(text string) error {
	errors := filepath.Join(p.w.dir, p.name+".err")
	stderr, err := os.Create(errors)
	if err != nil {
		return err
	}
	defer stderr.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Stderr = stderr
	// The race detector would let each process sleep for a second at its end.
	cmd.Env = append(os.Environ(), jobVariable+"="+text, "GORACE=atexit_sleep_ms=0")
	p.process, err = p.w.launcher.start(cmd, func(s syscall.WaitStatus) { p.buried(s, errors) })
	return err
}

// buried takes note of how a worker ended. It has nothing to say, and it is
// killed or ends when it is told to.
func (p *worker) buried(s syscall.WaitStatus, errors string) {
	if text, err := os.ReadFile(errors); err != nil || len(text) > 0 {
		p.w.Errorf("%s: %s, %v", p.name, text, err)
	}
	p.mu.Lock()
	reason := p.reason
	p.mu.Unlock()
	p.w.mu.Lock()
	defer p.w.mu.Unlock()
	switch {
	case s.Signaled() && s.Signal() == syscall.SIGKILL && reason != "":
		p.w.kills[reason]++
	case s.Signaled() && s.Signal() == syscall.SIGKILL:
		p.w.kills[byTrap]++
	case s.ExitStatus() != 0:
		p.w.Errorf("%s ended with status %v", p.name, s)
	}
}

// byTrap is how a worker dies that nobody else killed.
const byTrap = "trap"

// kill kills the worker from outside. The first reason counts.
func (p *worker) kill(reason string) {
	p.mu.Lock()
	if p.reason == "" {
		p.reason = reason
	}
	p.mu.Unlock()
	p.signal(syscall.SIGKILL)
}

// serve hands out one order, after the outcome of the one before came in.
func (p *worker) serve(rw http.ResponseWriter, r *http.Request) {
	var out outcome
	if err := json.NewDecoder(r.Body).Decode(&out); err != nil {
		return // it was killed while it wrote this
	}
	if !out.First {
		select {
		case p.outcomes <- out:
		case <-p.ended:
			return
		}
	}
	select {
	case o := <-p.orders:
		_ = json.NewEncoder(rw).Encode(o)
	case <-p.ended:
	}
}

// do gives an order and waits for what comes of it, or until the worker has
// ended: then it returns false.
func (p *worker) do(o order) (outcome, bool) {
	select {
	case p.orders <- o:
	case <-p.ended:
		return outcome{}, false
	}
	select {
	case out := <-p.outcomes:
		return out, true
	case <-p.ended:
		return outcome{}, false
	}
}

// dismiss lets the worker end by itself.
func (p *worker) dismiss() {
	p.w.Helper()
	p.do(order{Do: doEnd})
	if <-p.ended; !p.died.Exited() {
		p.w.Errorf("%s was told to end, and died: %v", p.name, p.died.Signal())
	}
}

// killed is how many workers were killed so far.
func (w *world) killed() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := 0
	for _, k := range w.kills {
		n += k
	}
	return n
}

// unheld waits until nobody holds a run's lease any more.
func (w *world) unheld(run string) {
	w.until(run+" is still held", func() bool {
		l, err := w.store.Lease(w.Context(), keyOf(run))
		if err != nil {
			w.Error(err)
		}
		return l == nil || !l.Live
	})
}

// until waits for something that must come.
func (w *world) until(failure string, ok func() bool) {
	end := time.After(time.Minute)
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			w.Error(failure)
			return
		}
	}
}

// note adds to the totals.
func (w *world) note(add func(*totals)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	add(&w.totals)
}

// flowOf is the flow of a run, by its id.
func flowOf(run string) string {
	for _, f := range flowNames {
		if strings.Contains(run, f) {
			return f
		}
	}
	return ""
}
