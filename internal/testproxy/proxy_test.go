package testproxy_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/flowtui/flowtui/internal/testproxy"
)

// echo is a server that answers each line, and remembers it.
type echo struct {
	addr  string
	mu    sync.Mutex
	lines []string
}

func newEcho(t *testing.T) *echo {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	e := &echo{addr: l.Addr().String()}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go e.serve(c)
		}
	}()
	return e
}

func (e *echo) serve(c net.Conn) {
	defer c.Close()
	for in := bufio.NewScanner(c); in.Scan(); {
		e.mu.Lock()
		e.lines = append(e.lines, in.Text())
		e.mu.Unlock()
		fmt.Fprintln(c, "re: "+in.Text())
	}
}

func (e *echo) heard(line string) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Contains(strings.Join(e.lines, "\n"), line)
}

func dial(t *testing.T, p *testproxy.Proxy) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp4", p.Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c, bufio.NewReader(c)
}

func TestFaults(t *testing.T) {
	for name, c := range map[string]struct {
		fault testproxy.Fault
		done  bool // the server got the request
		err   error
	}{
		"none":         {testproxy.None, true, nil},
		"lost request": {testproxy.LoseRequest, false, io.EOF},
		"lost reply":   {testproxy.LoseReply, true, io.EOF},
		"silence":      {testproxy.Silence, true, os.ErrDeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			e := newEcho(t)
			p := testproxy.New(t, e.addr)
			p.Fault(func(request []byte) testproxy.Fault {
				if strings.Contains(string(request), "pay") {
					return c.fault
				}
				return testproxy.None
			})
			conn, in := dial(t, p)
			fmt.Fprintln(conn, "look")
			if line, err := in.ReadString('\n'); line != "re: look\n" || err != nil {
				t.Fatalf("%q, %v", line, err)
			}
			fmt.Fprintln(conn, "pay")
			if c.fault == testproxy.Silence {
				waitFor(t, func() bool { return e.heard("pay") })
				if err := conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond)); err != nil {
					t.Fatal(err)
				}
			}
			line, err := in.ReadString('\n')
			if c.err == nil && line != "re: pay\n" || !errors.Is(err, c.err) {
				t.Errorf("%q, %v, want %v", line, err, c.err)
			}
			if e.heard("pay") != c.done {
				t.Errorf("the server got the request: %v", !c.done)
			}
			p.Fault(nil)
			conn, in = dial(t, p)
			fmt.Fprintln(conn, "pay again")
			if line, err := in.ReadString('\n'); line != "re: pay again\n" || err != nil {
				t.Errorf("on a new connection: %q, %v", line, err)
			}
		})
	}
}

func TestCutAndDelay(t *testing.T) {
	p := testproxy.New(t, newEcho(t).addr)
	conn, in := dial(t, p)
	const delay = 100 * time.Millisecond
	p.Delay(delay)
	start := time.Now()
	fmt.Fprintln(conn, "slow")
	if line, err := in.ReadString('\n'); line != "re: slow\n" || err != nil {
		t.Errorf("%q, %v", line, err)
	}
	if took := time.Since(start); took < delay {
		t.Errorf("the reply took %s", took)
	}
	p.Cut()
	if line, err := in.ReadString('\n'); err == nil {
		t.Errorf("%q after the cut", line)
	}
}

func waitFor(t *testing.T, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("waited 10 s")
		}
	}
}
