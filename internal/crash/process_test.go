//go:build unix

package crash

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
)

// process is a child whose stops are seen too, which exec.Cmd does not tell of.
type process struct {
	os    *os.Process
	stops chan struct{} // one for each time it was stopped
	ended chan struct{} // closed when it has ended
	died  syscall.WaitStatus
}

// launcher starts processes from one lasting thread: Linux takes the end of the
// thread that started a process for the end of the parent.
type launcher struct {
	starts chan func()
	all    sync.WaitGroup
}

func newLauncher() *launcher {
	l := &launcher{starts: make(chan func())}
	go func() {
		runtime.LockOSThread()
		for start := range l.starts {
			start()
		}
	}()
	return l
}

// start runs a command, which must have no pipes. When it has ended, atEnd is
// called before anybody else hears of it.
func (l *launcher) start(cmd *exec.Cmd, atEnd func(syscall.WaitStatus)) (*process, error) {
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	dieWithParent(cmd.SysProcAttr)
	result := make(chan error, 1)
	l.starts <- func() { result <- cmd.Start() }
	if err := <-result; err != nil {
		return nil, err
	}
	p := &process{os: cmd.Process, stops: make(chan struct{}, 100), ended: make(chan struct{})}
	l.all.Go(func() {
		p.wait()
		atEnd(p.died)
		close(p.ended)
	})
	return p, nil
}

// close waits until every process has ended.
func (l *launcher) close() {
	l.all.Wait()
	close(l.starts)
}

func (p *process) wait() {
	for {
		var s syscall.WaitStatus
		switch _, err := syscall.Wait4(p.os.Pid, &s, syscall.WUNTRACED, nil); {
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			panic(err) // it is our child, and nobody else waits for it
		case s.Stopped():
			p.stops <- struct{}{}
		case s.Exited() || s.Signaled():
			p.died = s
			return
		}
	}
}

// signal does nothing when the process has ended.
func (p *process) signal(s syscall.Signal) {
	select {
	case <-p.ended:
	default:
		_ = p.os.Signal(s)
	}
}

func (p *process) hasEnded() bool {
	select {
	case <-p.ended:
		return true
	default:
		return false
	}
}
