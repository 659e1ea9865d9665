package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/flowtui/flowtui/engine/tool"
)

// The test binary is its own set of commands: with this argument first it
// plays the one that is named next.
const play = "play-a-command"

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == play {
		os.Exit(command(os.Args[2], os.Args[3:]))
	}
	os.Exit(m.Run())
}

func command(name string, args []string) int {
	switch name {
	case "echo": // answers what it got
		io.Copy(os.Stdout, os.Stdin)
	case "say":
		fmt.Print(args[0])
	case "fail":
		fmt.Print(`{"half":`)
		fmt.Fprint(os.Stderr, args[0])
		return 3
	case "flood":
		fmt.Print(`"`)
		for range 17 {
			fmt.Print(strings.Repeat("x", 1<<20))
		}
		fmt.Print(`"`)
		os.WriteFile(args[0], []byte("finished"), 0o600)
	case "env":
		json.NewEncoder(os.Stdout).Encode(os.Environ())
	case "dir":
		dir, _ := os.Getwd()
		json.NewEncoder(os.Stdout).Encode(dir)
	case "die":
		self, _ := os.FindProcess(os.Getpid())
		self.Kill()
		<-time.After(time.Minute)
	case "hang": // for ever, with a child that would hold the pipes
		signal.Ignore(syscall.SIGTERM, os.Interrupt)
		child(args[0])
		<-time.After(time.Minute)
	case "daemon": // answers, leaving a child that holds the pipes
		child(args[0])
		fmt.Print(`{"ok":true}`)
	case "sit":
		conn, err := os.OpenFile(args[0], os.O_WRONLY, 0)
		if err != nil {
			return 1
		}
		for err == nil { // blocks when the pipe is full, ends when nobody reads
			_, err = fmt.Fprintln(conn, "up")
		}
	}
	return 0
}

