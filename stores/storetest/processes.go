package storetest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"

	"github.com/flowtui/flowtui/stores"
)

// How many processes there are, how many of them are killed, and after how many
// lines that all have said: the first, each further one, and the end.
const (
	rivals, victims                    = 4, 2
	killFirst, killNext, endOfRivality = 300, 150, 900
)

// said is one line of a process.
type said struct {
	process int // -1 when it has ended
	what    string
	n       int64
	of      string
}

// Processes lets several processes make the store at a place that is still free,
// and save, take over, record calls, lease and delete on common runs; some are
// killed in the middle. What the store has acknowledged is there afterwards, each
// step, call number and deletion has one winner, and who has a lease is alone.
// The TestMain of the driver must call [Rival].
func Processes(t *testing.T, at string, open Opener) {
	t.Helper()
	lines := make(chan said)
	var processes []*exec.Cmd
	var inputs []io.Closer
	for i := range rivals {
		c, in := startRival(t, at, i, lines)
		processes, inputs = append(processes, c), append(inputs, in)
	}
	facts := map[said]int{} // without the process: how often it was said
	spoke := map[int]bool{}
	killed := 0
	for total, ended := 0, 0; ended < rivals; total++ {
		x := <-lines
		if x.what == "" {
			ended++
			continue
		}
		spoke[x.process] = true
		x.process = 0
		facts[x]++
		if len(spoke) < rivals {
			continue
		}
		if killed < victims && total >= killFirst+killed*killNext {
			if err := processes[killed].Process.Kill(); err != nil {
				t.Error(err)
			}
			killed++
		}
		if killed == victims && total >= endOfRivality {
			for _, in := range inputs {
				_ = in.Close()
			}
		}
	}
	for i, c := range processes {
		if err := c.Wait(); err != nil && i >= victims {
			t.Errorf("process %d: %v", i, err)
		}
	}
	s, err := open(t.Context(), at)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	checkRivals(t, s.(All), facts)
	Check(t, s)
}

func startRival(t *testing.T, at string, i int, lines chan<- said) (*exec.Cmd, io.Closer) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(exe)
	c.Env = append(os.Environ(), rivalStore+"="+at, fmt.Sprintf("%s=%d", rivalName, i))
	c.Stderr = os.Stderr
	in, err1 := c.StdinPipe()
	out, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2, c.Start()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Process.Kill() })
	go func() {
		for text := bufio.NewScanner(out); text.Scan(); {
			x := said{process: i}
			if _, err := fmt.Sscan(text.Text(), &x.what, &x.n, &x.of); err == nil { // a killed one may break off
				lines <- x
			}
		}
		lines <- said{process: i}
	}()
	return c, in
}

// checkRivals holds what the processes have said against the store.
func checkRivals(t *testing.T, s All, facts map[said]int) {
	t.Helper()
	kinds := map[string]int{}
	untold := 0
	history, calls := map[string]map[int64]string{"common": savedBy(t, s, common())}, recordedBy(t, s)
	for i := range rivals {
		history[fmt.Sprint(i)] = savedBy(t, s, own(fmt.Sprint(i)))
	}
	for x, times := range facts {
		kinds[x.what]++
		there := true
		switch x.what {
		case "own":
			_, there = history[x.of][x.n]
		case "step":
			there = history["common"][x.n] == x.of
		case "call":
			there = calls[x.n] == x.of
		case "born":
			last, err := s.Latest(t.Context(), passing(x.n, x.of).Key)
			alive := err == nil && last.Incarnation == x.of
			deleted := facts[said{what: "deleted", n: x.n, of: x.of}] > 0
			there = alive != deleted
			if !alive && !deleted && facts[said{what: "deleting", n: x.n, of: x.of}] > 0 {
				there = true
				untold++ // who was killed before it could say so
			}
		}
		if !there {
			t.Errorf("the store acknowledged %q %d of process %s, and does not have it so", x.what, x.n, x.of)
		}
		if times > 1 && x.what != "deleting" {
			t.Errorf("%q %d of process %s was acknowledged %d times", x.what, x.n, x.of, times)
		}
	}
	if untold > victims {
		t.Errorf("%d runs are gone that nobody says to have deleted, and %d processes were killed", untold, victims)
	}
	for _, what := range []string{"own", "step", "call", "born", "deleted"} {
		if kinds[what] == 0 {
			t.Errorf("no %q was acknowledged: this test proves nothing", what)
		}
	}
	t.Logf("acknowledged: %v", kinds)
}

func savedBy(t *testing.T, s All, p stores.Place) map[int64]string {
	t.Helper()
	steps, err := s.History(t.Context(), p.Key, stores.HistoryQuery{Limit: 1 << 20, Payload: true})
	if err != nil {
		t.Fatal(err)
	}
	of := map[int64]string{}
	for _, c := range steps {
		of[c.Step] = string(c.Payload)
	}
	return of
}

func recordedBy(t *testing.T, s All) map[int64]string {
	t.Helper()
	calls, err := s.Calls(t.Context(), common().Key, 0)
	if err != nil {
		t.Fatal(err)
	}
	of := map[int64]string{}
	for _, c := range calls {
		of[callNumber(c)] = string(c.Payload)
	}
	return of
}
