package server

import (
	"html"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// A guard decides whether a request is ours: the Host is one we listen as (a foreign page cannot reach us by a name of
// its own), the Origin is our own (a foreign page cannot write), and the token is there (other users of the machine
// cannot read).
type guard struct {
	tokens []Token
	now    func() time.Time
	mu     sync.RWMutex
	hosts  map[string]bool
	// anyIP: we listen on all addresses, so any literal address may be us. Names are still listed: only by a name can
	// a browser be made to send us requests meant for another site.
	anyIP    bool
	clients  *clients
	proxy    *Proxy                              // nil: none signs people in
	tokensIn func() (list []Token, changed bool) // the present tokens of the file; nil: there is none
	looked   time.Time                           // when it was asked last
}

// renewEvery is how long a token that was revoked may still be good.
const renewEvery = time.Second

// renew takes the tokens of the file where it has changed. Those that were shared stay.
func (g *guard) renew() {
	if g.tokensIn == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.now().Sub(g.looked) < renewEvery {
		return
	}
	g.looked = g.now()
	list, changed := g.tokensIn()
	if !changed {
		return
	}
	for _, t := range g.tokens {
		if t.shared && slices.ContainsFunc(list, func(o Token) bool { return o.Name == t.by }) {
			list = append(list, t)
		}
	}
	g.tokens = list
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

// ownName returns this machine's name if it has one, for an address that others can open.
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
	g.renew()
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
	default:
		return g.admit(s, w, r)
	}
	return nil
}

// admit looks for a token. A right one always passes, even if others sent wrong ones from the same address: behind a
// proxy all share one. Only wrong ones have to wait.
func (g *guard) admit(s *Server, w http.ResponseWriter, r *http.Request) *http.Request {
	brought, wrongOne := g.brought(r)
	held, wrongOther := g.held(r)
	switch {
	case brought != nil:
		g.welcome(w, r, brought, r.URL.Query().Get("token"))
	case held != nil:
		return withHolder(r, held)
	case (wrongOne || wrongOther) && g.clients.wrong(addressOf(r)):
		s.fail(w, r, errGuessing)
	default:
		g.refuse(s, w, r)
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

// sameOrigin refuses requests that, by their headers, come from another page. Other ports of this machine share our
// cookies, so "same-site" is not enough for the API.
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

// brought returns the token in the address of a page; wrong: it is not valid.
func (g *guard) brought(r *http.Request) (t *Token, wrong bool) {
	if value := r.URL.Query().Get("token"); value != "" && !strings.HasPrefix(r.URL.Path, "/api/") {
		t = g.holder(value)
		return t, t == nil
	}
	return nil, false
}

// held returns the token that a request carries, or that of the user whom a trusted proxy names; wrong: it is not
// valid.
func (g *guard) held(r *http.Request) (t *Token, wrong bool) {
	if t := g.vouchedFor(r); t != nil {
		return t, false
	}
	if bearer, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		t = g.holder(bearer)
		return t, t == nil
	}
	c, err := r.Cookie(cookieName(r))
	if err != nil {
		return nil, false
	}
	return g.holder(c.Value), false // a cookie of a server before is no guess
}

// A Proxy signs people in, and names them in a header of each request. It is trusted by the address that it comes
// from: requests over a unix socket, and from these addresses.
type Proxy struct {
	Header string
	From   []netip.Prefix
}

// vouchedFor returns the holder whom a trusted proxy names.
func (g *guard) vouchedFor(r *http.Request) *Token {
	if g.proxy == nil || len(r.Header.Values(g.proxy.Header)) != 1 || !g.proxy.trusts(r) {
		return nil
	}
	return g.named(r.Header.Get(g.proxy.Header))
}

func (p *Proxy) trusts(r *http.Request) bool {
	from, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return addressOf(r) == "socket"
	}
	for _, x := range p.From {
		if x.Contains(from.Addr().Unmap()) {
			return true
		}
	}
	return false
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
func (g *guard) welcome(w http.ResponseWriter, r *http.Request, t *Token, value string) {
	http.SetCookie(w, &http.Cookie{
		Name: cookieName(r), Value: value, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode,
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

// quoteShort quotes text of a stranger for messages.
func quoteShort(s string) string {
	if len(s) > 80 {
		s = s[:80] + "…"
	}
	return `"` + strings.ToValidUTF8(s, "?") + `"`
}
