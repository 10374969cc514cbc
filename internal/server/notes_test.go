package server

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNotesAreKeptWithTheRunAndOneChangeAtATime(t *testing.T) {
	dir := t.TempDir()
	h := start(t, func(c *Config) { c.NotesDir = dir })
	const path = "/api/runs/small.trace/notes"
	put := func(status int, body string) (n notesJSON) {
		t.Helper()
		answer, text := h.ask("PUT", path, body, nil)
		if answer.StatusCode != status {
			t.Fatalf("%s answers %d, want %d: %s", body, answer.StatusCode, status, text)
		}
		if status == http.StatusOK {
			if err := json.Unmarshal([]byte(text), &n); err != nil {
				t.Fatal(err)
			}
		}
		return n
	}
	if got := h.get(path, 200, nil); !strings.Contains(got, `"version":0,"notes":[],"workspaces":[],"stories":[]`) {
		t.Errorf("a run without notes has %s", got)
	}
	const one = `"notes":[{"name":"slow","begin":5,"end":9,"text":"why?"}],"workspaces":[{"name":"mine","query":"v=timeline"}],` +
		`"stories":[{"name":"the slow one","stops":[{"title":"Who?","text":"rank 1","query":"v=timeline&walk=1.who"}]}]}`
	if n := put(200, `{"version":0,`+one); n.Version != 1 || n.Notes[0].Locations == nil {
		t.Errorf("kept as %+v", n)
	}
	put(409, `{"version":0,`+one)
	put(200, `{"version":1,`+one)
	put(400, `{"version":2,"notes":[{"name":" ","begin":0,"end":0}]}`)
	put(400, `{"version":2,"notes":[{"name":"x","begin":9,"end":5}]}`)
	put(400, `{"version":2,"notes":[{"name":"x","begin":0,"end":9000000000000}]}`)
	put(400, `{"version":2,"nots":[]}`)
	put(400, `{"version":2,"stories":[{"name":""}]}`)
	put(400, `{"version":2,"stories":[{"name":"x","stops":[{"title":"`+strings.Repeat("x", longestName+1)+`"}]}]}`)

	again := start(t, func(c *Config) { c.NotesDir = dir })
	var n notesJSON
	again.get(path, 200, &n)
	if n.Version != 2 || len(n.Notes) != 1 || n.Notes[0].Name != "slow" || len(n.Workspaces) != 1 ||
		len(n.Stories) != 1 || n.Stories[0].Stops[0].Query != "v=timeline&walk=1.who" {
		t.Errorf("another server reads %+v", n)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v, %v", files, err)
	}
	if err := os.WriteFile(files[0], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	h.get(path, 422, nil)
	put(422, `{"version":0,`+one) // what cannot be read is not written over
}
