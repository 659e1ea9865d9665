//go:build unix

package crash

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var kills = flag.Int("crash.kills", 0, "how many workers are killed (default 500; 200 with the race detector, 40 with -short)")

// asked is how many kills there are to be. The race detector makes SQLite, and
// so each worker's life, ten times slower.
func asked() int {
	switch {
	case *kills > 0:
		return *kills
	case testing.Short():
		return 40
	case raceDetector:
		return 200
	}
	return 500
}

// Three workers at once on one file are killed and replaced again and again.
// First at every store operation in turn, before it and after it, then at
// random. In the end every run is as if nothing had happened. With fewer kills
// than the default the operations are drawn.
//
//	go test ./internal/crash -run TestKills -crash.kills 5000 -v
func TestKills(t *testing.T) {
	until := asked()
	w := newWorld(t)
	runs, fates := w.everyOperation()
	if until < 500 { // too few for all of them
		rand.Shuffle(len(fates), func(i, j int) { fates[i], fates[j] = fates[j], fates[i] })
		fates = fates[:until/2]
	}
	swept := make([]string, len(fates))
	for i, f := range fates {
		swept[i] = f.run(i)
	}
	w.live(swept, fates)
	for _, m := range w.missed(fates) {
		t.Errorf("nobody was killed there: %s", m)
	}
	systematic := w.killed()
	random := w.chaos(max(until, systematic+until/5))
	w.live(random, make([]fate, len(random))) // and then nothing more happens

	recovered := w.judge(append(append(runs, swept...), random...))
	t.Logf("%d kills, %d of them at chosen operations: %v, at operations %v; %d runs recovered, %+v, %d requests repeated with their key",
		w.killed(), systematic, w.kills, w.traps(), recovered, w.totals, w.bank.repeats())
	w.enough(until, recovered)
}

// enough fails when the kills hit too few runs in the middle: then the test has
// shown little.
func (w *world) enough(until, recovered int) {
	if n := w.killed(); n < until {
		w.Errorf("only %d workers were killed, want %d", n, until)
	}
	if recovered < until/4 {
		w.Errorf("only %d runs were recovered", recovered)
	}
	if testing.Short() {
		return
	}
	for what, n := range map[string]int{
		"calls were resolved": w.totals.resolved, "calls were run again": w.totals.rerun, "workers were stopped": w.totals.stopped,
		"requests were repeated with their key": w.bank.repeats(), "workers were killed in a call": w.kills["in a call"],
	} {
		if n < until/100 {
			w.Errorf("only %d %s", n, what)
		}
	}
}
