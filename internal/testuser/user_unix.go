//go:build unix

package testuser

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user without any rights.
const nobody = 65534

// Unprivileged runs the test again as nobody, in a process of its own, when this
// one runs as root. It reports whether it did: the test then has nothing left to
// do.
func Unprivileged(t *testing.T) bool {
	t.Helper()
	if os.Getuid() != 0 {
		return false
	}
	dir, err := os.MkdirTemp("", "flowtui")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	work, binary := filepath.Join(dir, "work"), filepath.Join(dir, "test")
	err = errors.Join(os.Chmod(dir, 0o755), os.Mkdir(work, 0o700), os.Chown(work, nobody, nobody), copyBinary(binary))
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = work
	cmd.Env = append(os.Environ(), "TMPDIR="+work, "HOME="+work)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Fatalf("as an unprivileged user: %v\n%s", err, out)
	}
	return true
}

func copyBinary(to string) error {
	exe, err := os.Executable()
	if err != nil {
		return err
	}
	in, err := os.Open(exe)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
