//go:build unix

package crash

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/flowtui/flowtui/internal/teststores"
)

var kills = flag.Int("crash.kills", 0, "how many workers are killed on each store (default 500 on SQLite and 60 on the others; 200 and 20 with the race detector, 40 and 10 with -short)")

// asked is how many kills there are to be on a kind of store. The race detector
// makes SQLite, and so each worker's life, ten times slower.
func asked(kind string) int {
	n, others := 500, 60
	switch {
	case *kills > 0:
		return *kills
	case testing.Short():
		n, others = 40, 10
	case raceDetector:
		n, others = 200, 20
	}
	if kind == teststores.SQLite {
		return n
	}
	return others
}

// Three workers at once on one store are killed and replaced again and again.
// First at every store operation in turn, before it and after it, then at
// random. In the end every run is as if nothing had happened. With fewer kills
// than SQLite's default the operations are drawn.
//
//	go test ./internal/crash -run TestKills/redis -crash.kills 5000 -v -timeout 0
func TestKills(t *testing.T) {
	for _, kind := range teststores.Kinds() {
		t.Run(kind, func(t *testing.T) { killsOn(t, teststores.NewHost(t, kind)) })
	}
}

func killsOn(t *testing.T, host *teststores.Host) {
	until := asked(host.Kind())
	w := newWorld(t, host)
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
	t.Logf("%s: %d kills, %d of them at chosen operations: %v, at operations %v; %d runs recovered, %+v, %d requests repeated with their key",
		host.Kind(), w.killed(), systematic, w.kills, w.traps(), recovered, w.totals, w.bank.repeats())
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
