package views_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testterm"
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
type terminal struct{ *testterm.Terminal }

func openTerminal(t *testing.T, mode string, env ...string) terminal {
	t.Helper()
	return openTerminalIn(t, "", mode, env...)
}

// openTerminalIn runs the program in a folder.
func openTerminalIn(t *testing.T, dir, mode string, env ...string) terminal {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Dir = dir
	cmd.Env = append([]string{"VIEWS_TEST_PROGRAM=" + mode, "TERM=xterm-256color", "HOME=" + t.TempDir()}, env...)
	return terminal{testterm.Start(t, 80, cmd)}
}

// restored waits for the end and checks that the terminal is as before.
func (x terminal) restored() error {
	x.Helper()
	stuck := time.AfterFunc(10*time.Second, func() { _ = x.Cmd.Process.Kill() })
	err := x.Cmd.Wait()
	if !stuck.Stop() {
		x.Errorf("did not end: %q", x.Text())
	}
	x.Sees("left:")
	if x.Settings() != x.Before {
		x.Errorf("the terminal is not as it was: %+v, was %+v", x.Settings(), x.Before)
	}
	for _, off := range []string{"\x1b[?1049l", "\x1b[?25h", "\x1b[?2004l"} {
		if !strings.Contains(x.Text(), off) {
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
			x.Sees("order-7")
			t.Logf("first rows after %v", time.Since(began))
			x.Keys("\x1b]11;rgb:0000/0000/0000\x07") // an answer to a question of somebody else
			x.Sees("does nothing here")
			time.Sleep(200 * time.Millisecond)
			x.Keys("q")
			if err := x.restored(); err != nil {
				t.Error(err)
			}
			if q := questions.FindString(x.Text()); q != "" {
				t.Errorf("asked %q", q)
			}
		})
	}
}

func TestScenario24TheEnvironmentIsGivenBack(t *testing.T) {
	t.Parallel()
	x := openTerminal(t, "run")
	x.Sees("order-7")
	if !strings.Contains(x.Text(), "\x1b[1m") {
		t.Error("no styles: TERM stayed dumb")
	}
	x.Keys("q")
	_ = x.restored()
}

func TestNoColorLeavesTheWords(t *testing.T) {
	t.Parallel()
	x := openTerminal(t, "run", "NO_COLOR=1")
	x.Sees("in doubt")
	x.Keys("q")
	_ = x.restored()
	if s := regexp.MustCompile(`\x1b\[[0-9;]+m`).FindString(x.Text()); s != "" {
		t.Errorf("style %q", s)
	}
}

func TestScenario31PanicRestoresTheTerminal(t *testing.T) {
	t.Parallel()
	x := openTerminal(t, "panic")
	x.Sees("order-7")
	x.Keys("e") // reads the plan
	var exit *exec.ExitError
	if err := x.restored(); !errors.As(err, &exit) {
		t.Errorf("exit: %v", err)
	}
	if !strings.Contains(x.Text(), "planted") {
		t.Error("the panic is not told")
	}
}

func TestScenario31SignalsRestoreTheTerminal(t *testing.T) {
	t.Parallel()
	for _, s := range []os.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(s.String(), func(t *testing.T) {
			t.Parallel()
			x := openTerminal(t, "run")
			x.Sees("order-7")
			if err := x.Cmd.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			_ = x.restored()
		})
	}
}