func child(fifo string) {
	cmd := exec.Command(os.Args[0], play, "sit", fifo)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func spec(args ...string) tool.CommandSpec {
	return tool.CommandSpec{Name: "t", Command: append([]string{os.Args[0], play}, args...)}
}

func call(t *testing.T, ctx context.Context, s tool.CommandSpec, in tool.Input) (string, error) {
	t.Helper()
	tl, err := tool.Command(s)
	if err != nil {
		t.Fatal(err)
	}
	v, err := tl.Run(ctx, in)
	if err != nil {
		return "", err
	}
	return string(v.(json.RawMessage)), nil
}

func TestCommandGetsItsInput(t *testing.T) {
	got, err := call(t, t.Context(), spec("echo"), tool.Input{
		Args: json.RawMessage(`{"n":12345678901234567890.10,"s":"é\u0000"}`), IdempotencyKey: "k", Run: "r", Owner: "o", User: "u",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"args":{"n":12345678901234567890.10,"s":"é\u0000"},"idempotency_key":"k","run":"r","owner":"o","user":"u"}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestCommandResult(t *testing.T) {
	for _, c := range []struct{ stdout, want string }{
		{"", "null"},
		{" \n", "null"},
		{"\t{ \"a\" : 1.0 }\r\n", `{ "a" : 1.0 }`},
		{"1e400", "1e400"},
		{`"\ud83d\ude00"`, `"\ud83d\ude00"`},
	} {
		if got, err := call(t, t.Context(), spec("say", c.stdout), tool.Input{}); err != nil || got != c.want {
			t.Errorf("stdout %q: got %q, %v, want %q", c.stdout, got, err, c.want)
		}
	}
}

func TestCommandResultThatCannotBeKept(t *testing.T) {
	for _, stdout := range []string{"hello", "{} {}", `{"a":1`, "1 2", "\ufeff{}", "\"\xff\"", "NaN", "\u00a01"} {
		_, err := call(t, t.Context(), spec("say", stdout), tool.Input{})
		var re *tool.ResultError
		if !errors.As(err, &re) || !errors.Is(err, tool.ErrOutcomeUnknown) {
			t.Errorf("stdout %q: got %v, want a ResultError", stdout, err)
		}
	}
}

// What was printed is told as it is: bounded, on one line, and a text is told from
// the JSON text that it should be.
func TestCommandResultIsQuotedAsItWas(t *testing.T) {
	const ran = "t: the call ran, but its result cannot be kept: stdout is not one JSON value; stdout was: "
	for stdout, want := range map[string]string{
		"hold\n":                       "hold (a text needs quotes)",
		"two words\nand \x1b[31mred\a": `two words\nand \x1b[31mred\a (a text needs quotes)`,
		`{"a":1`:                       `{"a":1`,
		"1 2":                          "1 2",
		"\u202eevil":                   `\u202eevil`,
		strings.Repeat("é", 100):       strings.Repeat("é", 40) + "… (a text needs quotes)",
		strings.Repeat("[", 1<<16):     strings.Repeat("[", 80) + "…",
	} {
		if _, err := call(t, t.Context(), spec("say", stdout), tool.Input{}); err == nil || err.Error() != ran+want {
			t.Errorf("stdout %.20q: got %v, want %s", stdout, err, want)
		}
	}
}

// A program whose answer is too long is not cut off in the middle of its work.
func TestCommandResultTooLarge(t *testing.T) {
	done := filepath.Join(t.TempDir(), "done")
	_, err := call(t, t.Context(), spec("flood", done), tool.Input{})
	var re *tool.ResultError
	if !errors.As(err, &re) || !strings.Contains(err.Error(), "16 MiB") {
		t.Errorf("got %v, want a ResultError", err)
	}
	if _, err := os.Stat(done); err != nil {
		t.Error("the command did not finish:", err)
	}
}

func TestCommandFails(t *testing.T) {
	_, err := call(t, t.Context(), spec("fail", " no seats \n"), tool.Input{})
	var ee *tool.ExitError
	if !errors.As(err, &ee) || ee.Code != 3 || err.Error() != "t: exit code 3: no seats" {
		t.Errorf("got %v", err)
	}
	if errors.Is(err, tool.ErrOutcomeUnknown) {
		t.Error("a finished failure is not an unknown outcome")
	}
	_, err = call(t, t.Context(), spec("fail", "a"+strings.Repeat("é", 3000)+"\xff end"), tool.Input{})
	if !errors.As(err, &ee) || len(ee.Stderr) > 4<<10+8 || !strings.HasPrefix(ee.Stderr, "…é") || !strings.HasSuffix(ee.Stderr, "\uFFFD end") {
		t.Errorf("long stderr: got %d bytes, %.20q", len(ee.Stderr), ee.Stderr)
	}
}

func TestCommandThatCannotStart(t *testing.T) {
	_, err := call(t, t.Context(), tool.CommandSpec{Name: "t", Command: []string{"/nonexistent/x"}}, tool.Input{})
	if err == nil || errors.Is(err, tool.ErrOutcomeUnknown) {
		t.Errorf("got %v, want a plain error", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = call(t, ctx, spec("say", "1"), tool.Input{})
	if !errors.Is(err, context.Canceled) || errors.Is(err, tool.ErrOutcomeUnknown) {
		t.Errorf("cancelled before the start: got %v", err)
	}
}

func TestCommandKilledBySignal(t *testing.T) {
	_, err := call(t, t.Context(), spec("die"), tool.Input{})
	if !errors.Is(err, tool.ErrOutcomeUnknown) {
		t.Errorf("got %v, want an unknown outcome", err)
	}
}

func TestCommandTimeout(t *testing.T) {
	s := spec("hang", "/nonexistent/fifo")
	s.Timeout = 50 * time.Millisecond
	_, err := call(t, t.Context(), s, tool.Input{})
	if !errors.Is(err, tool.ErrOutcomeUnknown) || !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "50ms") {
		t.Errorf("got %v", err)
	}
}

func TestCommandEnvironment(t *testing.T) {
	t.Setenv("FLOWTUI_KEY_FILE", "/secret")
	t.Setenv("flowtui_key", "secret")
	t.Setenv("OTHER", "kept")
	s := spec("env")
	s.Env = []string{"EXTRA=1"}
	got, err := call(t, t.Context(), s, tool.Input{})
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(got, "secret") || !strings.Contains(got, `"OTHER=kept"`) || !strings.Contains(got, `"EXTRA=1"`) {
		t.Error("environment:", got)
	}
}

func TestCommandDir(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := spec("dir")
	s.Dir = dir
	if s.Command[0], err = filepath.Abs(s.Command[0]); err != nil {
		t.Fatal(err)
	}
	got, err := call(t, t.Context(), s, tool.Input{})
	if want, _ := json.Marshal(dir); err != nil || got != string(want) {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}

func TestCommandSpecIsChecked(t *testing.T) {
	for _, s := range []tool.CommandSpec{
		{Command: []string{"x"}},
		{Name: "t"},
		{Name: "t", Command: []string{""}},
		{Name: "t", Command: []string{"x", "a\x00b"}},
		{Name: "t", Command: []string{"x"}, Timeout: -1},
	} {
		if _, err := tool.Command(s); err == nil {
			t.Errorf("%+v: no error", s)
		}
	}
	got, err := tool.Command(tool.CommandSpec{Name: "t", Command: []string{"x"}, Idempotent: true, Approval: tool.ApprovalRequired, Timeout: 3})
	if err != nil || got.Name != "t" || !got.Idempotent || got.Approval != tool.ApprovalRequired || got.Timeout != 3 {
		t.Errorf("got %+v, %v", got, err)
	}
}
