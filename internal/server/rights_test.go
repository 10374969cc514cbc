package server

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/view"
)

func bearer(token string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
}

var team = []Token{
	{Name: "root", Value: "root-root-root-root", Admin: true}, {Name: "alice", Value: "alice-alice-alice"},
	{Name: "bob", Value: "bob-bob-bob-bob-bob"}, {Name: "guest", Value: "guest-guest-guest", ReadOnly: true},
	{Name: "narrow", Value: "narrow-narrow-narrow", ReadOnly: true, Runs: []string{"small*"}},
}

// Behind a proxy all come from one address.
func TestWrongTokensNeverLockOutTheRightOne(t *testing.T) {
	h := start(t, nil)
	for range 3 * mostWrong {
		h.ask("GET", "/api/runs", "", bearer("guess"))
		h.ask("GET", "/?token=guess", "", nil)
	}
	if answer, _ := h.ask("GET", "/api/runs", "", bearer("guess")); answer.StatusCode != 429 {
		t.Errorf("one more wrong token answers %d, want 429", answer.StatusCode)
	}
	if answer, _ := h.ask("GET", "/api/runs", "", nil); answer.StatusCode != 200 {
		t.Errorf("the right token answers %d", answer.StatusCode)
	}
}

func TestTokensOfOtherHostsAreNotCounted(t *testing.T) {
	h := start(t, nil)
	for range 3 * mostWrong {
		h.ask("GET", "/?token=guess", "", func(r *http.Request) { r.Host = "evil.example" })
	}
	if answer, _ := h.ask("GET", "/api/runs", "", bearer("guess")); answer.StatusCode != 403 {
		t.Errorf("a wrong token answers %d, want 403", answer.StatusCode)
	}
}

// teamOf is a server with holders, that opens whatever it is asked for.
func teamOf(t *testing.T, change func(*Config)) *harness {
	return start(t, func(c *Config) {
		c.Tokens = team
		c.Open = func(_ context.Context, o Opening) ([]view.Run, error) {
			if strings.Contains(o.Sources[0], "unknown") {
				cause := importer.Error{File: o.Sources[0], Kind: importer.ErrUnsupported, Cause: `begins with "hunter2"`}
				return nil, &importer.Unknown{Cause: cause}
			}
			if strings.Contains(o.Sources[0], "://") {
				return nil, errors.New("dial " + o.Sources[0])
			}
			return []view.Run{{Name: "own", Source: o.Sources[0], Store: storetest.Text(t, small)}}, nil
		}
		if change != nil {
			change(c)
		}
	})
}

func (h *harness) opens(as, body string) {
	h.t.Helper()
	if answer, text := h.ask("POST", "/api/runs", body, bearer(as)); answer.StatusCode != http.StatusAccepted {
		h.t.Fatalf("%s: %d %s", body, answer.StatusCode, text)
	}
	h.s.work.Wait()
}

func TestRunsAreSeenByThoseWhoMay(t *testing.T) {
	h := teamOf(t, nil)
	h.opens("alice-alice-alice", `{"sources":["/data/own"],"readers":["bob"],"name":"own"}`)
	for _, c := range []struct {
		token, run string
		status     int
	}{
		{"alice-alice-alice", "own", 200}, {"bob-bob-bob-bob-bob", "own", 200}, {"root-root-root-root", "own", 200},
		{"guest-guest-guest", "own", 404}, {"narrow-narrow-narrow", "own", 404}, {"narrow-narrow-narrow", "small.trace", 200},
	} {
		if answer, _ := h.ask("GET", "/api/runs/"+c.run+"/info", "", bearer(c.token)); answer.StatusCode != c.status {
			t.Errorf("%s of %s answers %d, want %d", c.run, c.token, answer.StatusCode, c.status)
		}
		_, list := h.ask("GET", "/api/runs", "", bearer(c.token))
		if strings.Contains(list, `"id":"`+c.run+`"`) != (c.status == 200) {
			t.Errorf("%s lists %s", c.token, list)
		}
	}
	for _, c := range []struct {
		token  string
		status int
	}{{"bob-bob-bob-bob-bob", 403}, {"guest-guest-guest", 403}, {"alice-alice-alice", 204}} {
		if answer, _ := h.ask("DELETE", "/api/runs/own", "", bearer(c.token)); answer.StatusCode != c.status {
			t.Errorf("%s closes it: %d, want %d", c.token, answer.StatusCode, c.status)
		}
	}
}

// A holder opens so many runs, and keeps nobody else from opening one.
func TestAHolderOpensSoManyRuns(t *testing.T) {
	h := teamOf(t, nil)
	open := func(as string, n int) int {
		answer, _ := h.ask("POST", "/api/runs", fmt.Sprintf(`{"sources":["/data/%d"]}`, n), bearer(as))
		return answer.StatusCode
	}
	for i := range maxOwnRuns {
		if s := open("alice-alice-alice", i); s != 202 {
			t.Fatalf("run %d answers %d", i, s)
		}
	}
	if s := open("alice-alice-alice", maxOwnRuns); s != 409 {
		t.Errorf("one more answers %d, want 409", s)
	}
	if s := open("bob-bob-bob-bob-bob", 0); s != 202 {
		t.Errorf("another holder gets %d, want 202", s)
	}
	h.s.work.Wait()
}

