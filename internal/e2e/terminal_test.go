package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// terminal is the program in a tmux session of its own server.
type terminal struct {
	t      *testing.T
	socket string
}

// openTerminal starts a command in a terminal of the given size.
func openTerminal(t *testing.T, width, height int, env []string, argv ...string) *terminal {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		if os.Getenv("FLOWTUI_TEST_ALL") != "" {
			t.Fatal("tmux is not installed; install the package tmux")
		}
		t.Skip("skipped: tmux is not installed; install the package tmux")
	}
	term := &terminal{t: t, socket: filepath.Join(t.TempDir(), "tmux.sock")}
	args := []string{"-f", os.DevNull, "new-session", "-d", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height)}
	for _, e := range env {
		args = append(args, "-e", e)
	}
	term.tmux(append(args, argv...)...)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the screen at the end:\n%s", term.tryScreen())
		}
		term.end()
	})
	term.tmux("set-option", "-g", "status", "off")
	term.tmux("set-option", "-g", "remain-on-exit", "on")
	return term
}

// end ends the server and waits until the program is gone too: it still writes
// down what it has seen, into a folder that is about to be removed.
func (term *terminal) end() {
	out, _ := exec.Command("tmux", "-S", term.socket, "display-message", "-p", "#{pane_pid}").Output()
	_ = exec.Command("tmux", "-S", term.socket, "kill-server").Run() // it may have ended
	pid, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		return
	}
	p, err := os.FindProcess(pid)
	for end := time.Now().Add(patience); err == nil && time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		err = p.Signal(syscall.Signal(0))
	}
}

func (term *terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", term.socket}, args...)...).CombinedOutput()
	if err != nil {
		term.t.Fatalf("tmux %s: %v: %s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// keys types keys by their tmux names: "j", "Enter", "Escape", "C-c". There is
// a person's pause before each: keys that come at once count as pasted text.
func (term *terminal) keys(names ...string) {
	term.t.Helper()
	for _, n := range names {
		<-time.After(pause)
		term.tmux("send-keys", n)
	}
}

const pause = 150 * time.Millisecond

// text types literal text.
func (term *terminal) text(s string) {
	term.t.Helper()
	term.tmux("send-keys", "-l", s)
}

func (term *terminal) screen() string {
	term.t.Helper()
	return term.tmux("capture-pane", "-p")
}

func (term *terminal) tryScreen() string {
	out, _ := exec.Command("tmux", "-S", term.socket, "capture-pane", "-p").CombinedOutput()
	return string(out)
}

func (term *terminal) resize(width, height int) {
	term.t.Helper()
	term.tmux("resize-window", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height))
}

// settle waits past the moment in which a sheet that has just opened ignores
// keys, so that a key typed for the list is never taken for its answer.
func (term *terminal) settle() {
	term.t.Helper()
	const still = 700 * time.Millisecond
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	last, since, end := "", time.Now(), time.Now().Add(patience)
	for time.Since(since) < still && time.Now().Before(end) {
		<-tick.C
		if s := term.screen(); s != last {
			last, since = s, time.Now()
		}
	}
}

const patience = 15 * time.Second

// wait waits until the screen matches the pattern and returns it.
func (term *terminal) wait(pattern string) string {
	term.t.Helper()
	return term.until(pattern, true)
}

// ends reports whether the program ends within so long.
func (term *terminal) ends(within time.Duration) bool {
	for end := time.Now().Add(within); time.Now().Before(end); <-time.After(pause) {
		if strings.Contains(term.tryScreen(), "Pane is dead") {
			return true
		}
	}
	return false
}

// gone waits until the screen no longer matches.
func (term *terminal) gone(pattern string) string {
	term.t.Helper()
	return term.until(pattern, false)
}

func (term *terminal) until(pattern string, want bool) string {
	term.t.Helper()
	re := regexp.MustCompile(pattern)
	end := time.Now().Add(patience)
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		s := term.screen()
		if re.MatchString(s) == want {
			return s
		}
		if time.Now().After(end) {
			term.t.Fatalf("waited %s for %q (%v); the screen is:\n%s", patience, pattern, want, s)
		}
		<-tick.C
	}
}
