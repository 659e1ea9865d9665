package postgres_test

import (
	"encoding/binary"
	"io"
	"net"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// proxy stands between a store and its server and knows the protocol well
// enough to tell when a transaction is sent with its COMMIT.
type proxy struct {
	t       testing.TB
	backend string
	url     string

	mu      sync.Mutex
	commits int                     // transactions seen
	fault   func(commit int) *fault // what to do with one, nil for nothing
	open    map[net.Conn]struct{}   // client connections
}

// fault is what happens to one transaction.
type fault struct {
	forward int           // how many of its bytes reach the server, -1 for all
	hold    chan struct{} // the answer waits until it is closed, nil for no wait
	drop    bool          // the answer is dropped and the connection cut
	answer  []byte        // is sent instead of asking the server
}

const everything = -1

func newProxy(t testing.TB, address string) *proxy {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{t: t, backend: u.Host, open: map[net.Conn]struct{}{}}
	u.Host = l.Addr().String()
	p.url = u.String()
	t.Cleanup(func() { l.Close(); p.cut() })
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go p.serve(client)
		}
	}()
	return p
}

// at makes the fault happen to the n-th transaction from now.
func (p *proxy) at(n int, f fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits = 0
	p.fault = func(commit int) *fault {
		if commit == n {
			return &f
		}
		return nil
	}
}

// cut ends all connections.
func (p *proxy) cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.open {
		c.Close()
	}
}

func (p *proxy) seen() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commits
}

func (p *proxy) next() *fault {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commits++
	if p.fault == nil {
		return nil
	}
	return p.fault(p.commits)
}

// link is one connection through the proxy.
type link struct {
	client, server net.Conn
	statements     map[string]string // by the name they were prepared under

	ended chan struct{} // the server says no more

	mu   sync.Mutex
	mute bool // what the server says is dropped; its end of the transaction ends the link
	hold chan struct{}
}

func (l *link) close() { l.client.Close(); l.server.Close() }

func (p *proxy) serve(client net.Conn) {
	server, err := net.Dial("tcp4", p.backend)
	if err != nil {
		client.Close()
		return
	}
	l := &link{client: client, server: server, statements: map[string]string{}, ended: make(chan struct{})}
	p.mu.Lock()
	p.open[client], p.open[server] = struct{}{}, struct{}{}
	p.mu.Unlock()
	defer func() {
		l.close()
		p.mu.Lock()
		delete(p.open, client)
		delete(p.open, server)
		p.mu.Unlock()
	}()
	go l.answers()
	p.requests(l)
}

// message reads one message; the first one of a client has no type.
func message(from io.Reader, typed bool) (kind byte, all []byte, err error) {
	head := make([]byte, 5)
	if !typed {
		head = head[:4]
	}
	if _, err := io.ReadFull(from, head); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[len(head)-4:])
	all = append(head, make([]byte, size-4)...)
	_, err = io.ReadFull(from, all[len(head):])
	return head[0], all, err
}

// requests passes on what the client sends, a whole round trip at a time.
func (p *proxy) requests(l *link) {
	_, first, err := message(l.client, false)
	if err != nil {
		return
	}
	if _, err := l.server.Write(first); err != nil {
		return
	}
	var flight []byte
	commits := false
	for {
		kind, m, err := message(l.client, true)
		if err != nil {
			return
		}
		flight = append(flight, m...)
		switch kind {
		case 'P':
			name, rest, _ := strings.Cut(string(m[5:]), "\x00")
			l.statements[name], _, _ = strings.Cut(rest, "\x00")
		case 'B':
			_, rest, _ := strings.Cut(string(m[5:]), "\x00")
			name, _, _ := strings.Cut(rest, "\x00")
			commits = commits || l.statements[name] == "COMMIT"
		}
		if kind != 'S' && kind != 'p' && kind != 'X' {
			continue
		}
		var f *fault
		if commits {
			f = p.next()
		}
		if !l.pass(flight, f) {
			return
		}
		flight, commits = nil, false
	}
}

// pass does to a round trip what the fault says, and reports whether the
// connection goes on.
func (l *link) pass(flight []byte, f *fault) bool {
	if f == nil {
		_, err := l.server.Write(flight)
		return err == nil
	}
	if f.answer != nil {
		_, err := l.client.Write(f.answer)
		return err == nil
	}
	l.mu.Lock()
	l.mute, l.hold = f.drop, f.hold
	l.mu.Unlock()
	if f.forward == everything {
		_, err := l.server.Write(flight)
		return err == nil
	}
	_, _ = l.server.Write(flight[:min(f.forward, len(flight))])
	_ = l.server.(*net.TCPConn).CloseWrite()
	<-l.ended // the server has done what it was told to
	return false
}

// answers passes on what the server says.
func (l *link) answers() {
	defer l.close()
	defer close(l.ended)
	for {
		kind, m, err := message(l.server, true)
		if err != nil {
			return
		}
		l.mu.Lock()
		mute, hold := l.mute, l.hold
		l.mu.Unlock()
		if hold != nil {
			<-hold
		}
		if mute {
			if kind == 'Z' { // it is done
				return
			}
			continue
		}
		if _, err := l.client.Write(m); err != nil {
			return
		}
	}
}

// refusal is the server's answer to a round trip that fails with a code.
func refusal(severity, code string) []byte {
	body := "S" + severity + "\x00V" + severity + "\x00C" + code + "\x00Mmade up by a test\x00\x00"
	m := append([]byte{'E'}, binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))...)
	m = append(m, body...)
	return append(m, 'Z', 0, 0, 0, 5, 'I')
}
