package server

import (
	"net"
	"net/http"
	"sync"
	"time"
)

// Clients bounds the share of one client, so that none keeps the others out: its requests at once, and its wrong
// tokens per minute. A client is an address, or the holder of a token if all come from one address (a socket, a
// proxy).
type clients struct {
	atOnce int
	now    func() time.Time

	mu   sync.Mutex
	seen map[string]*client
}

type client struct {
	active int
	wrong  int
	since  time.Time // of the wrong ones
}

const (
	mostWrong  = 20 // tokens a minute
	maxClients = 4096
)

var (
	errClientBusy = &apiError{Status: http.StatusTooManyRequests, Kind: "busy",
		Message: "you have too many requests under way", Hint: "wait for some of them"}
	errGuessing = &apiError{Status: http.StatusTooManyRequests, Kind: "forbidden", Message: "too many wrong tokens",
		Hint: "try again in a minute, with the address that parallax printed"}
)

func newClients(atOnce int) *clients {
	return &clients{atOnce: atOnce, now: time.Now, seen: map[string]*client{}}
}

// addressOf returns the address of a request's sender, without the port.
func addressOf(r *http.Request) string {
	if host, _, err := net.SplitHostPort(r.RemoteAddr); err == nil {
		return host
	}
	return "socket"
}

// clientName returns the name of a client: its address, or its token.
func clientName(r *http.Request) string {
	address := addressOf(r)
	if t := holderOf(r); t != nil && t.Name != "" {
		return address + " " + t.Name
	}
	return address
}

// of finds a client; c.mu is held.
func (c *clients) of(name string) *client {
	x := c.seen[name]
	if x == nil {
		if len(c.seen) >= maxClients {
			for key, old := range c.seen {
				if old.active == 0 && c.now().Sub(old.since) >= time.Minute {
					delete(c.seen, key)
				}
			}
		}
		x = &client{}
		c.seen[name] = x
	}
	return x
}

// enter takes a place for a request; leave must be called where it is taken.
func (c *clients) enter(name string) (leave func(), ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.of(name)
	if x.active >= c.atOnce {
		return nil, false
	}
	x.active++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if x.active--; x.active == 0 && x.wrong == 0 {
			delete(c.seen, name)
		}
	}, true
}

// wrong counts a wrong token, and reports whether the address has sent too many lately.
func (c *clients) wrong(address string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := c.of(address)
	if now := c.now(); now.Sub(x.since) >= time.Minute {
		x.wrong, x.since = 0, now
	}
	x.wrong++
	return x.wrong > mostWrong
}
