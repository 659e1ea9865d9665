package jsonfile_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores"
	"github.com/flowtui/flowtui/stores/jsonfile"
	"github.com/flowtui/flowtui/stores/storetest"
)

// The test binary is also the other process in tests that need one: these
// variables say that it is, on which store and which run, and how long to
// pause between steps.
const (
	childStore = "FLOWTUI_TEST_STORE"
	childRun   = "FLOWTUI_TEST_RUN"
	childPause = "FLOWTUI_TEST_PAUSE"
)

func TestMain(m *testing.M) {
	storetest.Rival(rival)
	if path := os.Getenv(childStore); path != "" {
		if err := writeForever(path, os.Getenv(childRun)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func rival(ctx context.Context, at string) (stores.Store, error) {
	return jsonfile.Open(ctx, at, jsonfile.Options{Create: true})
}

func TestProcesses(t *testing.T) { storetest.Processes(t, filepath.Join(t.TempDir(), "store"), rival) }

// writeForever goes on with a run, step after step with two call records each,
// until its standard input ends. It says each step after its commit.
func writeForever(path, run string) error {
	ctx, cancel := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		cancel()
	}()
	pause, err := time.ParseDuration(os.Getenv(childPause))
	if err != nil {
		return err
	}
	s, err := jsonfile.Open(ctx, path, jsonfile.Options{Create: true})
	if err != nil {
		return err
	}
	defer s.Close()
	w := worker{s: s, place: place(run)}
	if err := w.resume(ctx); err != nil {
		return err
	}
	for ctx.Err() == nil {
		if err := w.step(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		fmt.Println(w.next - 1)
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
	return nil
}

// worker writes the steps of one run.
type worker struct {
	s                   *jsonfile.Store
	place               stores.Place
	next, calls, events int64
}

func (w *worker) resume(ctx context.Context) error {
	last, err := w.s.Latest(ctx, w.place.Key)
	if errors.Is(err, stores.ErrNotFound) {
		return nil
	}
	calls, err2 := w.s.Calls(ctx, w.place.Key, 0)
	events, err3 := w.s.Events(ctx, w.place.Key, 0, 1<<30)
	w.next, w.calls, w.events = last.Step+1, int64(len(calls)), int64(len(events))
	return errors.Join(err, err2, err3)
}

func (w *worker) step(ctx context.Context) error {
	save := storetest.Step(w.place, w.next)
	save.Events = []stores.Event{storetest.Event(w.place, w.events+1)}
	save.Graph = []byte("graph")
	if err := w.s.Save(ctx, save); err != nil {
		return err
	}
	w.next++
	w.events++
	for _, status := range []stores.CallStatus{stores.CallStarted, stores.CallDone} {
		r := storetest.Record(w.place, 1, w.calls+1, func(c *stores.Call) {
			c.Step, c.Ordinal, c.Status = save.Checkpoint.Step, 1, status
		})
		if err := w.s.RecordCall(ctx, stores.CallWrite{Call: r}); err != nil {
			return err
		}
		w.calls++
	}
	return nil
}

// child is a process that writes.
type child struct {
	*exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
}

func startChild(t *testing.T, path, run string, pause time.Duration) *child {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &child{Cmd: exec.Command(exe)}
	c.Env = append(os.Environ(), childStore+"="+path, childRun+"="+run, childPause+"="+pause.String())
	c.Stderr = os.Stderr
	stdin, err1 := c.StdinPipe()
	stdout, err2 := c.StdoutPipe()
	if err := errors.Join(err1, err2, c.Start()); err != nil {
		t.Fatal(err)
	}
	c.stdin, c.lines = stdin, bufio.NewScanner(stdout)
	t.Cleanup(func() { c.stop() })
	return c
}

// acknowledged waits for the next step that the child has saved.
func (c *child) acknowledged(t *testing.T) int64 {
	t.Helper()
	if !c.lines.Scan() {
		t.Fatalf("the other process ended: %v", c.Wait())
	}
	n, err := strconv.ParseInt(c.lines.Text(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// stop lets the child close its store. It is no error when it has ended.
func (c *child) stop() error {
	c.stdin.Close()
	for c.lines.Scan() {
	}
	return c.Wait()
}
