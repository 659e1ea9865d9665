//go:build unix

package testservers

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"
)

const (
	startLimit = 60 * time.Second // a loaded machine is slow, a broken server exits at once
	stopLimit  = 30 * time.Second
	pollEvery  = 20 * time.Millisecond
	pingLimit  = 2 * time.Second
)

// kind is what differs between the servers.
type kind interface {
	// command runs the server in the foreground.
	command(port int) *exec.Cmd
	url(port int) string
	// ping returns nil if the server of this process answers.
	ping(port, pid int, limit time.Duration) error
	// forget removes what a killed server leaves outside its folder.
	forget()
}

// Server is a server that runs for one test. Its methods may be called from
// any goroutine.
type Server struct {
	URL string // with user and password; a restart does not change it

	t      testing.TB
	kind   kind
	folder string
	port   int

	mu   sync.Mutex
	proc *process // nil while it does not run
}

// newServer starts a server on a free port.
func newServer(t testing.TB, folder string, k kind) *Server {
	t.Helper()
	s := &Server{t: t, kind: k, folder: folder}
	t.Cleanup(s.remove)
	const tries = 5 // another process may take the port before the server does
	for try := 1; ; try++ {
		s.port = freePort(t)
		err := s.start()
		if err == nil {
			break
		}
		if try == tries || !errors.Is(err, errExited) {
			t.Fatal(err)
		}
	}
	s.URL = k.url(s.port)
	return s
}

// tempFolder makes the folder of a server. It is not t.TempDir because the
// server may run as another user, and because a Unix socket in it must have a
// short path. The folder goes away with the server, see [Server.remove].
func tempFolder(t testing.TB) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "flowtui-server-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(folder); err != nil {
			t.Error(err)
		}
	})
	return folder
}

// freePort looks below the ports that the system gives to clients: a client
// that redials a stopped server could otherwise be given the server's own port,
// connect to itself and keep the server from coming back.
func freePort(t testing.TB) int {
	t.Helper()
	const first, count, tries = 20000, 12000, 100
	for range tries {
		port := first + rand.IntN(count)
		listener, err := net.Listen("tcp4", address(port))
		if err == nil {
			_ = listener.Close()
			return port
		}
	}
	t.Fatalf("no free port found from %d to %d", first, first+count-1)
	return 0
}

func address(port int) string {
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
}

var errExited = errors.New("the server exited")

// start runs the server and waits until it answers. The caller holds the lock,
// or is the only one who knows the server.
func (s *Server) start() error {
	proc, err := launch(s.kind.command(s.port), s.logFile())
	if err != nil {
		return err
	}
	var last error
	answers := func() bool {
		last = s.kind.ping(s.port, proc.pid(), pingLimit)
		return last == nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	if poll(ctx, proc.exited, answers) {
		s.proc = proc
		return nil
	}
	if proc.hasExited() {
		return fmt.Errorf("%w: %v", errExited, proc.cmd.ProcessState)
	}
	_ = proc.kill()
	return fmt.Errorf("the server does not answer: %w", last)
}

// poll waits until the condition holds and reports whether it does. It gives
// up when the context or the channel is done.
func poll(ctx context.Context, done <-chan struct{}, condition func() bool) bool {
	ticker := time.NewTicker(pollEvery)
	defer ticker.Stop()
	for !condition() {
		select {
		case <-ticker.C:
		case <-done:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// Stop ends the server in an orderly way. It does nothing if it does not run.
func (s *Server) Stop() { s.end("stop", (*process).stop) }

// Kill ends the server at once, as a crash would. It does nothing if it does
// not run.
func (s *Server) Kill() { s.end("kill", (*process).kill) }

func (s *Server) end(what string, end func(*process) error) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		return
	}
	if err := end(s.proc); err != nil {
		s.t.Errorf("%s the server: %v", what, err)
	}
	s.proc = nil
}

// Restart stops the server if it runs, and starts it again on the same port.
func (s *Server) Restart(t testing.TB) {
	t.Helper()
	s.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.start(); err != nil {
		t.Fatalf("restart the server: %v", err)
	}
}

// Pause freezes the server: clients stay connected, and nobody answers them.
func (s *Server) Pause() { s.control("pause", (*process).pause) }

// Resume goes on after Pause.
func (s *Server) Resume() { s.control("resume", (*process).resume) }

func (s *Server) control(what string, do func(*process) error) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.proc == nil {
		s.t.Errorf("%s the server: it does not run", what)
		return
	}
	if err := do(s.proc); err != nil {
		s.t.Errorf("%s the server: %v", what, err)
	}
}

// remove ends the server. Its log goes to the test's output when that failed.
func (s *Server) remove() {
	s.Stop()
	s.kind.forget()
	if s.t.Failed() {
		s.t.Logf("end of the log of the server on port %d:\n%s", s.port, s.logTail())
	}
}

func (s *Server) logFile() string { return filepath.Join(s.folder, "server.log") }

func (s *Server) logTail() string {
	const most = 64 << 10
	text, err := os.ReadFile(s.logFile())
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}
