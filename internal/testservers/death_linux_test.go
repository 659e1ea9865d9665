package testservers

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"testing"
	"time"
)

// heir is what a killed test process leaves.
type heir struct {
	Pids   []int
	Folder string
}

const heirFlag = "TESTSERVERS_WAIT_TO_BE_KILLED"

// TestServersDieWithTheTest runs itself in a process that it kills.
func TestServersDieWithTheTest(t *testing.T) {
	both(t, func(t *testing.T, start func(testing.TB) *Server) {
		if os.Getenv(heirFlag) != "" {
			s := start(t)
			if err := json.NewEncoder(os.Stdout).Encode(heir{family(t, s), s.folder}); err != nil {
				t.Fatal(err)
			}
			select {}
		}
		start(t).Stop() // is skipped here if the other process would be
		left := killedTest(t)
		t.Cleanup(func() { _ = os.RemoveAll(left.Folder) })
		if err := waitFor("end", left.Pids, gone); err != nil {
			t.Error(err)
		}
		(&postgres{folder: left.Folder}).forget()
	})
}

func killedTest(t *testing.T) heir {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), heirFlag+"=1")
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var left heir
	line, readErr := bufio.NewReader(out).ReadBytes('\n')
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = cmd.Wait() // it was killed
	if readErr != nil {
		t.Fatalf("%v after %q", readErr, line)
	}
	if err := json.Unmarshal(line, &left); err != nil {
		t.Fatal(err)
	}
	return left
}
