package server

import (
	"context"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestOnlyOurOwnRequestsPass(t *testing.T) {
	h := start(t, func(c *Config) { c.Hosts = []string{"login.example.org"} })
	host := strings.TrimPrefix(h.http.URL, "http://")
	_, port, _ := net.SplitHostPort(host)
	none := func(r *http.Request) { r.Header.Del("Authorization") }
	set := func(key, value string) func(*http.Request) {
		return func(r *http.Request) {
			if key == "Host" {
				r.Host = value
				return
			}
			r.Header.Set(key, value)
		}
	}
	cases := []struct {
		name, path string
		change     func(*http.Request)
		status     int
	}{
		{"with the token", "/api/runs", nil, 200},
		{"without the token", "/api/runs", none, 403},
		{"with a wrong token", "/api/runs", set("Authorization", "Bearer wrong"), 403},
		{"with the token in an API address", "/api/runs?token=secret", none, 403},
		{"the page without the token", "/", none, 403},
		{"the page's files without the token", "/main.js", none, 403},
		{"with the cookie", "/api/runs", func(r *http.Request) { none(r); r.AddCookie(&http.Cookie{Name: "parallax-" + port, Value: "secret"}) }, 200},
		{"with the cookie of another port", "/api/runs", func(r *http.Request) { none(r); r.AddCookie(&http.Cookie{Name: "parallax-1", Value: "secret"}) }, 403},
		{"a foreign host", "/api/runs", set("Host", "evil.example"), 421},
		{"a foreign host that begins like ours", "/api/runs", set("Host", "localhost.evil.example:"+port), 421},
		{"no host", "/api/runs", set("Host", "["), 421},
		{"localhost on a tunnel's port", "/api/runs", set("Host", "localhost:9999"), 200},
		{"IPv6 loopback", "/api/runs", set("Host", "[::1]:9999"), 200},
		{"a host that was configured", "/api/runs", set("Host", "LOGIN.example.org"), 200},
		{"our own origin", "/api/runs", set("Origin", h.http.URL), 200},
		{"another origin", "/api/runs", set("Origin", "http://evil.example"), 403},
		{"another port's origin", "/api/runs", set("Origin", "http://127.0.0.1:1"), 403},
		{"no origin of a sandbox", "/api/runs", set("Origin", "null"), 403},
		{"an image on another site", "/api/runs", set("Sec-Fetch-Site", "cross-site"), 403},
		{"a page on another port", "/api/runs", set("Sec-Fetch-Site", "same-site"), 403},
		{"the page itself", "/api/runs", set("Sec-Fetch-Site", "same-origin"), 200},
		{"a typed address", "/api/runs", set("Sec-Fetch-Site", "none"), 200},
		{"a link to the page", "/", set("Sec-Fetch-Site", "cross-site"), 200},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			answer, body := h.ask("GET", c.path, "", c.change)
			if answer.StatusCode != c.status {
				t.Errorf("answers %d, want %d: %s", answer.StatusCode, c.status, body)
			}
			if strings.Contains(body, "secret") {
				t.Error("the answer holds the token")
			}
			if answer.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("other origins are allowed")
			}
		})
	}
}

