package server

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/parallax-hpc/parallax/internal/view"
)

func TestAReadOnlyTokenMayReadAndAnExpiredOneMayNot(t *testing.T) {
	h := start(t, func(c *Config) {
		c.Tokens = []Token{{Name: "owner", Value: "secret"}, {Name: "guest", Value: "guest-guest-guest", ReadOnly: true, Until: time.Now().Add(time.Hour)}}
		c.Open = nil
	})
	as := func(token string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
	}
	for _, c := range []struct {
		method, path, body, token string
		status                    int
	}{
		{"GET", "/api/runs", "", "guest-guest-guest", 200},
		{"GET", probeURL + "scene", "", "guest-guest-guest", 200},
		{"DELETE", "/api/runs/small.trace", "", "guest-guest-guest", 403},
		{"POST", "/api/runs", `{"sources":["demo:x"]}`, "guest-guest-guest", 403},
		{"POST", "/api/upload?name=x", "{}", "guest-guest-guest", 403},
		{"POST", "/api/mcp", "{}", "guest-guest-guest", 403},
		{"POST", "/api/runs/small.trace/query", `{"sql":"select 1"}`, "guest-guest-guest", 404}, // no SQL here, but it was let through
		{"POST", "/api/runs", `{"sources":["demo:x"]}`, "secret", 404},
		{"GET", "/api/runs", "", "nobody", 403},
	} {
		if answer, body := h.ask(c.method, c.path, c.body, as(c.token)); answer.StatusCode != c.status {
			t.Errorf("%s %s as %s answers %d, want %d: %s", c.method, c.path, c.token, answer.StatusCode, c.status, body)
		}
	}
	if _, body := h.ask("GET", "/api/token", "", as("guest-guest-guest")); !strings.Contains(body, "guest-guest-guest") || strings.Contains(body, "secret") {
		t.Errorf("a guest hands on %s", body)
	}
	if _, body := h.ask("GET", "/api/session", "", as("guest-guest-guest")); !strings.Contains(body, `"canOpen":false`) {
		t.Errorf("a guest is offered to open: %s", body)
	}
	h.s.guard.now = func() time.Time { return time.Now().Add(2 * time.Hour) }
	if answer, _ := h.ask("GET", "/api/runs", "", as("guest-guest-guest")); answer.StatusCode != 403 {
		t.Errorf("an expired token answers %d", answer.StatusCode)
	}
	if answer, _ := h.ask("GET", "/api/runs", "", nil); answer.StatusCode != 200 {
		t.Errorf("one without an end answers %d", answer.StatusCode)
	}
}

func TestASharedTokenIsReadOnlyForAWeek(t *testing.T) {
	h := start(t, nil)
	var shared shareJSON
	answer, body := h.ask("POST", "/api/share", "", nil)
	if err := json.Unmarshal([]byte(body), &shared); err != nil || answer.StatusCode != 200 {
		t.Fatalf("%d: %s", answer.StatusCode, body)
	}
	as := func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+shared.Token) }
	for _, c := range []struct {
		method, path string
		after        time.Duration
		status       int
	}{
		{"GET", "/api/runs", 0, 200},
		{"DELETE", "/api/runs/small.trace", 0, 403},
		{"PUT", "/api/runs/small.trace/notes", 0, 403},
		{"POST", "/api/share", 0, 403},
		{"GET", "/api/runs", 6 * 24 * time.Hour, 200},
		{"GET", "/api/runs", 8 * 24 * time.Hour, 403},
	} {
		h.s.guard.now = func() time.Time { return time.Now().Add(c.after) }
		if answer, body := h.ask(c.method, c.path, "{}", as); answer.StatusCode != c.status {
			t.Errorf("%s %s after %s answers %d, want %d: %s", c.method, c.path, c.after, answer.StatusCode, c.status, body)
		}
	}
}

func TestFilesOfTokensAreReadStrictly(t *testing.T) {
	good, err := ParseTokens(strings.NewReader("# two\n\nalice full 0123456789abcdef\nbob read fedcba9876543210 until 2030-01-02T03:04:05Z\n"))
	if err != nil || len(good) != 2 || good[0].ReadOnly || !good[1].ReadOnly || good[1].Until.Unix() != 1893553445 {
		t.Errorf("%+v, %v", good, err)
	}
	for text, want := range map[string]string{
		"":                                    "no token",
		"alice full short":                    "at least",
		"alice all 0123456789abcdef":          "read, full or admin",
		"alice full":                          "line 1",
		"a full 0123456789abcdef until never": "2030-12-31",
		"a full 0123456789abcdef\nb read 0123456789abcdef": "line 2",
	} {
		if _, err := ParseTokens(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestGuessingTokensIsStoppedForAWhile(t *testing.T) {
	h := start(t, nil)
	now := time.Now()
	h.s.guard.clients.now = func() time.Time { return now }
	wrong := func(r *http.Request) { r.Header.Set("Authorization", "Bearer guess") }
	for range mostWrong {
		if answer, _ := h.ask("GET", "/api/runs", "", wrong); answer.StatusCode != 403 {
			t.Fatalf("answers %d", answer.StatusCode)
		}
	}
	if answer, _ := h.ask("GET", "/api/runs", "", wrong); answer.StatusCode != 429 {
		t.Errorf("one more answers %d, want 429", answer.StatusCode)
	}
	now = now.Add(2 * time.Minute)
	if answer, _ := h.ask("GET", "/api/runs", "", wrong); answer.StatusCode != 403 {
		t.Errorf("later one answers %d", answer.StatusCode)
	}
}

func TestOneClientCannotKeepOthersOut(t *testing.T) {
	p, started, _, release := blocking()
	defer release()
	h := start(t, func(c *Config) {
		c.PerClient = 1
		c.Tokens = []Token{{Name: "a", Value: "secret"}, {Name: "b", Value: "another-secret"}}
		c.Views = append(c.Views[:0:0], p.view())
	})
	_, status := h.background(probeURL + "scene")
	within(t, "the computation starts", started)
	if answer, body := h.ask("GET", "/api/runs", "", nil); answer.StatusCode != 429 || answer.Header.Get("Retry-After") == "" {
		t.Errorf("a second request of the same client answers %d: %s", answer.StatusCode, body)
	}
	if answer, _ := h.ask("GET", "/api/runs", "", func(r *http.Request) { r.Header.Set("Authorization", "Bearer another-secret") }); answer.StatusCode != 200 {
		t.Errorf("another client answers %d", answer.StatusCode)
	}
	release()
	if s := <-status; s != 200 {
		t.Errorf("the first answers %d", s)
	}
}

func TestWrongMethodsAndBodiesAreErrors(t *testing.T) {
	h := start(t, nil)
	if answer, body := h.ask("PUT", "/api/runs", "", nil); answer.StatusCode != 405 || answer.Header.Get("Allow") != "GET, POST" {
		t.Errorf("PUT answers %d, allow %q: %s", answer.StatusCode, answer.Header.Get("Allow"), body)
	}
	if answer, _ := h.ask("DELETE", "/api/nothing", "", nil); answer.StatusCode != 404 {
		t.Errorf("a path that is not there answers %d", answer.StatusCode)
	}
	h2 := start(t, func(c *Config) {
		c.Open = func(context.Context, Opening) ([]view.Run, error) { return nil, errors.New("no") }
	})
	if answer, body := h2.ask("POST", "/api/runs", `{"sources":["x"]}`, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }); answer.StatusCode != 415 {
		t.Errorf("text as JSON answers %d: %s", answer.StatusCode, body)
	}
}
