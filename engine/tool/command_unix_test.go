//go:build unix

package tool_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/flowtui/flowtui/engine/tool"
)

// sitter is the far end of a command's child: wait returns when the child is
// up, gone when it is not.
type sitter struct {
	fifo string
	f    *os.File
	r    *bufio.Reader
}

func newSitter(t *testing.T) *sitter {
	t.Helper()
	fifo := filepath.Join(t.TempDir(), "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	return &sitter{fifo: fifo}
}

func (s *sitter) wait(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile(s.fifo, os.O_RDONLY, 0) // blocks until the child opens it
	if err != nil {
		t.Fatal(err)
	}
	s.f, s.r = f, bufio.NewReader(f)
	if _, err := s.r.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
}

func (s *sitter) gone(t *testing.T) {
	t.Helper()
	if _, err := io.Copy(io.Discard, s.r); err != nil { // ends when no writer is left
		t.Error(err)
	}
	s.f.Close()
}

func TestCommandCancelKillsTheGroup(t *testing.T) {
	s := newSitter(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	shutdown := errors.New("shutting down")
	go func() {
		s.wait(t)
		cancel(shutdown)
	}()
	_, err := call(t, ctx, spec("hang", s.fifo), tool.Input{})
	if !errors.Is(err, tool.ErrOutcomeUnknown) || !errors.Is(err, shutdown) {
		t.Errorf("got %v, want an unknown outcome with its cause", err)
	}
	s.gone(t)
}

// What a command leaves behind may keep its pipes: that does not hang the call.
func TestCommandLeavesADaemon(t *testing.T) {
	s := newSitter(t)
	up := make(chan struct{})
	go func() { s.wait(t); close(up) }()
	sp := spec("daemon", s.fifo)
	got, err := call(t, t.Context(), sp, tool.Input{})
	if err != nil || got != `{"ok":true}` {
		t.Errorf("got %q, %v", got, err)
	}
	<-up
	s.f.Close() // ends the daemon
}
