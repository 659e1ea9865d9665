package testservers

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

func dieWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }

// processes reads /proc, because small containers have no ps.
func processes() (map[int]processInfo, error) {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil, err
	}
	list := map[int]processInfo{}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue // not a process
		}
		stat, err := os.ReadFile("/proc/" + entry.Name() + "/stat")
		if err != nil {
			continue // it has ended meanwhile
		}
		// "pid (name) state parent ...", and the name may hold anything.
		var info processInfo
		rest := stat[bytes.LastIndexByte(stat, ')')+1:]
		if _, err := fmt.Sscanf(string(rest), " %c %d", &info.state, &info.parent); err != nil {
			return nil, fmt.Errorf("process %d: %w", pid, err)
		}
		list[pid] = info
	}
	return list, nil
}
