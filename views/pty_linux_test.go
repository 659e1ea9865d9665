package views_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/flowtui/flowtui/viewer"
	"github.com/flowtui/flowtui/views"
	"github.com/flowtui/flowtui/views/viewstest"
)

// TestMain runs the program instead of the tests when a test asks for it, in a
// process with a terminal of its own.
func TestMain(m *testing.M) {
	mode := os.Getenv("VIEWS_TEST_PROGRAM")
	if mode == "" {
		os.Exit(m.Run())
	}
	if mode == "operator" {
		Example_operator()
		fmt.Println("left:", nil)
		return
	}
	b := views.Backend(viewstest.New())
	if mode == "panic" {
		b = panics{viewstest.New()}
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	defer stop()
	err := views.Run(ctx, views.Deps{Backend: b, Clock: time.Now})
	fmt.Println("left:", err)
	if err != nil {
		os.Exit(1)
	}
}

type panics struct{ *viewstest.Backend }

func (panics) Plan(context.Context, viewer.Ref, bool) (viewer.Plan, error) { panic("planted") }

// terminal is the program in a terminal that never answers a question.
type terminal struct {
	*testing.T
	cmd    *exec.Cmd
	master *os.File
	slave  *os.File
	before unix.Termios
	mu     sync.Mutex
	out    bytes.Buffer
}

func openTerminal(t *testing.T, mode string, env ...string) *terminal {
	t.Helper()
	return openTerminalIn(t, "", mode, env...)
}

// openTerminalIn runs the program in a folder.
func openTerminalIn(t *testing.T, dir, mode string, env ...string) *terminal {
	t.Helper()
	x := &terminal{T: t}
	x.master, x.slave = pair(t)
	x.before = x.settings()
	if err := unix.IoctlSetWinsize(int(x.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	x.cmd = exec.Command(os.Args[0])
	x.cmd.Dir = dir
	x.cmd.Env = append([]string{"VIEWS_TEST_PROGRAM=" + mode, "TERM=xterm-256color", "HOME=" + t.TempDir()}, env...)
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = x.slave, x.slave, x.slave
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.cmd.Process.Kill() })
	go x.read()
	return x
}

func pair(t *testing.T) (master, slave *os.File) {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = master.Close(), slave.Close() })
	return master, slave
}

func (x *terminal) read() {
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

func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.out.String()
}

func (x *terminal) settings() unix.Termios {
	s, err := unix.IoctlGetTermios(int(x.slave.Fd()), unix.TCGETS)
	if err != nil {
		x.Fatal(err)
	}
	return *s
}

// waitFor waits until the program has written s.
func (x *terminal) waitFor(s string) {
	x.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if strings.Contains(x.text(), s) {
			return
		}
	}
	x.Fatalf("never saw %q in %q", s, x.text())
}

func (x *terminal) write(s string) {
	if _, err := x.master.WriteString(s); err != nil {
		x.Fatal(err)
	}
}

// restored waits for the end and checks that the terminal is as before.
func (x *terminal) restored() error {
	x.Helper()
	stuck := time.AfterFunc(10*time.Second, func() { _ = x.cmd.Process.Kill() })
	err := x.cmd.Wait()
	if !stuck.Stop() {
		x.Errorf("did not end: %q", x.text())
	}
	x.waitFor("left:")
	if x.settings() != x.before {
		x.Errorf("the terminal is not as it was: %+v, was %+v", x.settings(), x.before)
	}
	for _, off := range []string{"\x1b[?1049l", "\x1b[?25h", "\x1b[?2004l"} {
		if !strings.Contains(x.text(), off) {
			x.Errorf("no %q at the end", off)
		}
	}
	return err
}

// questions are the sequences that make a terminal answer.
var questions = regexp.MustCompile(`\x1b\](10|11|4);[^\x07\x1b]*\?|\x1b\[[?>=]?[0-9;]*[cn]|\x1b\[\?[0-9]+\$p|\x1bP`)

func TestScenario24NothingIsAskedOfTheTerminal(t *testing.T) {
	t.Parallel()
	for _, term := range []string{"xterm-256color", "screen", "linux", "dumb"} {
		t.Run(term, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			x := openTerminal(t, "run", "TERM="+term)
			x.waitFor("order-7")
			t.Logf("first rows after %v", time.Since(began))
			x.write("\x1b]11;rgb:0000/0000/0000\x07") // an answer to a question of somebody else
			x.waitFor("does nothing here")
			time.Sleep(200 * time.Millisecond)
			x.write("q")
			if err := x.restored(); err != nil {
				t.Error(err)
			}
			if q := questions.FindString(x.text()); q != "" {
				t.Errorf("asked %q", q)
			}
		})
	}
}

func TestScenario24TheEnvironmentIsGivenBack(t *testing.T) {
	t.Parallel()
	x := openTerminal(t, "run")
	x.waitFor("order-7")
	if !strings.Contains(x.text(), "\x1b[1m") {
		t.Error("no styles: TERM stayed dumb")
	}
	x.write("q")
	_ = x.restored()
}

func TestNoColorLeavesTheWords(t *testing.T) {
	t.Parallel()
	x := openTerminal(t, "run", "NO_COLOR=1")
	x.waitFor("in doubt")
	x.write("q")
	_ = x.restored()
	if s := regexp.MustCompile(`\x1b\[[0-9;]+m`).FindString(x.text()); s != "" {
		t.Errorf("style %q", s)
	}
}

func TestScenario31PanicRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	x := openTerminal(t, "panic")
	x.waitFor("order-7")
	x.write("e") // reads the plan
	var exit *exec.ExitError
	if err := x.restored(); !errors.As(err, &exit) {
		t.Errorf("exit: %v", err)
	}
	if !strings.Contains(x.text(), "planted") {
		t.Error("the panic is not told")
	}
}

func TestScenario31SignalsRestoreTheTerminal(t *testing.T) {
	t.Parallel()
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			x := openTerminal(t, "run")
			x.waitFor("order-7")
			if err := x.cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			_ = x.restored()
		})
	}
}
