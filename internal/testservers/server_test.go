//go:build unix

package testservers

import (
	"context"
	"errors"
	"io/fs"
	"net"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// both runs a test with each server.
func both(t *testing.T, test func(t *testing.T, start func(testing.TB) *Server)) {
	t.Run("redis", func(t *testing.T) { test(t, Redis) })
	t.Run("postgres", func(t *testing.T) { test(t, Postgres) })
}

const pauseLimit = 300 * time.Millisecond // a ping that must fail takes this long

func (s *Server) ping(limit time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return errors.New("the server does not run")
	}
	return s.kind.ping(s.port, s.proc.pid(), limit)
}

func mustPing(t *testing.T, s *Server) {
	t.Helper()
	if err := s.ping(pingLimit); err != nil {
		t.Fatal(err)
	}
}

// family is the server's process and its children.
func family(t *testing.T, s *Server) []int {
	t.Helper()
	children, err := s.proc.children()
	if err != nil {
		t.Fatal(err)
	}
	return append(children, s.proc.pid())
}

func mustBeGone(t *testing.T, pids []int, folder string) {
	t.Helper()
	list, err := processes()
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range pids {
		if !gone(list[pid]) {
			t.Errorf("process %d still runs", pid)
		}
	}
	if _, err := os.Stat(folder); folder != "" && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder is still there: %v", err)
	}
}

func TestRedisAnswers(t *testing.T) {
	s := Redis(t)
	password, _ := mustParse(t, s.URL).User.Password()
	client := redis{password: password}
	replies, err := client.say(s.port, pingLimit,
		[]string{"SET", "a key", "a\r\nvalue"}, []string{"GET", "a key"}, []string{"INCR", "n"})
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(replies, "|"); got != "OK|a\r\nvalue|1" {
		t.Errorf("redis answered %q", got)
	}
	client.password = "wrong"
	if err := client.ping(s.port, 0, pingLimit); err == nil || !strings.Contains(err.Error(), "WRONGPASS") {
		t.Errorf("with a wrong password: %v", err)
	}
}

func TestPostgresAnswers(t *testing.T) {
	s := Postgres(t)
	mustPing(t, s)
	if got := query(t, s, s.URL, "select 6 * 7, current_user, current_setting('fsync')"); got != "42|flowtui|on" {
		t.Errorf("psql printed %q", got)
	}
	u := mustParse(t, s.URL)
	u.User = url.UserPassword(u.User.Username(), "wrong")
	if got := query(t, s, u.String(), "select 1"); !strings.Contains(got, "password authentication failed") {
		t.Errorf("with a wrong password psql printed %q", got)
	}
}

// query runs psql and returns what it printed, also when it failed.
func query(t *testing.T, s *Server, address, sql string) string {
	t.Helper()
	psql, err := exec.LookPath("psql")
	if err != nil {
		t.Skip("skipped: psql is not installed; install the package postgresql-client")
	}
	u := mustParse(t, address)
	password, _ := u.User.Password()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, psql, "--no-psqlrc", "--no-password", "--tuples-only", "--no-align",
		"--host", u.Hostname(), "--port", u.Port(), "--username", u.User.Username(),
		"--dbname", strings.TrimPrefix(u.Path, "/"), "--command", sql)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), "PGPASSWORD="+password, "LC_ALL=C")
	out, err := cmd.CombinedOutput()
	if len(out) == 0 && err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(out))
}

func mustParse(t *testing.T, address string) *url.URL {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestServersAreSeparate(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB) *Server) {
		one, other := start(t), start(t)
		if one.URL == other.URL {
			t.Fatalf("both have %s", one.URL)
		}
		one.Stop()
		mustPing(t, other)
	})
}

func TestRestartKeepsTheAddress(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB) *Server) {
		s := start(t)
		address, pid := s.URL, s.proc.pid()
		for _, end := range []func(){func() {}, s.Stop, s.Kill, s.Kill} {
			end()
			s.Restart(t)
			mustPing(t, s)
		}
		if s.URL != address || s.proc.pid() == pid {
			t.Errorf("process %d at %s became %d at %s", pid, address, s.proc.pid(), s.URL)
		}
	})
}

func TestRestartNeedsItsPort(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB) *Server) {
		s := start(t)
		s.Stop()
		taker, err := net.Listen("tcp4", address(s.port))
		if err != nil {
			t.Fatal(err)
		}
		if got := endOf(t, func(t testing.TB) { s.Restart(t) }).ended; !strings.Contains(got, errExited.Error()) {
			t.Errorf("with its port taken, Restart ended with %q", got)
		}
		if err := taker.Close(); err != nil {
			t.Fatal(err)
		}
		s.Restart(t)
		mustPing(t, s)
	})
}

func TestPostgresKeepsWhatWasCommitted(t *testing.T) {
	s := Postgres(t)
	query(t, s, s.URL, "create table kept as select 42 as n")
	for _, end := range []func(){s.Stop, s.Kill} {
		end()
		s.Restart(t)
		if got := query(t, s, s.URL, "select n from kept"); got != "42" {
			t.Errorf("after a restart psql printed %q", got)
		}
	}
}

func TestPauseAndResume(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB) *Server) {
		s := start(t)
		for range 2 {
			s.Pause()
			if err := s.ping(pauseLimit); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("a paused server answered a ping: %v", err)
			}
			s.Resume()
			mustPing(t, s)
		}
	})
}

// A client that is connected already talks to a process of its own.
func TestPauseHoldsUpSessions(t *testing.T) {
	s := Postgres(t)
	done := make(chan string, 1)
	go func() { done <- query(t, s, s.URL, "select pg_sleep(0.5), 42") }()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	running := "select count(*) from pg_stat_activity where query like 'select pg_sleep%'"
	if !poll(ctx, nil, func() bool { return query(t, s, s.URL, running) == "1" }) {
		t.Fatal("the query does not run")
	}
	s.Pause()
	select {
	case got := <-done:
		t.Errorf("a paused server answered %q", got)
	case <-time.After(time.Second):
	}
	s.Resume()
	if got := <-done; got != "|42" {
		t.Errorf("after the pause psql printed %q", got)
	}
}

func TestEndsLeaveNoProcess(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB) *Server) {
		s := start(t)
		for _, end := range []func(){
			s.Stop,
			s.Kill,
			func() { s.Pause(); s.Stop() },
			func() { s.Pause(); s.Kill() },
		} {
			pids := family(t, s)
			end()
			mustBeGone(t, pids, "")
			if err := s.ping(pingLimit); err == nil {
				t.Error("an ended server answered")
			}
			s.Stop() // ending it twice does no harm
			s.Kill()
			s.Restart(t)
		}
	})
}

func TestCleanupLeavesNothing(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB) *Server) {
		for name, last := range map[string]func(*Server){
			"running": func(*Server) {}, "paused": (*Server).Pause, "killed": (*Server).Kill,
		} {
			var pids []int
			var folder string
			ok := t.Run(name, func(t *testing.T) {
				s := start(t)
				pids, folder = family(t, s), s.folder
				last(s)
			})
			if !ok || len(pids) == 0 {
				t.Fatal("the server did not run")
			}
			mustBeGone(t, pids, folder)
		}
	})
}
