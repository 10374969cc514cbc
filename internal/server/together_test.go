package server

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/view"
)

// parts reads an answer to several requests.
func parts(t *testing.T, body []byte) (heads map[int]partHead, bodies map[int]string) {
	t.Helper()
	heads, bodies = map[int]partHead{}, map[int]string{}
	for len(body) > 0 {
		line, rest, ok := bytes.Cut(body, []byte("\n"))
		var head partHead
		if err := json.Unmarshal(line, &head); !ok || err != nil || head.Bytes > len(rest) {
			t.Fatalf("part %.100q: %v", line, err)
		}
		heads[head.Ask], bodies[head.Ask] = head, string(rest[:head.Bytes])
		body = rest[head.Bytes:]
	}
	return heads, bodies
}

const askTogether = "/api/runs/small.trace/together"

func asJSON(r *http.Request) { r.Header.Set("Content-Type", "application/json") }

// Each is answered as it would be alone, errors among them.
func TestRequestsAreAnsweredTogetherAsAlone(t *testing.T) {
	h := start(t, nil)
	asks := []string{"views/probe/data?from=10&to=20", "summary?from=0&to=50", "views/probe/scene?width=300&height=200",
		"views/nothing/scene", "views/probe/data?from=20&to=10"}
	body, _ := json.Marshal(togetherBody{asks})
	answer, text := h.ask("POST", askTogether, string(body), asJSON)
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != answersType {
		t.Fatalf("%d %s: %s", answer.StatusCode, answer.Header.Get("Content-Type"), text)
	}
	heads, bodies := parts(t, []byte(text))
	for i, ask := range asks {
		alone, want := h.ask("GET", "/api/runs/small.trace/"+ask, "", nil)
		if heads[i].Status != alone.StatusCode || bodies[i] != string(want) {
			t.Errorf("%s: %d and %d bytes, alone %d and %d", ask, heads[i].Status, len(bodies[i]), alone.StatusCode,
				len(want))
		}
	}
	if len(heads) != len(asks) {
		t.Errorf("%d parts for %d requests", len(heads), len(asks))
	}
}

func TestBatchesAllowOnlyRequestsOfThePage(t *testing.T) {
	h := start(t, nil)
	for _, ask := range []string{"", "views/probe/export?format=svg", "../../session", "views/../../../token", "notes",
		"http://example.com/", "query", "summary/../notes"} {
		body, _ := json.Marshal(togetherBody{[]string{ask}})
		if answer, _ := h.ask("POST", askTogether, string(body), asJSON); answer.StatusCode != 400 {
			t.Errorf("%q: %d", ask, answer.StatusCode)
		}
	}
	many, _ := json.Marshal(togetherBody{make([]string, mostTogether+1)})
	if answer, _ := h.ask("POST", askTogether, string(many), asJSON); answer.StatusCode != 400 {
		t.Errorf("too many: %d", answer.StatusCode)
	}
}

// The page of a read-only link asks together too.
func TestReadOnlyPagesMayBatchRequests(t *testing.T) {
	h := teamOf(t, nil)
	body, _ := json.Marshal(togetherBody{[]string{"summary"}})
	for token, want := range map[string]int{"guest-guest-guest": 200, "guess": 403} {
		answer, _ := h.ask("POST", askTogether, string(body), func(r *http.Request) {
			bearer(token)(r)
			asJSON(r)
		})
		if answer.StatusCode != want {
			t.Errorf("%s: %d, want %d", token, answer.StatusCode, want)
		}
	}
}

// Who leaves ends the work on all of them.
func TestLeavingCancelsAllBatchedRequests(t *testing.T) {
	ended := make(chan struct{}, 2)
	begun := make(chan struct{}, 2)
	p := &probe{compute: func(ctx context.Context, _ *view.Request) error {
		begun <- struct{}{}
		<-ctx.Done()
		ended <- struct{}{}
		return ctx.Err()
	}}
	h := start(t, func(c *Config) { c.Views, c.Workers = []*view.View{p.view()}, 2 })
	body, _ := json.Marshal(togetherBody{[]string{"views/probe/data?top=1", "views/probe/data?top=2"}})
	ctx, leave := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, "POST", h.http.URL+askTogether, bytes.NewReader(body))
	bearer("secret")(r)
	asJSON(r)
	left := make(chan struct{})
	go func() {
		defer close(left)
		if answer, err := h.http.Client().Do(r); err == nil {
			io.Copy(io.Discard, answer.Body)
			answer.Body.Close()
		}
	}()
	<-begun
	<-begun
	leave()
	<-left
	<-ended
	<-ended
}

func TestBatchedAnswersAreCompressedForRemoteClients(t *testing.T) {
	h := start(t, func(c *Config) { c.Remote = true })
	body, _ := json.Marshal(togetherBody{[]string{"summary"}})
	answer, text := h.ask("POST", askTogether, string(body), func(r *http.Request) {
		asJSON(r)
		r.Header.Set("Accept-Encoding", "gzip")
	})
	if answer.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("%v", answer.Header)
	}
	z, err := gzip.NewReader(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	if heads, _ := parts(t, plain); heads[0].Status != 200 {
		t.Errorf("%+v", heads)
	}
}
