//go:build unix && !linux

package testservers

import (
	"bufio"
	"bytes"
	"fmt"
	"os/exec"
	"syscall"
)

// dieWithParent does nothing: this system has no way to ask for it.
func dieWithParent(*syscall.SysProcAttr) {}

func processes() (map[int]processInfo, error) {
	out, err := exec.Command("ps", "-ax", "-o", "pid=,ppid=,state=").Output()
	if err != nil {
		return nil, fmt.Errorf("ps: %w", err)
	}
	list := map[int]processInfo{}
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var pid int
		var info processInfo
		if _, err := fmt.Sscanf(lines.Text(), "%d %d %c", &pid, &info.parent, &info.state); err != nil {
			return nil, fmt.Errorf("ps printed %q: %w", lines.Text(), err)
		}
		list[pid] = info
	}
	return list, nil
}
