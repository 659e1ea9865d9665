package testproxy

import (
	"net"
	"sync"
	"testing"
	"time"
)

// Fault is what happens to one request.
type Fault int

// The faults.
const (
	None        Fault = iota
	LoseRequest       // the connection breaks before the server gets it
	LoseReply         // the connection breaks after the server has answered
	Silence           // the server gets it, and nothing ever comes back
)

// Proxy forwards connections to a server on loopback.
type Proxy struct {
	Addr string // where clients connect to

	target string
	listen net.Listener
	all    sync.WaitGroup

	mu     sync.Mutex
	closed bool
	conns  map[net.Conn]struct{}
	fault  func(request []byte) Fault
	delay  func() time.Duration
}

// New starts a proxy in front of a server's address. It ends with the test.
func New(t testing.TB, target string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{Addr: l.Addr().String(), target: target, listen: l, conns: map[net.Conn]struct{}{}}
	p.all.Go(p.accept)
	t.Cleanup(p.close)
	return p
}

// Fault asks f about every piece of a request that comes from now on, mostly a
// whole request. nil asks nobody.
func (p *Proxy) Fault(f func(request []byte) Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault = f
}

// Delay makes every reply wait from now on.
func (p *Proxy) Delay(d time.Duration) {
	p.delayBy(func() time.Duration { return d })
}

func (p *Proxy) delayBy(f func() time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = f
}

// Cut breaks all connections. New ones can be made.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.conns {
		_ = c.Close()
	}
}

func (p *Proxy) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	_ = p.listen.Close()
	p.Cut()
	p.all.Wait()
}

// keep remembers a connection for Cut, unless the proxy has ended.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = c.Close()
		return false
	}
	p.conns[c] = struct{}{}
	return true
}

func (p *Proxy) forget(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *Proxy) accept() {
	for {
		client, err := p.listen.Accept()
		if err != nil {
			return
		}
		if p.keep(client) {
			p.all.Go(func() { p.serve(client) })
		}
	}
}

func (p *Proxy) serve(client net.Conn) {
	defer p.forget(client)
	server, err := net.Dial("tcp4", p.target)
	if err != nil || !p.keep(server) {
		return
	}
	defer p.forget(server)
	l := link{proxy: p, client: client, server: server}
	p.all.Go(l.replies)
	l.requests()
}

// link is one connection of a client.
type link struct {
	proxy          *Proxy
	client, server net.Conn

	mu   sync.Mutex
	next Fault // of the reply to come
}

func (l *link) requests() {
	buf := make([]byte, 64<<10)
	for {
		n, err := l.client.Read(buf)
		if err != nil {
			return
		}
		l.proxy.mu.Lock()
		ask := l.proxy.fault
		l.proxy.mu.Unlock()
		if ask != nil {
			fault := ask(buf[:n])
			if fault == LoseRequest {
				return
			}
			l.mu.Lock()
			l.next = max(l.next, fault)
			l.mu.Unlock()
		}
		if _, err := l.server.Write(buf[:n]); err != nil {
			return
		}
	}
}

// replies ends the link when the server does, or when a reply is to be lost.
func (l *link) replies() {
	defer l.client.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := l.server.Read(buf)
		if err != nil {
			return
		}
		l.proxy.mu.Lock()
		delay := l.proxy.delay
		l.proxy.mu.Unlock()
		if delay != nil {
			time.Sleep(delay())
		}
		l.mu.Lock()
		fault := l.next
		l.mu.Unlock()
		switch fault {
		case LoseReply:
			return
		case Silence:
			continue
		}
		if _, err := l.client.Write(buf[:n]); err != nil {
			return
		}
	}
}
