package clustertest

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A Proxy is between a client and a server: it delays all bytes, as over a long line, and it can fall silent.
type Proxy struct {
	Host string // address for clients

	to     string
	delay  time.Duration // for each way
	turns  atomic.Int64
	dials  atomic.Int64
	passed atomic.Int64 // bytes from the server
	stopAt atomic.Int64 // after so many bytes from the server nothing comes any more; 0: never

	ln    net.Listener
	mu    sync.Mutex
	conns map[net.Conn]bool
	gone  bool
}

// NewProxy starts one before a server, and ends it with the test. A round trip takes roundTrip in addition to the
// time of server and client.
func NewProxy(tb testing.TB, s *Server, roundTrip time.Duration) *Proxy {
	tb.Helper()
	return NewProxyTo(tb, s.Host, roundTrip)
}

// NewProxyTo does for any address.
func NewProxyTo(tb testing.TB, to string, roundTrip time.Duration) *Proxy {
	tb.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	p := &Proxy{Host: ln.Addr().String(), to: to, delay: roundTrip / 2, ln: ln, conns: map[net.Conn]bool{}}
	tb.Cleanup(p.close)
	go p.accept()
	return p
}

// Turns is how often a client sent something after it had an answer, on all connections: round trips, many of them at
// the same time.
func (p *Proxy) Turns() int64 { return p.turns.Load() }

// Dials is how many connections were made.
func (p *Proxy) Dials() int64 { return p.dials.Load() }

// Passed is how many bytes came from the server.
func (p *Proxy) Passed() int64 { return p.passed.Load() }

// StopAfter lets so many more bytes of the server through, and then nothing, on any connection. 0 lets all through
// again, of new connections.
func (p *Proxy) StopAfter(bytes int64) {
	if bytes > 0 {
		bytes += p.passed.Load()
	}
	p.stopAt.Store(bytes)
}

func (p *Proxy) close() {
	_ = p.ln.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.gone = true
	for c := range p.conns {
		_ = c.Close()
	}
}

// hold keeps a connection to be closed in the end; false: that was already.
func (p *Proxy) hold(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.gone {
		_ = c.Close()
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) accept() {
	for {
		client, err := p.ln.Accept()
		if err != nil {
			return
		}
		p.dials.Add(1)
		go func() {
			time.Sleep(2 * p.delay) // the handshake of the connection itself
			server, err := net.Dial("tcp", p.to)
			if err != nil {
				_ = client.Close()
				return
			}
			if !p.hold(client) || !p.hold(server) {
				return
			}
			var answered atomic.Bool
			answered.Store(true)
			go p.pass(server, client, func(int) bool {
				if answered.Swap(false) {
					p.turns.Add(1)
				}
				return true
			})
			p.pass(client, server, func(n int) bool {
				answered.Store(true)
				stop := p.stopAt.Load()
				return p.passed.Add(int64(n)) < stop || stop == 0
			})
		}()
	}
}

// pass moves bytes from one side to the other, each after the delay; the line holds any number of them.
func (p *Proxy) pass(to, from net.Conn, see func(n int) bool) {
	type piece struct {
		bytes []byte
		due   time.Time
	}
	line := make(chan piece, 1<<12)
	go func() {
		defer to.Close()
		for x := range line {
			time.Sleep(time.Until(x.due))
			if _, err := to.Write(x.bytes); err != nil {
				break
			}
		}
		for range line { // until the other side has seen it
		}
	}()
	defer close(line)
	for {
		buf := make([]byte, 64<<10)
		n, err := from.Read(buf)
		if n > 0 {
			if !see(n) {
				_, _ = io.Copy(io.Discard, from) // silent, until the client has gone
				return
			}
			line <- piece{buf[:n], time.Now().Add(p.delay)}
		}
		if err != nil {
			return
		}
	}
}
