//go:build unix

package crash

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/flowtui/flowtui/engine"
	"github.com/flowtui/flowtui/internal/teststores"
	"github.com/flowtui/flowtui/stores"
)

// When the disk is full, a write fails and says so, and the run stays as it is
// stored. A worker is given a little more room each time, so that it runs out
// of it at each write in turn.

// shortage counts at which operations there was no room, and the calls that
// were in doubt after that.
type shortage struct {
	at      map[string]int
	inDoubt int
}

// mostSteps is more than a run needs of any kind of room.
const mostSteps = 80

// SQLite may not make the file larger: it says that the disk is full before
// anything is written. The next worker has room.
func TestNoMorePages(t *testing.T) {
	t.Parallel()
	w := newWorld(t, teststores.NewHost(t, teststores.SQLite))
	none := shortage{at: map[string]int{}}
	var runs []string
	for room := 1; ; room += 3 {
		run := fmt.Sprintf("large-trip-%d", room)
		runs = append(runs, run)
		p := w.hire(func(j *job) { j.Room, j.Durable = room, teststores.PowerCut })
		out, _ := p.do(order{Do: doRun, Flow: "trip", Run: run})
		p.dismiss()
		if out.Class == "" {
			break
		}
		if out.Class != "full" || room > mostSteps {
			t.Fatalf("with room for %d pages: %+v", room, out)
		}
		w.stuck(run, &none)
		w.live([]string{run}, make([]fate, 1))
	}
	w.judge(runs)
	w.faults(&none)
	none.enough(t)
}

// The system refuses to let the -wal file grow, in the middle of a write: a part
// of a transaction is written, and only reading tells that it does not count.
// The same worker goes on when there is room again.
func TestFileSizeLimit(t *testing.T) {
	t.Parallel()
	none := shortage{at: map[string]int{}}
	const page = 4096
	for step, enough := 0, false; !enough; step++ {
		t.Run(fmt.Sprint(step), func(t *testing.T) {
			w := newWorld(t, teststores.NewHost(t, teststores.SQLite)) // the -wal file of a new store grows with each write
			run := "large-trip"
			p := w.hire(func(j *job) { j.Durable = teststores.PowerCut })
			if out, _ := p.do(order{Do: doLimit, Bytes: int64(step * 13 * page)}); out.Class != "" {
				t.Fatalf("%+v", out)
			}
			out, _ := p.do(order{Do: doRun, Flow: "trip", Run: run})
			p.do(order{Do: doLimit, Bytes: -1})
			enough = out.Class == "" || t.Failed()
			if !enough && !slices.Contains([]string{"unknown", "unavailable", "full"}, out.Class) || step == mostSteps {
				enough = true
				t.Fatalf("%+v", out)
			}
			w.stuck(run, &none)
			w.bringHome(p, run)
			p.dismiss()
			w.judge([]string{run})
			w.faults(&none)
		})
	}
	none.enough(t)
}

// stuck looks at a run whose worker found no room: it has not failed, what ran
// and could be kept replays, and what ran and could not be kept is in doubt.
func (w *world) stuck(run string, none *shortage) {
	w.Helper()
	p, err := engine.MakePlan(w.Context(), w.store, w.keys, keyOf(run))
	if errors.Is(err, engine.ErrCheckpointNotFound) {
		return
	}
	if err != nil || len(p.Findings) > 0 || p.Checkpoint.Status == stores.StatusFailed {
		w.Errorf("%s is %s: %+v, %v", run, p.Checkpoint.Status, p.Findings, err)
	}
	fate := map[string]string{}
	for what, calls := range map[string][]engine.CallInfo{"replay": p.Replay, "doubt": p.InDoubt, "rerun": p.Rerun} {
		for _, c := range calls {
			fate[c.ID] = what
		}
	}
	for _, c := range callsOf(flowOf(run), run) {
		node, _, _ := strings.Cut(c.ID, ".")
		ran := w.bank.ran(c)
		if f := fate[c.ID]; slices.Contains(p.Body.Frontier, node) && (ran && f == "" || !ran && f == "replay" || f == "rerun" && c.Tool != holdSeats) {
			w.Errorf("%s: the plan for %s is %q, and that it ran is %v", run, c.ID, f, ran)
		}
	}
	none.inDoubt += len(p.InDoubt)
}

// bringHome lets the worker itself bring a run to its end. It is between two
// orders, so once nothing is under way nothing more of it can arrive.
func (w *world) bringHome(p *worker, run string) {
	w.Helper()
	for range maxPhases {
		w.bank.revoke(p.name)
		n, o := w.look(run)
		w.bank.admit(p.name)
		switch n {
		case needsNothing:
			return
		case needsPatience:
			w.Fatalf("%s: nobody else is at it", run)
		case needsStart, needsRecovery:
			if out, _ := p.do(o); out.Class != "" {
				w.Errorf("%s cannot go on, though there is room again: %+v", run, out)
			}
		}
	}
	w.Errorf("%s is not done", run)
}

// faults adds what the journal tells of writes that failed.
func (w *world) faults(none *shortage) {
	w.Helper()
	lines, err := readJournal(w.journalPath())
	if err != nil {
		w.Fatal(err)
	}
	for _, l := range lines {
		if l[0] == "fault" {
			none.at[l[3]]++
		}
	}
}

// enough fails unless there was no room for each kind of write, and calls were
// in doubt because of that.
func (n shortage) enough(t *testing.T) {
	t.Helper()
	t.Logf("no room for %v; %d calls in doubt", n.at, n.inDoubt)
	for _, op := range []string{"save", "record-started", "record-done"} {
		if n.at[op] == 0 {
			t.Errorf("there was always room for %s: %v", op, n.at)
		}
	}
	if n.inDoubt == 0 {
		t.Error("no call was ever in doubt")
	}
}
