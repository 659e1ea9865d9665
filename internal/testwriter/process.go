package testwriter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"github.com/flowtui/flowtui/stores/storetest"
)

// A test binary is also the process: these say that it is, on which store and
// which run, and how long to pause between steps.
const (
	writerStore = "FLOWTUI_TEST_STORE"
	writerRun   = "FLOWTUI_TEST_RUN"
	writerPause = "FLOWTUI_TEST_PAUSE"
)

// Main is for the TestMain of a driver: in the processes that [Start] starts it
// does their work and ends them, else it does nothing.
func Main(open storetest.Opener) {
	at := os.Getenv(writerStore)
	if at == "" {
		return
	}
	if err := writeForever(open, at, os.Getenv(writerRun)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Process is a process that writes.
type Process struct {
	*exec.Cmd
	stdin io.Closer
	lines *bufio.Scanner
}

// Start starts a process that goes on with a run at [Place], step after step, until
// it is stopped or killed.
func Start(t *testing.T, path, run string, pause time.Duration) *Process {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &Process{Cmd: exec.Command(exe)}
	p.Env = append(os.Environ(), writerStore+"="+path, writerRun+"="+run, writerPause+"="+pause.String())
	p.Stderr = os.Stderr
	stdin, err1 := p.StdinPipe()
	stdout, err2 := p.StdoutPipe()
	if err := errors.Join(err1, err2, p.Cmd.Start()); err != nil {
		t.Fatal(err)
	}
	p.stdin, p.lines = stdin, bufio.NewScanner(stdout)
	t.Cleanup(func() { _ = p.Stop() })
	return p
}

// Acknowledged waits for the next step that the process has saved.
func (p *Process) Acknowledged(t *testing.T) int64 {
	t.Helper()
	if !p.lines.Scan() {
		t.Fatalf("the other process ended: %v", p.Wait())
	}
	n, err := strconv.ParseInt(p.lines.Text(), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Rest is how many more steps the process has saved when it ends.
func (p *Process) Rest() (steps int64) {
	for p.lines.Scan() {
		steps++
	}
	return steps
}

// Stop lets the process close its store. It is no error when it has ended.
func (p *Process) Stop() error {
	_ = p.stdin.Close()
	p.Rest()
	return p.Wait()
}
