package postgres_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/postgres"
	"github.com/flowtui/flowtui/stores/storetest"
)

// The test binary is also the other process in tests that need one: these say
// that it is, on which store and under which name.
const (
	childStore = "FLOWTUI_TEST_STORE"
	childName  = "FLOWTUI_TEST_NAME"
)

// contend goes on with a run of its own and fights for each step of a run that
// all want. It says every step that it has saved, after its commit.
func contend(address, name string) error {
	ctx := context.Background()
	s, err := postgres.Open(ctx, address, postgres.Options{Create: true})
	if err != nil {
		return err
	}
	defer s.Close()
	for n := int64(0); ; n++ {
		own := storetest.Step(place(name), n)
		own.Events = []stores.Event{storetest.Event(place(name), n+1)}
		if err := s.Save(ctx, own); err != nil {
			return err
		}
		fmt.Println(name, n)
		next := int64(0)
		if last, err := s.Latest(ctx, place("wanted").Key); err == nil {
			next = last.Step + 1
		} else if !errors.Is(err, stores.ErrNotFound) {
			return err
		}
		switch err := s.Save(ctx, storetest.Step(place("wanted"), next, func(c *stores.Checkpoint) { c.Payload = []byte(name) })); {
		case err == nil:
			fmt.Println("wanted", next)
		case !errors.Is(err, stores.ErrConflict):
			return err
		}
	}
}

// TestProcesses: several processes make a store, write to it, and are killed in
// the middle. Every acknowledged step is there, each step of the wanted run has
// one winner, and no rule is broken.
func TestProcesses(t *testing.T) {
	address := fresh(t, server(t))
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	type step struct {
		process, run string
		n            int64
	}
	said := make(chan step)
	var children []*exec.Cmd
	for i := range 4 {
		name := fmt.Sprint("process ", i)
		c := exec.Command(exe)
		c.Env = append(os.Environ(), childStore+"="+address, childName+"="+name)
		c.Stderr = os.Stderr
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Process.Kill(); c.Wait() })
		children = append(children, c)
		go func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				var n int64
				line := lines.Text()
				at := len(line) - 1
				for line[at] != ' ' {
					at--
				}
				fmt.Sscan(line[at:], &n)
				said <- step{name, line[:at], n}
			}
			said <- step{process: name, run: "", n: -1}
		}()
	}
	saved := map[string]map[int64]string{}
	killed := map[string]bool{}
	ended := 0
	for total := 0; ended < len(children); total++ {
		x := <-said
		if x.run == "" {
			if ended++; !killed[x.process] {
				t.Errorf("%s ended by itself", x.process)
			}
			continue
		}
		if saved[x.run] == nil {
			saved[x.run] = map[int64]string{}
		}
		if other := saved[x.run][x.n]; other != "" {
			t.Errorf("step %d of %s was saved by %s and by %s", x.n, x.run, other, x.process)
		}
		saved[x.run][x.n] = x.process
		if at := total - 100; at >= 0 && at%40 == 0 && at/40 < len(children) {
			killed[fmt.Sprint("process ", at/40)] = true
			if err := children[at/40].Process.Kill(); err != nil {
				t.Error(err)
			}
		}
	}
	s := open(t, address, postgres.Options{})
	for run, steps := range saved {
		history, err := s.History(t.Context(), place(run).Key, stores.HistoryQuery{Limit: 1 << 20, Payload: true})
		if err != nil {
			t.Fatal(err)
		}
		for n, process := range steps {
			if n >= int64(len(history)) || run == "wanted" && string(history[n].Payload) != process {
				t.Errorf("step %d of %s, saved by %s, is not there", n, run, process)
			}
		}
	}
	if len(saved) != len(children)+1 {
		t.Errorf("only %d runs were written", len(saved))
	}
	storetest.Check(t, s)
}
