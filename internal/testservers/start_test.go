//go:build unix

package testservers

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// recorder notes how a test ended.
type recorder struct {
	testing.TB
	ended string
	log   string
}

func (*recorder) Helper()          {}
func (r *recorder) Failed() bool   { return strings.HasPrefix(r.ended, "failed") }
func (r *recorder) Skip(a ...any)  { r.end("skipped", fmt.Sprint(a...)) }
func (r *recorder) Fatal(a ...any) { r.end("failed", fmt.Sprint(a...)) }
func (r *recorder) Fatalf(format string, a ...any) {
	r.end("failed", fmt.Sprintf(format, a...))
}
func (r *recorder) Logf(format string, a ...any) {
	r.log += fmt.Sprintf(format, a...)
}

func (r *recorder) end(how, why string) {
	r.ended = how + ": " + why
	runtime.Goexit()
}

// endOf runs the function as a test and returns what it recorded.
func endOf(t *testing.T, test func(testing.TB)) *recorder {
	t.Helper()
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(r)
	}()
	<-done
	return r
}

func TestMissingProgramsSkipUnlessAllTestsMustRun(t *testing.T) {
	const redisMissing = "redis-server is not installed; install the package redis-server"
	t.Setenv("PATH", t.TempDir())
	for value, want := range map[string]string{
		"":  "skipped: skipped: " + redisMissing,
		"1": "failed: " + redisMissing,
	} {
		t.Setenv("FLOWTUI_TEST_ALL", value)
		if got := endOf(t, func(t testing.TB) { Redis(t) }).ended; got != want {
			t.Errorf("with FLOWTUI_TEST_ALL=%q: %q", value, got)
		}
	}
}

func TestNewestPostgresIsTaken(t *testing.T) {
	root := t.TempDir()
	for _, program := range []string{"9.6/bin/initdb", "9.6/bin/postgres", "15/bin/initdb", "15/bin/postgres",
		"17/bin/initdb", "9/bin/initdb", "9/bin/postgres"} {
		path := filepath.Join(root, program)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", "")
	got, err := postgresPrograms(filepath.Join(root, "*", "bin"))
	if want := filepath.Join(root, "15", "bin"); err != nil || got != want { // 17 has no server
		t.Errorf("found %q, %v", got, err)
	}
	t.Setenv("PATH", filepath.Join(root, "9", "bin"))
	got, err = postgresPrograms(filepath.Join(root, "*", "bin"))
	if want := filepath.Join(root, "9", "bin"); err != nil || got != want {
		t.Errorf("found %q, %v, before those in PATH", got, err)
	}
	t.Setenv("PATH", "")
	if got, err := postgresPrograms(filepath.Join(root, "none", "*")); err == nil {
		t.Errorf("found %q", got)
	}
}

// A server that cannot start fails the test, which then shows the log.
func TestFailedStartShowsTheLog(t *testing.T) {
	sh := "/bin/sh"
	folder := t.TempDir()
	r := endOf(t, func(tb testing.TB) {
		newServer(tb, folder, &redis{program: sh, folder: folder, password: "x"})
	})
	if !strings.Contains(r.ended, errExited.Error()) {
		t.Errorf("the test ended with %q", r.ended)
	}
	s := Server{t: r, kind: &redis{}, folder: folder}
	s.remove()
	if !strings.Contains(r.log, "not found") {
		t.Errorf("the log has %q", r.log)
	}
}
