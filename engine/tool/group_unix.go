//go:build unix

package tool

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup puts the command into a process group of its own, so that a kill
// reaches everything it started and a ctrl+c in our terminal does not.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error {
		err := syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		if errors.Is(err, syscall.ESRCH) {
			return os.ErrProcessDone
		}
		return err
	}
}
