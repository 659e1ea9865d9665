//go:build unix

package crash

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/go-cmp/cmp"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/stores"
)

// judge is the model of what must hold for each run in the end. It returns how
// many of them were recovered.
func (w *world) judge(runs []string) (recovered int) {
	w.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	have := map[string]bool{}
	next := make(chan string)
	for range 4 {
		all.Go(func() {
			for run := range next {
				again, rows := w.judgeRun(run)
				mu.Lock()
				if again {
					recovered++
				}
				maps.Copy(have, rows)
				mu.Unlock()
			}
		})
	}
	for _, run := range runs {
		next <- run
	}
	close(next)
	all.Wait()
	w.judgeBank(runs)
	w.judgeJournal(have)
	return recovered
}

func (w *world) judgeRun(run string) (recovered bool, rows map[string]bool) {
	c, err := w.store.Latest(w.Context(), keyOf(run))
	if err != nil {
		w.Errorf("%s: %v", run, err)
		return false, nil
	}
	w.judgeState(run, c)
	for _, call := range callsOf(flowOf(run), run) {
		w.judgeCall(call)
	}
	rep, err := engine.Verify(w.Context(), w.store, w.keys, keyOf(run))
	if err != nil || rep.Verdict != engine.Verified {
		w.Errorf("%s is %s: %+v, %v", run, rep.Verdict, rep.Findings, err)
	}
	return c.Segment > 1, w.rows(run)
}

func (w *world) judgeState(run string, c stores.Checkpoint) {
	b, err := engine.DecodeCheckpoint(c)
	if err != nil {
		w.Errorf("%s: %v", run, err)
		return
	}
	state, err := engine.DecodeState(b.State)
	if err != nil {
		w.Errorf("%s: %v", run, err)
		return
	}
	got, err := brief(state)
	if d := cmp.Diff(stateOf(flowOf(run), run), got); err != nil || d != "" || c.Status != stores.StatusDone {
		w.Errorf("%s is %s, %+v, %v: %s", run, c.Status, b.Error, err, d)
	}
}

// judgeCall: no call has more effects than it may, and none has none.
func (w *world) judgeCall(c call) {
	a := w.bank.look(c)
	most := 1 + len(a.permitted)
	if c.Tool == holdSeats {
		most = 1
	}
	if a.effects < 1 || a.effects > most {
		w.Errorf("%+v had %d effects, want 1 to %d", c, a.effects, most)
	}
}

// judgeBank: every request came with its call's own key, and no other call was
// made than those that the flows have.
func (w *world) judgeBank(runs []string) {
	known := map[call]bool{}
	for _, run := range runs {
		for _, c := range callsOf(flowOf(run), run) {
			known[c] = true
		}
	}
	w.bank.mu.Lock()
	defer w.bank.mu.Unlock()
	for _, f := range w.bank.faults {
		w.Error(f)
	}
	for c := range w.bank.accounts {
		if !known[c] {
			w.Errorf("a call of no flow: %+v", c)
		}
	}
}

// rows collects what the store has of a run, in the journal's words.
func (w *world) rows(run string) map[string]bool {
	have := map[string]bool{}
	k := keyOf(run)
	steps, err1 := w.store.History(w.Context(), k, stores.HistoryQuery{})
	calls, err2 := w.store.Calls(w.Context(), k, 0)
	events, err3 := w.store.Events(w.Context(), k, 0, 0)
	for _, err := range []error{err1, err2, err3} {
		if err != nil {
			w.Errorf("%s: %v", run, err)
		}
	}
	for _, c := range steps {
		have[fmt.Sprintf("save %s %d 0 %x", run, c.Step, c.MAC)] = true
	}
	for _, c := range calls {
		have[fmt.Sprintf("call %s %d %d %x", run, c.Segment, c.N, c.MAC)] = true
	}
	for _, e := range events {
		have[fmt.Sprintf("event %s %d 0 %x", run, e.N, e.MAC)] = true
	}
	return have
}

// judgeJournal: every write that was acknowledged is there.
func (w *world) judgeJournal(have map[string]bool) {
	lines, err := readJournal(w.journalPath())
	if err != nil {
		w.Fatal(err)
	}
	n := 0
	for _, l := range lines {
		if slices.Contains([]string{"save", "call", "event"}, l[0]) {
			n++
			if !have[strings.Join(l, " ")] {
				w.Errorf("acknowledged, but not there: %v", l)
			}
		}
	}
	if n < len(have)/2 {
		w.Errorf("the journal has %d of the %d rows: too few for it to show anything", n, len(have))
	}
}

// traps counts the traps that sprang, by signal and operation.
func (w *world) traps() map[string]int {
	lines, err := readJournal(w.journalPath())
	if err != nil {
		w.Fatal(err)
	}
	n := map[string]int{}
	for _, l := range lines {
		if l[0] == "trap" {
			n[l[2]+" "+l[5]]++
		}
	}
	return n
}
