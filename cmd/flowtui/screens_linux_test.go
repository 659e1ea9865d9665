package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// screens is the program with its screens, in a terminal of its own.
type screens struct {
	*testing.T
	cmd    *exec.Cmd
	master *os.File
	mu     sync.Mutex
	out    bytes.Buffer
}

// openScreens runs the program in a folder.
func openScreens(t *testing.T, dir string, args ...string) *screens {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	check(t, err)
	check(t, unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	check(t, err)
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	check(t, err)
	check(t, unix.IoctlSetWinsize(int(slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 100}))
	x := &screens{T: t, master: master, cmd: exec.Command("flowtui", args...)}
	x.cmd.Dir = dir
	x.cmd.Env = append(os.Environ(), "TERM=xterm", "LC_ALL=C.UTF-8", "HOME="+dir, "XDG_CACHE_HOME="+filepath.Join(dir, "cache"))
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = slave, slave, slave
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	check(t, x.cmd.Start())
	t.Cleanup(func() { _, _, _ = x.cmd.Process.Kill(), master.Close(), slave.Close() })
	go x.read()
	return x
}

func (x *screens) read() {
	buf := make([]byte, 4096)
	for {
		n, err := x.master.Read(buf)
		x.mu.Lock()
		x.out.Write(buf[:n])
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (x *screens) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.out.String()
}

// sees waits until the program has written s.
func (x *screens) sees(s string) {
	x.Helper()
	x.until(fmt.Sprintf("%q", s), func() bool { return strings.Contains(x.text(), s) })
}

func (x *screens) until(what string, came func() bool) {
	x.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if came() {
			return
		}
	}
	text := x.text()
	x.Fatalf("never saw %s: …%q", what, text[max(0, len(text)-2000):])
}

func (x *screens) keys(s string) {
	_, err := x.master.WriteString(s)
	check(x.T, err)
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
	for name, key := range map[string]string{"ctrl+c": "\x03", "q": "q"} {
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
			x.sees("order-9")
			x.keys("a")
			x.sees("wants your approval")
			time.Sleep(time.Second) // a sheet takes no key before it was seen
			x.keys("\r")
			x.until("the tool", func() bool { return exists(began) })
			if name == "q" {
				x.keys("\x1b") // the sheet closes
				x.sees("the action on order-9 goes on")
			}
			x.keys(key)
			x.sees(name + " again cuts the")
			x.keys(key)
			var code int
			if err := x.cmd.Wait(); err != nil {
				code = x.cmd.ProcessState.ExitCode()
			}
			x.sees("stopping, at most 10s: order-9 is at pay.1 (pay)")
			x.sees("flowtui resolve t.db order-9 pay.1 --key-file k")
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
