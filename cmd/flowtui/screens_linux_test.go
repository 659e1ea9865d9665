package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testterm"
)

// openScreens runs the program with its screens in a folder, in a terminal of its own.
func openScreens(t *testing.T, dir string, args ...string) *testterm.Terminal {
	t.Helper()
	cmd := exec.Command("flowtui", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "TERM=xterm", "LC_ALL=C.UTF-8", "HOME="+dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	return testterm.Start(t, 100, cmd)
}

const gatedWait = `name: gated
steps:
  - {id: pay, type: call, config: {tool: pay, args: {}, into: paid}}
tools:
  - {name: pay, command: [testtool, wait, %s], approval: required}
`

// Leaving the screens while a tool runs stops it as a command is stopped: the
// lease is given back, and the terminal says what decides the call.
func TestLeavingTheScreensSaysWhatIsInDoubt(t *testing.T) {
	signals := map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "SIGHUP": syscall.SIGHUP}
	for name, key := range map[string]string{"ctrl+c": "\x03", "q": "q", "SIGTERM": "", "SIGHUP": ""} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			began, flow := filepath.Join(dir, "began"), filepath.Join(dir, "gated.yaml")
			check(t, os.WriteFile(filepath.Join(dir, "k"), []byte(secret), 0o600))
			check(t, os.WriteFile(flow, fmt.Appendf(nil, gatedWait, began), 0o600))
			start := exec.Command("flowtui", "run", "t.db", "gated.yaml", "--id", "order-9", "--key-file", "k", "--yes")
			start.Dir = dir
			out, err := start.CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			x := openScreens(t, dir, "t.db", "--key-file", "k", "--flow", flow, "--lease", "10m")
			x.Sees("order-9")
			x.Keys("a")
			x.Sees("wants your approval")
			time.Sleep(time.Second) // a sheet takes no key before it was seen
			x.Keys("\r")
			x.Until("the tool", func() bool { return exists(began) })
			if name == "q" {
				x.Keys("\x1b") // the sheet closes
				x.Sees("the action on order-9 goes on")
			}
			if s, ok := signals[name]; ok {
				check(t, x.Cmd.Process.Signal(s))
			} else {
				x.Keys(key)
				x.Sees(name + " again cuts the")
				x.Keys(key)
			}
			var code int
			if err := x.Cmd.Wait(); err != nil {
				code = x.Cmd.ProcessState.ExitCode()
			}
			if key != "" { // a signal may have stopped it before the screens could say so
				x.Sees("stopping, at most 10s: order-9 is at pay.1 (pay)")
			}
			x.Sees("flowtui resolve t.db order-9 pay.1 --key-file k")
			if code != 1 {
				t.Errorf("exit code %d, want 1", code)
			}
			show := exec.Command("flowtui", "show", "t.db", "order-9", "--key-file", "k", "--json")
			show.Dir = dir
			shown, err := show.Output()
			check(t, err)
			for path, want := range map[string]string{"lease": "null", "waiting.0.type": "in-doubt"} {
				got, err := lookup(string(shown), path)
				check(t, err)
				if got != want {
					t.Errorf("%s is %s, want %s", path, got, want)
				}
			}
		})
	}
}
