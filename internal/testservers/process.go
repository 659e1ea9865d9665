//go:build unix

package testservers

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// process is a running server with the processes that it started itself:
// PostgreSQL serves each client in one of its own.
type process struct {
	cmd    *exec.Cmd
	exited chan struct{} // closed when it has exited
}

// launch starts the command. What it prints goes to the log file: a pipe would
// be held open by the children of a killed server.
func launch(cmd *exec.Cmd, logFile string) (*process, error) {
	log, err := os.OpenFile(logFile, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	cmd.Stdout, cmd.Stderr = log, log
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	dieWithParent(cmd.SysProcAttr)
	if err := onLastingThread(cmd.Start); err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, exited: make(chan struct{})}
	go func() {
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
		close(p.exited)
	}()
	return p, nil
}

// starts leads to a goroutine that keeps its thread: Linux takes the end of the
// thread that started a process for the end of the parent.
var starts = sync.OnceValue(func() chan<- func() {
	jobs := make(chan func())
	go func() {
		runtime.LockOSThread()
		for job := range jobs {
			job()
		}
	}()
	return jobs
})

func onLastingThread(start func() error) error {
	result := make(chan error, 1)
	starts() <- func() { result <- start() }
	return <-result
}

func (p *process) pid() int { return p.cmd.Process.Pid }

func (p *process) hasExited() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// stop asks the server to end, also if it is paused. SIGINT is the orderly
// shutdown of Redis, and the one of PostgreSQL that does not wait for clients.
func (p *process) stop() error {
	err := p.resume()
	if err == nil {
		err = p.signal(syscall.SIGINT)
	}
	if err != nil {
		return errors.Join(err, p.kill())
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	select {
	case <-p.exited:
		return nil
	case <-ctx.Done():
		return errors.Join(fmt.Errorf("it did not stop within %v", stopLimit), p.kill())
	}
}

// kill ends the server and its children. The children go first, while their
// parent is frozen: it can neither start more of them nor tidy up, and their
// process numbers cannot be used again.
func (p *process) kill() error {
	children, err := p.freeze()
	for _, child := range children {
		err = errors.Join(err, signalChild(child, syscall.SIGKILL))
	}
	err = errors.Join(err, p.signal(syscall.SIGKILL))
	<-p.exited
	return errors.Join(err, waitFor("end", children, gone))
}

// pause stops the server and its children, and waits until they are.
func (p *process) pause() error {
	children, err := p.freeze()
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := signalChild(child, syscall.SIGSTOP); err != nil {
			return err
		}
	}
	return waitFor("stop", children, frozen)
}

// freeze stops the server, waits until it is, and returns its children.
func (p *process) freeze() ([]int, error) {
	if err := p.signal(syscall.SIGSTOP); err != nil {
		return nil, err
	}
	if err := waitFor("stop", []int{p.pid()}, frozen); err != nil {
		return nil, err
	}
	return p.children()
}

func (p *process) resume() error {
	children, err := p.children()
	if err != nil {
		return err
	}
	for _, child := range children {
		if err := signalChild(child, syscall.SIGCONT); err != nil {
			return err
		}
	}
	return p.signal(syscall.SIGCONT)
}

// signal does nothing if the server has exited.
func (p *process) signal(sig syscall.Signal) error {
	if err := p.cmd.Process.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return nil
}

func signalChild(pid int, sig syscall.Signal) error {
	if err := syscall.Kill(pid, sig); !errors.Is(err, syscall.ESRCH) {
		return err
	}
	return nil
}

func (p *process) children() ([]int, error) {
	all, err := processes()
	if err != nil {
		return nil, err
	}
	var found []int
	for pid, info := range all {
		if info.parent == p.pid() {
			found = append(found, pid)
		}
	}
	return found, nil
}

// processInfo is a line of the system's list of processes.
type processInfo struct {
	parent int
	state  byte // as ps shows it
}

// gone also holds for one that has ended and was not waited for yet.
func gone(p processInfo) bool { return p.state == 0 || p.state == 'Z' || p.state == 'X' }

func frozen(p processInfo) bool { return p.state == 'T' || gone(p) }

// waitFor waits until the condition holds for all the processes: a signal is
// sent before it acts.
func waitFor(what string, pids []int, condition func(processInfo) bool) error {
	var listing error
	all := func() bool {
		list, err := processes()
		if listing = err; err != nil {
			return false
		}
		for _, pid := range pids {
			if !condition(list[pid]) {
				return false
			}
		}
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopLimit)
	defer cancel()
	if !poll(ctx, nil, all) {
		return errors.Join(fmt.Errorf("processes %v do not %s", pids, what), listing)
	}
	return nil
}
