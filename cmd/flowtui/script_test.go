package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/flowtui/flowtui/fixtures/teff"
)

// TestMain makes the test binary also the program under test and the tools that
// its flows call.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"flowtui": main, "testtool": testTool})
}

func TestScripts(t *testing.T) {
	if signal.Ignored(syscall.SIGHUP) { // as under nohup: the programs of the scripts would inherit that, and wait for ever
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "script"),
		Setup:               setup,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"code":    execCode,
			"jsonq":   jsonQuery,
			"jsonset": jsonSet,
			"waitfor": waitFor,
			"tamper":  tamper,
			"spoil":   spoil,
			"flip":    flip,
			"drop":    drop,
			"teff":    teffCopies,
		},
	})
}

// setup gives every script a key, the flow files of testdata/flows, and a home
// of its own.
func setup(env *testscript.Env) error {
	env.Setenv("HOME", env.WorkDir)
	env.Setenv("XDG_CACHE_HOME", filepath.Join(env.WorkDir, "cache"))
	env.Setenv("XDG_CONFIG_HOME", filepath.Join(env.WorkDir, "config"))
	env.Setenv("LC_ALL", "C.UTF-8")
	env.Setenv("TERM", "xterm")
	env.Setenv("GORACE", "atexit_sleep_ms=0") // with the race detector each program would end a second later
	env.Setenv("K", "--key-file=demo.key")
	env.Setenv("F", "--flows=flows")
	if err := os.WriteFile(filepath.Join(env.WorkDir, "demo.key"), []byte(secret+"\n"), 0o600); err != nil {
		return err
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	return os.CopyFS(filepath.Join(env.WorkDir, "flows"), os.DirFS(filepath.Join(here, "testdata", "flows")))
}

// execCode runs the program and checks its exit code: code CODE ARGS…
func execCode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: code CODE ARGS…")
	}
	err := ts.Exec("flowtui", args[1:]...)
	code := "0"
	if err != nil {
		code = "1" // of a process that could not be started, too
		var exit interface{ ExitCode() int }
		if errors.As(err, &exit) {
			code = strconv.Itoa(exit.ExitCode())
		}
	}
	if code != args[0] {
		ts.Fatalf("exit code %s, want %s", code, args[0])
	}
}

// lookup follows a path like 0.waiting.1.id into JSON; len is the length of a
// list, and "." the whole.
func lookup(text, path string) (string, error) {
	var v any
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		return "", fmt.Errorf("not JSON: %w", err)
	}
	for _, part := range strings.Split(path, ".") {
		switch x := v.(type) {
		case map[string]any:
			if part == "" {
				break
			}
			next, ok := x[part]
			if !ok {
				return "", fmt.Errorf("there is no %q in %v", part, x)
			}
			v = next
		case []any:
			if part == "len" {
				return strconv.Itoa(len(x)), nil
			}
			if part == "" {
				break
			}
			i, err := strconv.Atoi(part)
			if err != nil || i < 0 || i >= len(x) {
				return "", fmt.Errorf("there is no %q in a list of %d", part, len(x))
			}
			v = x[i]
		default:
			return "", fmt.Errorf("%q of %v", part, v)
		}
	}
	if s, ok := v.(string); ok {
		return s, nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	err := enc.Encode(v)
	return strings.TrimSpace(b.String()), err
}

// jsonQuery compares a value: jsonq FILE PATH WANT
func jsonQuery(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: jsonq FILE PATH WANT")
	}
	got, err := lookup(ts.ReadFile(args[0]), args[1])
	if neg {
		if err == nil && got == args[2] {
			ts.Fatalf("%s is %s", args[1], got)
		}
		return
	}
	ts.Check(err)
	if got != args[2] {
		ts.Fatalf("%s is %s, want %s", args[1], got, args[2])
	}
}

// jsonSet keeps a value in a variable: jsonset NAME FILE PATH
func jsonSet(ts *testscript.TestScript, _ bool, args []string) {
	value, err := lookup(ts.ReadFile(args[1]), args[2])
	ts.Check(err)
	ts.Setenv(args[0], value)
}

// waitFor waits until a file is there: waitfor FILE
func waitFor(ts *testscript.TestScript, _ bool, args []string) {
	for range 2000 {
		if exists(ts.MkAbs(args[0])) {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	ts.Fatalf("%s never came", args[0])
}

// teffCopies makes copies of stores that teff wrote, and of their workflows: teff DIR
func teffCopies(ts *testscript.TestScript, _ bool, args []string) {
	dir := ts.MkAbs(args[0])
	ts.Check(os.MkdirAll(dir, 0o755))
	ts.Check(teff.WriteFiles("main", filepath.Join(dir, "files")))
	ts.Check(teff.WriteDatabases(dir))
	ts.Check(os.CopyFS(filepath.Join(dir, "workflows"), os.DirFS(filepath.Join("..", "..", "fixtures", "teff", "workflows"))))
}
