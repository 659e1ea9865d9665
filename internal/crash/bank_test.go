//go:build unix

package crash

import (
	"encoding/json"
	"fmt"
	"net/http"
	"sync"
)

// bank is the payment server: the world that outlives every worker. It counts
// the effects of each call, which it may have long after its client is dead. A
// tool that is idempotent it applies once for each idempotency key, the others
// as often as they are asked for.
type bank struct {
	// think is called before (applied: false) and after a request has its
	// effect, and may take its time.
	think func(worker string, c call, applied bool)

	mu       sync.Mutex
	quiet    *sync.Cond // somebody's requests have become fewer
	underway map[string]int
	cutOff   map[string]bool
	accounts map[call]*account
	keys     map[string]call
	faults   []string
}

// account is what the bank knows of one call.
type account struct {
	attempts  int
	effects   int
	key       string
	permitted map[string]bool // attempts of which somebody said "run it again"
}

func newBank() *bank {
	b := &bank{
		think: func(string, call, bool) {}, underway: map[string]int{}, cutOff: map[string]bool{},
		accounts: map[call]*account{}, keys: map[string]call{},
	}
	b.quiet = sync.NewCond(&b.mu)
	return b
}

// ServeHTTP takes one payment of the worker that the path names.
func (b *bank) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	worker := r.PathValue("worker")
	var c call
	if err := json.NewDecoder(r.Body).Decode(&c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if !b.enter(worker) {
		http.Error(w, "you were cut off", http.StatusForbidden)
		return
	}
	defer b.leave(worker)
	b.think(worker, c, false)
	b.apply(c, r.Header.Get("Idempotency-Key"))
	b.think(worker, c, true)
	fmt.Fprint(w, c.receipt())
}

func (b *bank) enter(worker string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.cutOff[worker] {
		return false
	}
	b.underway[worker]++
	return true
}

func (b *bank) leave(worker string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.underway[worker]--
	b.quiet.Broadcast()
}

func (b *bank) account(c call) *account {
	a := b.accounts[c]
	if a == nil {
		a = &account{permitted: map[string]bool{}}
		b.accounts[c] = a
	}
	return a
}

// apply is the effect.
func (b *bank) apply(c call, key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	a := b.account(c)
	a.attempts++
	if a.key == "" {
		a.key = key
	}
	if other, known := b.keys[key]; key == "" || key != a.key || known && other != c {
		b.faults = append(b.faults, fmt.Sprintf("%+v came with key %q; its first one was %q, and that key is of %+v", c, key, a.key, other))
	}
	b.keys[key] = c
	if c.Tool != holdSeats || a.effects == 0 {
		a.effects++
	}
}

// revoke cuts a worker off and waits until nothing of it is under way. What the
// bank says of its calls is final then: no request of it can have an effect any
// more, be the worker dead, stopped, or awake again.
func (b *bank) revoke(worker string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cutOff[worker] = true
	for b.underway[worker] > 0 {
		b.quiet.Wait()
	}
}

func (b *bank) revoked(worker string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.cutOff[worker] && b.underway[worker] == 0
}

// admit lets a worker pay again.
func (b *bank) admit(worker string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.cutOff, worker)
}

// ran reports whether a call had its effect.
func (b *bank) ran(c call) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.account(c).effects > 0
}

// permit notes that somebody said of one attempt: run it again. It reports
// whether that is new.
func (b *bank) permit(c call, attempt string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	known := b.account(c).permitted
	if known[attempt] {
		return false
	}
	known[attempt] = true
	return true
}

// repeats counts the requests that came again with their key and changed nothing.
func (b *bank) repeats() (n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.accounts {
		n += a.attempts - a.effects
	}
	return n
}

func (b *bank) look(c call) account {
	b.mu.Lock()
	defer b.mu.Unlock()
	return *b.account(c)
}
