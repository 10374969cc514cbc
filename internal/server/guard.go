package server

import (
	"html"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"
)

// A guard decides whether a request is ours: the Host is one we listen as (a
// foreign page cannot reach us by a name of its own), the Origin is our own (a
// foreign page cannot write), and the token is there (nobody else on the machine
// can read).
type guard struct {
	tokens []Token
	now    func() time.Time
	mu     sync.RWMutex
	hosts  map[string]bool
	// anyIP: we listen on all addresses, so any literal address may be us. Names
	// are still listed: it takes a name to make a browser send us what it
	// believes to be another site's.
	anyIP   bool
	clients *clients
}

func newGuard(tokens []Token, hosts []string) *guard {
	g := &guard{tokens: tokens, now: time.Now,
		hosts: map[string]bool{"localhost": true, "127.0.0.1": true, "::1": true}}
	for _, h := range hosts {
		g.hosts[strings.ToLower(h)] = true
	}
	return g
}

// allow adds the names of a listener.
func (g *guard) allow(a net.Addr) {
	host, _, err := net.SplitHostPort(a.String())
	if err != nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		g.anyIP = true
		if name, err := os.Hostname(); err == nil {
			g.hosts[strings.ToLower(name)] = true
		}
		return
	}
	g.hosts[strings.ToLower(host)] = true
}

// ownName is this machine's name where it has one, for an address that others can open.
func (g *guard) ownName() string {
	if name, err := os.Hostname(); err == nil && name != "" {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.hosts[strings.ToLower(name)] = true
		return name
	}
	return "localhost"
}

// check answers requests that must not pass, and those that bring the token in
// the address; then it gives nil. Others it gives back with who sent them.
func (g *guard) check(s *Server, w http.ResponseWriter, r *http.Request) *http.Request {
	if g.clients.guesses(addressOf(r)) {
		s.fail(w, r, errGuessing)
		return nil
	}
	brought, held := g.brought(r), g.held(r)
	switch {
	case !g.knows(r.Host):
		s.fail(w, r,
			&apiError{Status: http.StatusMisdirectedRequest, Kind: "forbidden",
				Message: "this server does not answer for host " + quoteShort(r.Host),
				Hint:    "open the address that parallax printed"})
	case !sameOrigin(r):
		s.fail(w, r,
			&apiError{Status: http.StatusForbidden, Kind: "forbidden",
				Message: "requests from other pages are refused"})
	case brought != nil:
		g.welcome(w, r, brought)
	case held == nil:
		g.refuse(s, w, r)
	default:
		return withHolder(r, held)
	}
	return nil
}

// knows reports whether the host, without its port, is one of ours. The port is
// left out because a tunnel may change it.
func (g *guard) knows(hostport string) bool {
	host := hostport
	if h, _, err := net.SplitHostPort(hostport); err == nil {
		host = h
	}
	host = strings.ToLower(strings.Trim(host, "[]"))
	g.mu.RLock()
	defer g.mu.RUnlock()
	return g.hosts[host] || g.anyIP && net.ParseIP(host) != nil
}

// sameOrigin refuses what a browser says comes from another page. Other ports of
// this machine share our cookies, so "same-site" is not enough for the API.
func sameOrigin(r *http.Request) bool {
	if o := r.Header.Get("Origin"); o != "" {
		u, err := url.Parse(o)
		if err != nil || u.Host == "" || !strings.EqualFold(u.Host, r.Host) {
			return false
		}
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return !strings.HasPrefix(r.URL.Path, "/api/") || site == "" || site == "same-origin" || site == "none"
}

// brought is whose token stands in the address of a page.
func (g *guard) brought(r *http.Request) *Token {
	if value := r.URL.Query().Get("token"); value != "" && !strings.HasPrefix(r.URL.Path, "/api/") {
		return g.known(r, value)
	}
	return nil
}

// held is whose token a request carries.
func (g *guard) held(r *http.Request) *Token {
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		return g.known(r, bearer)
	}
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return nil
	}
	return g.holder(c.Value) // a cookie of a server before is no guess
}

// known is holder, and counts what is wrong.
func (g *guard) known(r *http.Request, value string) *Token {
	t := g.holder(value)
	if t == nil {
		g.clients.wrong(addressOf(r))
	}
	return t
}

// cookieName holds the port as the browser sees it: cookies are shared by all
// ports of a host, and several servers may be open side by side.
func cookieName(r *http.Request) string {
	if _, port, err := net.SplitHostPort(r.Host); err == nil {
		return "parallax-" + port
	}
	return "parallax-80"
}

// welcome keeps the token in a cookie and goes on to the address without it.
func (g *guard) welcome(w http.ResponseWriter, r *http.Request, t *Token) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: t.Value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
		Secure: r.TLS != nil, Expires: t.Until,
	})
	q := r.URL.Query()
	q.Del("token")
	inFrame := r.URL.Path == framePath
	to := url.URL{Path: "/" + strings.TrimLeft(strings.TrimPrefix(r.URL.Path, framePath), "/"), RawQuery: q.Encode()}
	if r.Header.Get("Sec-Fetch-Site") != "cross-site" && !inFrame {
		http.Redirect(w, r, to.String(), http.StatusSeeOther)
		return
	}
	// A browser keeps strict cookies back along a chain of redirects that began on
	// another site, such as a chat; a page of our own that moves on does not.
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Write([]byte(`<!doctype html><meta http-equiv="refresh" content="0;url=` + html.EscapeString(to.String()) +
		`"><title>Parallax</title>`))
}

func (g *guard) refuse(s *Server, w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/api/") {
		s.fail(w, r,
			&apiError{Status: http.StatusForbidden, Kind: "forbidden", Message: "the token is missing or wrong",
				Hint: "open the address that parallax printed"})
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(http.StatusForbidden)
	w.Write([]byte(`<!doctype html><html lang="en"><meta charset="utf-8"><title>Parallax</title>` +
		`<h1>This address needs its token</h1>` +
		`<p>Open the whole address that parallax printed when it started: it ends in <code>?token=…</code>. ` +
		`On another port there is another one.</p></html>`))
}

// quoteShort is for messages that repeat what a stranger sent.
func quoteShort(s string) string {
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return `"` + strings.ToValidUTF8(s, "?") + `"`
}