func TestTokenInTheAddressBecomesACookie(t *testing.T) {
	h := start(t, nil)
	none := func(r *http.Request) { r.Header.Del("Authorization") }
	answer, _ := h.ask("GET", "/?token=secret&run=a%20b&x=1", "", none)
	if answer.StatusCode != 303 || answer.Header.Get("Location") != "/?run=a+b&x=1" {
		t.Fatalf("answers %d to %q, want a redirect to the address without its token", answer.StatusCode, answer.Header.Get("Location"))
	}
	c := answer.Cookies()[0]
	if !c.HttpOnly || c.SameSite != http.SameSiteStrictMode || !strings.HasPrefix(c.Name, "parallax-") {
		t.Errorf("cookie %+v can be read by scripts or other sites", c)
	}
	answer, _ = h.ask("GET", "/", "", func(r *http.Request) { none(r); r.AddCookie(c) })
	if answer.StatusCode != 200 {
		t.Errorf("the page answers %d with its cookie", answer.StatusCode)
	}
	// A link in a chat: browsers hold strict cookies back along redirects from elsewhere.
	answer, body := h.ask("GET", "/?token=secret&x=%22%3E%3Cscript%3E", "", func(r *http.Request) { none(r); r.Header.Set("Sec-Fetch-Site", "cross-site") })
	if answer.StatusCode != 200 || !strings.Contains(body, "http-equiv") || strings.Contains(body, "<script>") || strings.Contains(body, "secret") {
		t.Errorf("answers %d: %s", answer.StatusCode, body)
	}
	// No redirect leaves this server.
	for _, path := range []string{"//evil.example/?token=secret", "/%2Fevil.example/?token=secret"} {
		answer, _ = h.ask("GET", path, "", none)
		if to := answer.Header.Get("Location"); strings.HasPrefix(to, "//") || strings.Contains(to, "://") {
			t.Errorf("%s leads to %s", path, to)
		}
	}
}

func TestEveryAnswerCarriesItsHeaders(t *testing.T) {
	h := start(t, nil)
	for _, path := range []string{"/", "/api/runs", "/api/nothing", "/none"} {
		answer, _ := h.ask("GET", path, "", nil)
		for key, want := range map[string]string{
			"Content-Security-Policy": "default-src 'none'", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		} {
			if got := answer.Header.Get(key); !strings.Contains(got, want) {
				t.Errorf("%s: %s is %q, want %q", path, key, got, want)
			}
		}
		if csp := answer.Header.Get("Content-Security-Policy"); strings.Contains(csp, "unsafe") || strings.Contains(csp, "http") {
			t.Errorf("%s: policy %q opens a door", path, csp)
		}
	}
}

func TestAssetsAreKeptByTheirContent(t *testing.T) {
	h := start(t, nil)
	answer, body := h.ask("GET", "/", "", func(r *http.Request) { r.Header.Set("Accept-Encoding", "identity") })
	etag := answer.Header.Get("ETag")
	if answer.StatusCode != 200 || etag == "" || !strings.Contains(body, "Parallax") {
		t.Fatalf("answers %d with ETag %q", answer.StatusCode, etag)
	}
	answer, body = h.ask("GET", "/", "", func(r *http.Request) {
		r.Header.Set("Accept-Encoding", "identity")
		r.Header.Set("If-None-Match", `"x", `+etag)
	})
	if answer.StatusCode != 304 || body != "" {
		t.Errorf("answers %d with %d bytes to an unchanged file", answer.StatusCode, len(body))
	}
	answer, _ = h.ask("GET", "/", "", func(r *http.Request) { r.Header.Set("Accept-Encoding", "gzip;q=0.5, br") })
	if answer.Header.Get("Content-Encoding") != "gzip" || answer.Header.Get("ETag") == etag {
		t.Error("the packed file is not sent, or shares its ETag with the plain one")
	}
	if got := answer.Header.Get("Content-Type"); got != "text/html; charset=utf-8" {
		t.Errorf("content type %q", got)
	}
	answer, _ = h.ask("POST", "/", "", nil)
	if answer.StatusCode != 405 {
		t.Errorf("POST / answers %d", answer.StatusCode)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	s, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := s.Address(l.Addr())
	if !strings.HasPrefix(address, "http://127.0.0.1:") || len(address) < 40 {
		t.Errorf("address %q holds no random token", address)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() { done <- s.Serve(ctx, l) }()
	answer, err := http.Get(strings.Replace(address, "/?", "/api/runs?", 1))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	http.DefaultClient.CloseIdleConnections()
	cancel()
	select {
	case err := <-done:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(patience):
		t.Fatal("the server does not end")
	}
}
