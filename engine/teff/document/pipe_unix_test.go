//go:build unix

package document_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/flowtui/flowtui/engine/teff/document"
)

// pipe makes a named pipe whose writer gives a valid document to whoever reads it.
func pipe(t *testing.T, path string) {
	t.Helper()
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	written := make(chan error, 1)
	go func() {
		out, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err == nil {
			_, err = out.WriteString("steps: []\ndialect: teff\n")
			err = errors.Join(err, out.Close())
		}
		written <- err
	}()
	t.Cleanup(func() {
		in, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // lets the writer go on
		if err != nil {
			t.Error(err)
		}
		<-written
		in.Close()
	})
}

// A pipe is never opened: without a writer its reader would wait forever.
func TestPipesAreNotRead(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.graph.yaml", "part.yaml", "b.yaml"} {
		pipe(t, filepath.Join(dir, name))
	}
	if _, err := document.Load(filepath.Join(dir, "a.graph.yaml"), none); err == nil || !strings.HasSuffix(err.Error(), "a.graph.yaml is not a file") {
		t.Error(err)
	}
	if document.Marked(filepath.Join(dir, "b.yaml")) {
		t.Error("a pipe was read")
	}
	main := filepath.Join(dir, "main.graph.yaml")
	if err := os.WriteFile(main, []byte("include: part.yaml\nsteps: []\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := document.Load(main, none); err == nil || !strings.Contains(err.Error(), "main.graph.yaml:1: include:") || !strings.Contains(err.Error(), "part.yaml is not a file") {
		t.Error(err)
	}
	if !document.Marked(main) {
		t.Error("a document of teff is none because of what it includes")
	}
}
