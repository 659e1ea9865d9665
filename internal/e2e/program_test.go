package e2e

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// program is the built flowtui.
var program string

func TestMain(m *testing.M) {
	code, err := buildAndRun(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func buildAndRun(m *testing.M) (int, error) {
	if signal.Ignored(syscall.SIGHUP) { // as under nohup: the programs would inherit that, and tests hang them up
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	dir, err := os.MkdirTemp("", "flowtui-e2e-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "flowtui")
	if out, err := exec.Command("go", "build", "-o", program, "github.com/flowtui/flowtui/cmd/flowtui").CombinedOutput(); err != nil {
		return 1, fmt.Errorf("build: %w: %s", err, out)
	}
	return m.Run(), nil
}

// result is what a command printed and how it ended.
type result struct {
	stdout, stderr string
	code           int
}

// flowtui runs a command of the program without a terminal, in its own home.
func (d demoDir) flowtui(t *testing.T, args ...string) result {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Env = d.env(cmd.Environ())
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return result{out.String(), errs.String(), cmd.ProcessState.ExitCode()}
}

// demoDir is a folder with a demo in it, whose store may be elsewhere.
type demoDir struct{ dir, home, elsewhere string }

func (d demoDir) env(env []string) []string {
	return append(env, "HOME="+d.home, "XDG_CACHE_HOME="+d.home, "XDG_CONFIG_HOME="+d.home)
}

func (d demoDir) store() string {
	if d.elsewhere != "" {
		return d.elsewhere
	}
	return filepath.Join(d.dir, "demo.db")
}

// on gives the arguments that most commands on the demo have.
func (d demoDir) on(command string, args ...string) []string {
	out := append([]string{command, d.store()}, args...)
	return append(out, "--key-file", filepath.Join(d.dir, "demo.key"), "--flows", filepath.Join(d.dir, "flows"), "--yes")
}

// made is a demo that every test copies: making one takes seconds.
var made sync.Mutex

func newDemo(t *testing.T) demoDir {
	t.Helper()
	made.Lock()
	defer made.Unlock()
	template := demoDir{dir: filepath.Join(filepath.Dir(program), "demo"), home: t.TempDir()}
	if _, err := os.Stat(template.dir); err != nil {
		if r := template.flowtui(t, "demo", "--dir", template.dir, "--no-open"); r.code != 0 {
			t.Fatalf("demo: %d %s", r.code, r.stderr)
		}
	}
	d := demoDir{dir: filepath.Join(t.TempDir(), "demo"), home: t.TempDir()}
	if err := os.CopyFS(d.dir, os.DirFS(template.dir)); err != nil {
		t.Fatal(err)
	}
	return d
}

// calls counts how often a tool acted for a run, by the tools' own log.
func (d demoDir) calls(t *testing.T, run, tool string) int {
	t.Helper()
	log, err := os.ReadFile(filepath.Join(d.dir, "calls.log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(log), run+" "+tool+"\n")
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func decode[T any](t *testing.T, text string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("not JSON: %v: %s", err, text)
	}
	return v
}
