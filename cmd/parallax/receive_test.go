package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// serveCommand runs a command that serves until it is ended, and gives the first match of a pattern in what it prints.
func serveCommand(t *testing.T, wants string, args ...string) (found string, out *said, end func()) {
	t.Helper()
	out = &said{}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, args, out, out) }()
	over := false
	end = func() {
		if !over {
			over = true
			cancel()
			<-ended
		}
	}
	t.Cleanup(end)
	find := regexp.MustCompile(wants)
	for {
		if m := find.FindStringSubmatch(out.String()); m != nil && strings.Contains(out.String(), "Ctrl+C") {
			return m[1], out, end
		}
		select {
		case status := <-ended:
			ended <- status
			t.Fatalf("it ended with %d: %s", status, out)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// runsAt asks a server until a condition holds of its runs.
func runsAt(t *testing.T, address string, until func([]map[string]any) bool) []map[string]any {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		q, _ := http.NewRequest("GET", "http://"+u.Host+"/api/runs", nil)
		q.Header.Set("Authorization", "Bearer "+u.Query().Get("token"))
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		var runs []map[string]any
		text, _ := io.ReadAll(a.Body)
		a.Body.Close()
		if json.Unmarshal(text, &runs) == nil && until(runs) {
			return runs
		}
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", text)
		}
	}
}

func oneSpan(id int) string {
	return fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"shop"}}]},"scopeSpans":[{"spans":[{"traceId":"5b8aa5a2d2c872e8321cf37308d69df2","spanId":"%016x","name":"GET /cart","startTimeUnixNano":"%d","endTimeUnixNano":"%d"}]}]}]}`+"\n",
		id, 1700000000000000000+id*1000, 1700000000000000500+id*1000)
}

func TestReceivedSpansAreShownAsTheyCome(t *testing.T) {
	dir, cache := filepath.Join(t.TempDir(), "spans"), filepath.Join(t.TempDir(), "cache")
	port, out, end := serveCommand(t, `OTLP over HTTP is taken at (\S+)`, "receive", dir, "--grpc", "", "--http", "127.0.0.1:0", "--no-browser", "--cache", cache)
	address := regexp.MustCompile(`Parallax is at (\S+)`).FindStringSubmatch(out.String())[1]
	send := func(id int) {
		t.Helper()
		a, err := http.Post("http://"+port+"/v1/traces", "application/json", strings.NewReader(oneSpan(id)))
		if err != nil || a.StatusCode != 200 {
			t.Fatal(err, a)
		}
		a.Body.Close()
	}
	runsAt(t, address, func(r []map[string]any) bool {
		return len(r) == 1 && r[0]["state"] == "importing" && r[0]["live"] == true
	})
	send(1)
	first := runsAt(t, address, func(r []map[string]any) bool { return r[0]["state"] == "ready" })[0]["generation"]
	send(2)
	runsAt(t, address, func(r []map[string]any) bool { return r[0]["state"] == "ready" && r[0]["generation"] != first })
	end()
	if !strings.Contains(out.String(), ": spans 2, requests 2.") {
		t.Errorf("at the end it says %q", out)
	}
	if left, _ := filepath.Glob(filepath.Join(cache, "following-*")); len(left) > 0 {
		t.Errorf("it leaves %v", left)
	}
	var info said
	if run(context.Background(), []string{"info", "--json", "--cache", cache, dir}, &info, &info) != 0 || !strings.Contains(info.String(), `"intervals":2`) {
		t.Errorf("the log as a run: %s", info.String())
	}
}

func TestAPortThatOthersReachNeedsTokens(t *testing.T) {
	var out said
	status := run(context.Background(), []string{"receive", t.TempDir(), "--grpc", "", "--http", "0.0.0.0:0", "--cache", t.TempDir()}, &out, &out)
	if status != 2 || !strings.Contains(out.String(), "--tokens") {
		t.Errorf("status %d, %s", status, out.String())
	}
}

func TestAFileThatIsFollowedGrowsOnThePage(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "spans.jsonl")
	if err := os.WriteFile(file, []byte(oneSpan(1)), 0o600); err != nil {
		t.Fatal(err)
	}
	address, _, _ := serveCommand(t, `Parallax is at (\S+)`, "open", "--follow", file, "--no-browser", "--cache", filepath.Join(t.TempDir(), "cache"))
	first := runsAt(t, address, func(r []map[string]any) bool { return len(r) == 1 && r[0]["state"] == "ready" })[0]
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(oneSpan(2)); err != nil {
		t.Fatal(err)
	}
	f.Close()
	second := runsAt(t, address, func(r []map[string]any) bool { return len(r) == 1 && r[0]["generation"] != first["generation"] })[0]
	if second["id"] != first["id"] || second["live"] != true {
		t.Errorf("%v, then %v", first, second)
	}
}

// TestAWrongPortLeavesNoDirectory: what cannot be listened at is refused before anything is made.
func TestAWrongPortLeavesNoDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "received")
	var out said
	status := run(context.Background(), []string{"receive", dir, "--grpc", "nowhere", "--cache", t.TempDir()}, &out, &out)
	if _, err := os.Stat(dir); status == 0 || !os.IsNotExist(err) {
		t.Errorf("status %d, %v: %s", status, err, out.String())
	}
}