func TestErrorsQuoteNeitherFilesNorPasswords(t *testing.T) {
	h := teamOf(t, nil)
	h.opens("alice-alice-alice", `{"sources":["/data/unknown"]}`)
	h.opens("alice-alice-alice", `{"sources":["clickhouse://bob:hunter2@127.0.0.1:1/x/y"]}`)
	for _, x := range team {
		for _, path := range []string{"/api/runs", "/api/runs/unknown/info", "/api/runs/y/info"} {
			if _, body := h.ask("GET", path, "", bearer(x.Value)); strings.Contains(body, "hunter2") {
				t.Errorf("%s reads in %s: %s", x.Name, path, body)
			}
		}
	}
	if _, body := h.ask("GET", "/api/runs", "", bearer("guest-guest-guest")); strings.Contains(body, "failed") ||
		strings.Contains(body, "/data") {
		t.Errorf("a guest reads %s", body)
	}
}

func TestSourcesAreOpenedBelowTheRootsAlone(t *testing.T) {
	root, other := t.TempDir(), t.TempDir()
	if err := os.Symlink(other, filepath.Join(root, "link")); err != nil {
		t.Skip(err)
	}
	roots := []string{root, "clickhouse://db.example:9000/runs"}
	for source, want := range map[string]bool{
		filepath.Join(root, "a"): true, root: true, "demo:stencil": true, filepath.Join(root, "..", "a"): false,
		filepath.Join(root, "link", "a"): false, other: false, "/": false, "/etc/passwd": false, root + "x": false,
		"clickhouse://u:p@db.example:9000/runs/one": true, "clickhouse://db.example:9000/runsx/one": false,
		"clickhouse://db.example:9000@evil/runs/one": false, "clickhouse://evil/db.example:9000/runs/": false,
	} {
		if Below(roots, source) != want {
			t.Errorf("%s: %v", source, !want)
		}
	}
	h := teamOf(t, func(c *Config) { c.Roots = roots })
	answer, body := h.ask("POST", "/api/runs", `{"sources":["/etc/passwd"]}`, bearer("alice-alice-alice"))
	if answer.StatusCode != 403 || !strings.Contains(body, "--root") {
		t.Errorf("%d %s", answer.StatusCode, body)
	}
	if _, err := (Runs{server: h.s}).Open(context.Background(), []string{"/etc/passwd"}); err == nil {
		t.Error("programs open what the page may not")
	}
}

func TestAProxySignsPeopleIn(t *testing.T) {
	tokens := append([]Token{{Name: "carol", Value: NoToken, ReadOnly: true}, {Name: "*", Value: NoToken, ReadOnly: true,
		Runs: []string{"none"}}}, team...)
	as := func(names ...string) func(*http.Request) {
		return func(r *http.Request) {
			r.Header.Del("Authorization")
			r.Header["X-User"] = names
		}
	}
	for _, c := range []struct {
		from   string
		names  []string
		status int
	}{
		{"127.0.0.0/8", []string{"carol"}, 200}, {"127.0.0.0/8", []string{"stranger"}, 404},
		{"127.0.0.0/8", []string{"carol", "alice"}, 403}, {"127.0.0.0/8", []string{"*"}, 404},
		{"127.0.0.0/8", []string{""}, 403}, {"10.0.0.0/8", []string{"carol"}, 403}, {"127.0.0.0/8", nil, 403},
	} {
		h := start(t, func(x *Config) {
			x.Tokens, x.Proxy = tokens, &Proxy{Header: "X-User", From: []netip.Prefix{netip.MustParsePrefix(c.from)}}
		})
		if answer, _ := h.ask("GET", "/api/runs/small.trace/info", "", as(c.names...)); answer.StatusCode != c.status {
			t.Errorf("%v from %s answers %d, want %d", c.names, c.from, answer.StatusCode, c.status)
		}
	}
	h := start(t, func(x *Config) { x.Tokens = tokens })
	if answer, _ := h.ask("GET", "/api/runs", "", bearer(NoToken)); answer.StatusCode != 403 {
		t.Errorf("the sign for no token answers %d", answer.StatusCode)
	}
}

func TestATokenThatIsRevokedIsWorthNothing(t *testing.T) {
	list, changed := team, false
	h := start(t, func(c *Config) {
		c.Tokens = team
		c.TokensIn = func() ([]Token, bool) { return list, changed }
	})
	_, body := h.ask("POST", "/api/share", "", bearer("bob-bob-bob-bob-bob"))
	_, shared, _ := strings.Cut(body, `"token":"`)
	shared, _, _ = strings.Cut(shared, `"`)
	if answer, _ := h.ask("GET", "/api/runs", "", bearer(shared)); answer.StatusCode != 200 {
		t.Fatalf("a shared token answers %d", answer.StatusCode)
	}
	list, changed = team[:2], true
	h.s.guard.now = func() time.Time { return time.Now().Add(time.Minute) }
	for token, want := range map[string]int{"alice-alice-alice": 200, "bob-bob-bob-bob-bob": 403, shared: 403} {
		if answer, _ := h.ask("GET", "/api/runs", "", bearer(token)); answer.StatusCode != want {
			t.Errorf("%s answers %d, want %d", token, answer.StatusCode, want)
		}
	}
}

