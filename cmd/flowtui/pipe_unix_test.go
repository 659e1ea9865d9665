//go:build unix

package main

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const pipedFlow = `name: piped
steps:
  - {id: ask, type: interrupt, config: {key: colour, prompt: "Which?"}}
  - {id: read, type: call, config: {tool: read, args: {}, into: read}}
tools:
  - {name: read, command: [sh, -c, 'cat >/dev/null; echo "\"$PWD\""']}
edges: [{from: ask, to: read}]
`

const pipedTalk = `name: talk
conversation: {}
steps: [{id: ask, type: interrupt, config: {key: mood, prompt: "How are you?"}}]
`

// pipe makes a named pipe into which a text is written once, "" for never.
func pipe(t *testing.T, path, text string) {
	t.Helper()
	check(t, syscall.Mkfifo(path, 0o600))
	if text == "" {
		return
	}
	written := make(chan error, 1)
	go func() {
		out, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, _ = out.WriteString(text) // of one that is too long the reader goes away
			err = out.Close()
		}
		written <- err
	}()
	t.Cleanup(func() {
		in, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // lets a writer go on whom nobody read
		check(t, err)
		check(t, <-written)
		check(t, in.Close())
	})
}

// told runs a command line and gives its exit code and what it said.
func told(ctx context.Context, args ...string) (int, string) {
	var out bytes.Buffer
	code := run(ctx, args, strings.NewReader(""), &out, &out)
	return code, out.String()
}

// here makes a folder with a key the one that the program runs in.
func here(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", dir)
	check(t, os.WriteFile("k", []byte(secret), 0o600))
	return dir
}

// A flow file, and a key, may come through a pipe, which is read once.
func TestFlowsComeThroughPipes(t *testing.T) {
	dir := here(t)
	check(t, os.WriteFile("ask.yaml", []byte(pipedFlow), 0o600))
	l, err := net.Listen("unix", "socket")
	check(t, err)
	defer l.Close()
	n := 0
	piped := func(text string) string {
		n++
		path := filepath.Join(dir, fmt.Sprint("pipe", n))
		pipe(t, path, text)
		return path
	}
	for _, c := range []struct {
		code int
		says string
		args []string
	}{
		{0, "the run waits", []string{"run", "t.db", piped(pipedFlow), "--id", "r", "--key-file", piped(secret), "--yes"}},
		{0, "r: answered", []string{"answer", "t.db", "r", "--flow", piped(pipedFlow), "--value", "red", "--key-file", "k", "--yes"}},
		{0, "How are you?", []string{"chat", "t.db", piped(pipedTalk), "--id", "c", "--message", "hello", "--key-file", "k", "--yes"}},
		{0, "nothing is wrong with this flow file", []string{"lint", piped(pipedFlow)}},
		{0, "ask", []string{"graph", piped(pipedFlow)}},
		{2, "no step type is named", []string{"lint", piped("steps: [{id: a, type: b}]")}},
		{2, "is a pipe", []string{"lint", "--dialect", "teff", piped("x")}},
		{1, "this is a document of teff", []string{"run", "t.db", piped("dialect: teff\nsteps: []"), "--key-file", "k", "--yes"}},
		{1, "the file is larger than 4 MiB", []string{"run", "t.db", piped("# " + strings.Repeat("x", 5<<20)), "--key-file", "k", "--yes"}},
		{0, "the run waits", []string{"run", "t.db", "ask.yaml", "--state", "@" + piped(`{"a":1}`), "--key-file", "k", "--yes"}},
		{2, "/dev/null is a device, not a flow file", []string{"run", "t.db", "/dev/null", "--key-file", "k", "--yes"}},
		{2, "/dev/null is a device, not a flow file", []string{"ls", "t.db", "--flow", "/dev/null", "--key-file", "k"}},
		{2, "is a socket, not a flow file", []string{"lint", "socket"}},
	} {
		if code, said := told(t.Context(), c.args...); code != c.code || !strings.Contains(said, c.says) {
			t.Errorf("%q: exit code %d, want %d with %q: %s", c.args, code, c.code, c.says, said)
		}
	}
	if code, said := told(t.Context(), "state", "t.db", "r", "--key-file", "k"); code != 0 || !strings.Contains(said, fmt.Sprintf(`"read": %q`, dir)) {
		t.Errorf("%d: %s", code, said)
	}
}

// A pipe that nobody writes to is waited for until the program is stopped.
func TestPipesThatNobodyWritesTo(t *testing.T) {
	here(t)
	pipe(t, "silent.yaml", "")
	check(t, os.WriteFile("x.yaml", []byte(pipedFlow), 0o600))
	stopped, stop := context.WithCancel(t.Context())
	stop()
	for _, args := range [][]string{
		{"run", "t.db", "silent.yaml", "--key-file", "k", "--yes"},
		{"run", "t.db", "x.yaml", "--state", "@silent.yaml", "--key-file", "k", "--yes"},
		{"chat", "t.db", "silent.yaml", "--id", "c", "--key-file", "k", "--yes"},
		{"ls", "t.db", "--flow", "silent.yaml"},
		{"lint", "silent.yaml"},
		{"graph", "silent.yaml"},
		{"verify", "t.db", "--key-file", "silent.yaml"},
	} {
		if code, said := told(stopped, args...); code != 1 || !strings.Contains(said, "stopped") || exists("t.db") {
			t.Errorf("%q: exit code %d: %s", args, code, said)
		}
	}
	// In a folder of flows nobody waits for it, also behind a link.
	check(t, os.Mkdir("flows", 0o700))
	check(t, os.Symlink("../silent.yaml", "flows/linked.yaml"))
	if code, said := told(t.Context(), "run", "t.db", "linked", "--flows", "flows", "--key-file", "k", "--yes"); code != 1 || !strings.Contains(said, "is no regular file") {
		t.Errorf("%d: %s", code, said)
	}
}

// What a shell writes as <(…) is a pipe without a folder and without a name.
func TestProcessSubstitution(t *testing.T) {
	dir := t.TempDir()
	check(t, os.WriteFile(filepath.Join(dir, "k"), []byte(secret), 0o600))
	for want, text := range map[string]string{
		"the run waits": pipedFlow,
		"the flow that comes through the pipe /dev/fd/3 has no name": strings.TrimPrefix(pipedFlow, "name: piped\n"),
	} {
		in, out, err := os.Pipe()
		check(t, err)
		_, err = out.WriteString(text)
		check(t, err)
		check(t, out.Close())
		cmd := exec.Command("flowtui", "run", "t.db", "/dev/fd/3", "--key-file", "k", "--yes")
		cmd.Dir, cmd.ExtraFiles = dir, []*os.File{in}
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CACHE_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		said, _ := cmd.CombinedOutput()
		check(t, in.Close())
		if !strings.Contains(string(said), want) {
			t.Errorf("%s, want %s", said, want)
		}
	}
}
