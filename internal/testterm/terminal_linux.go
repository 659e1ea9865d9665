package testterm

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// Terminal is a program in a terminal.
type Terminal struct {
	*testing.T
	Cmd           *exec.Cmd
	Before        unix.Termios // the settings when the program started
	master, slave *os.File

	mu  sync.Mutex
	out bytes.Buffer
}

// patience is how long a test waits for what a program writes.
const patience = 20 * time.Second

// Start starts a program in a terminal of 24 rows. It ends with the test.
func Start(t *testing.T, columns uint16, cmd *exec.Cmd) *Terminal {
	t.Helper()
	x := &Terminal{T: t, Cmd: cmd}
	x.open()
	x.must(unix.IoctlSetWinsize(int(x.slave.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: columns}))
	x.Before = x.Settings()
	cmd.Stdin, cmd.Stdout, cmd.Stderr = x.slave, x.slave, x.slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	x.must(cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	go x.read()
	return x
}

func (x *Terminal) must(err error) {
	x.Helper()
	if err != nil {
		x.Fatal(err)
	}
}

// open makes the pair of devices.
func (x *Terminal) open() {
	x.Helper()
	var err error
	x.master, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	x.must(err)
	x.Cleanup(func() { _ = x.master.Close() })
	x.must(unix.IoctlSetPointerInt(int(x.master.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(x.master.Fd()), unix.TIOCGPTN)
	x.must(err)
	x.slave, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	x.must(err)
	x.Cleanup(func() { _ = x.slave.Close() })
}

func (x *Terminal) read() {
	buf := make([]byte, 4096)
	for {
		n, err := x.master.Read(buf)
		x.mu.Lock()
		x.out.Write(buf[:n])
		x.mu.Unlock()
		if err != nil {
			return
		}
	}
}

// Text is all that the program has written.
func (x *Terminal) Text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.out.String()
}

// Sees waits until the program has written s.
func (x *Terminal) Sees(s string) {
	x.Helper()
	x.Until(fmt.Sprintf("%q", s), func() bool { return strings.Contains(x.Text(), s) })
}

// Until waits for something that the program does.
func (x *Terminal) Until(what string, came func() bool) {
	x.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if came() {
			return
		}
	}
	text := x.Text()
	x.Fatalf("never saw %s: …%q", what, text[max(0, len(text)-2000):])
}

// Keys types s.
func (x *Terminal) Keys(s string) {
	x.Helper()
	_, err := x.master.WriteString(s)
	x.must(err)
}

// Settings are those of the terminal now.
func (x *Terminal) Settings() unix.Termios {
	x.Helper()
	s, err := unix.IoctlGetTermios(int(x.slave.Fd()), unix.TCGETS)
	x.must(err)
	return *s
}