func TestTheAccessLogListsOpenedRunsAndQueries(t *testing.T) {
	var log bytes.Buffer
	h := teamOf(t, func(c *Config) {
		c.Audit = &log
		c.Ask = func(context.Context, Question) (*Answer, error) { return &Answer{}, nil }
	})
	h.opens("alice-alice-alice", `{"sources":["clickhouse://bob:hunter2@127.0.0.1:1/x/y"]}`)
	h.ask("POST", "/api/runs/small.trace/query", `{"sql":"select 42"}`, bearer("guest-guest-guest"))
	h.ask("GET", "/?token=alice-alice-alice", "", nil)
	h.http.Close()
	text := log.String()
	for _, want := range []string{`"holder":"alice"`, `"opened":["clickhouse://bob@127.0.0.1:1/x/y"]`, `"sql":"select 42"`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not in %s", want, text)
		}
	}
	if strings.Contains(text, "hunter2") || strings.Contains(text, "alice-alice") {
		t.Errorf("a secret is in %s", text)
	}
}

// One holder can take half of the space for uploads, and neither add to a batch of another nor open it.
func TestUploadsHaveAQuotaForEachHolder(t *testing.T) {
	h := teamOf(t, func(c *Config) { c.UploadLimit = 1000 })
	send := func(as, batch, name string, n int) int {
		answer, _ := h.ask("POST", "/api/upload?batch="+batch+"&name="+name, strings.Repeat("x", n), bearer(as))
		return answer.StatusCode
	}
	alice, bob := "alice-alice-alice", "bob-bob-bob-bob-bob"
	if s := send(alice, "b", "a", 400); s != 201 {
		t.Fatalf("400 of 1000 bytes answer %d", s)
	}
	if s := send(alice, "b", "c", 200); s != 413 {
		t.Errorf("more than half of the space answers %d, want 413", s)
	}
	if s := send(bob, "b", "a", 400); s != 201 {
		t.Errorf("another holder with the same names gets %d, want 201: a batch is its holder's", s)
	}
	asks := func(as, body string) int {
		answer, _ := h.ask("POST", "/api/runs", body, func(r *http.Request) {
			bearer(as)(r)
			r.Header.Set("Content-Type", "application/json")
		})
		return answer.StatusCode
	}
	if s := send(alice, "mine", "d", 50); s != 201 {
		t.Fatal(s)
	}
	if s := asks(bob, `{"batch": "mine"}`); s != 400 {
		t.Errorf("a batch of another opens with %d, want 400", s)
	}
	if s := asks(alice, `{"batch": "mine"}`); s != 202 {
		t.Errorf("the own batch opens with %d, want 202", s)
	}
	for i := range maxOwnRuns {
		send(bob, "many"+strconv.Itoa(i), "x", 1)
	}
	if s := send(bob, "one-more", "x", 1); s != 413 {
		t.Errorf("one batch too many answers %d, want 413", s)
	}
}

// A file of tokens may hold their hashes: the token passes, its hash does not, and no address holds it.
func TestTokensAreKnownByTheirHashes(t *testing.T) {
	list, err := ParseTokens(strings.NewReader("alice full " + Hash("alice-alice-alice") + "\nbob read bob-bob-bob-bob-bob\n"))
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, func(c *Config) { c.Token, c.Tokens = "", list })
	for token, want := range map[string]int{"alice-alice-alice": 200, Hash("alice-alice-alice"): 403,
		"bob-bob-bob-bob-bob": 200, "sha256:": 403, NoToken: 403} {
		if answer, _ := h.ask("GET", "/api/runs", "", bearer(token)); answer.StatusCode != want {
			t.Errorf("%.20s answers %d, want %d", token, answer.StatusCode, want)
		}
	}
	answer, _ := h.ask("GET", "/?token=alice-alice-alice", "", func(r *http.Request) { r.Header.Del("Authorization") })
	if to := answer.Header.Get("Location"); answer.StatusCode != 303 || strings.Contains(to, "token") {
		t.Errorf("answers %d and leads to %q", answer.StatusCode, to)
	}
	if c := answer.Cookies(); len(c) != 1 || c[0].Value != "alice-alice-alice" || !c[0].HttpOnly {
		t.Errorf("cookies %v", c)
	}
	if a := h.s.Address(&net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80}); strings.Contains(a, "token") {
		t.Errorf("the address is %s", a)
	}
	for _, bad := range []string{"a read sha256:12", "a read " + Hash("x-x-x-x-x-x-x-x-x") + "\nb read x-x-x-x-x-x-x-x-x"} {
		if _, err := ParseTokens(strings.NewReader(bad)); err == nil {
			t.Errorf("%.40q is taken", bad)
		}
	}
}
