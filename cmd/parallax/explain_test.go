package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	formats "github.com/parallax-hpc/parallax/internal/importer/all"
)

// An error says where to read on, and there is something to read there.
func TestErrorsNameThePageThatExplainsThem(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PARALLAX_CACHE", filepath.Join(dir, "cache"))
	write := func(name, text string) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	cut, other := write("cut.prv", "#Paraver (01/01/2026 at 10:00):x"), write("letter.txt", "Dear reader,\n")
	for _, c := range []struct {
		page string
		args []string
	}{
		{"formats", []string{"info", other}},
		{"formats/paraver", []string{"info", cut, "--format", "paraver"}},
		{"formats/paraver", []string{"view", "timeline", cut, "--format", "paraver"}},
		{"commands", []string{"view", "timeline", "demo:fig4", "-o", filepath.Join(dir, "no", "x.svg")}},
		{"scale", []string{"info", "clickhouse://127.0.0.1:1/traces/monday"}},
		{"views/steps", []string{"view", "steps", "demo:stencil", "--size", "640x320", "-o", filepath.Join(dir, "no", "x.svg")}},
		{"views/requests", []string{"view", "requests", "demo:stencil"}},
		{"formats", []string{"check", other}},
		{"formats", []string{"check", filepath.Join(dir, "nowhere.json")}},
		{"formats", []string{"compare", other, "--", cut}},
		{"commands", []string{"check", "demo:fig4", "--cache", other}},
		{"serving", []string{"open", "demo:fig4", "--no-browser", "--listen", "127.0.0.1:99999"}},
		{"serving", []string{"open", "demo:fig4", "--no-browser", "--tokens", filepath.Join(dir, "nowhere")}},
		{"serving", []string{"docs", "--serve", "--no-browser", "--listen", "127.0.0.1:99999"}},
		{"tables", []string{"query", "demo:fig4", "select * from nowhere"}},
	} {
		status, _, stderr := parallax(t, c.args...)
		if want := "; see `parallax docs " + c.page + "`\n"; status != 1 || !strings.HasSuffix(stderr, want) {
			t.Errorf("%q: status %d, %q; want %q", c.args, status, stderr, want)
		}
	}
	named := []string{"views/timeline", "tutorials/straggler", "formats", "docs/tables.md"}
	for _, c := range commands() {
		if p := c.page(nil); p != "" {
			named = append(named, p)
		}
	}
	for _, f := range formats.Formats {
		if f.Import != nil {
			named = append(named, "formats/"+f.Name)
		}
	}
	for _, page := range named {
		if status, out, stderr := parallax(t, "docs", page); status != 0 || !strings.Contains(out, "# ") {
			t.Errorf("docs %s: %s", page, stderr)
		}
	}
}

// A refusal is one line that can be read: it does not list every reader.
func TestAnUnknownFileIsRefusedInShort(t *testing.T) {
	file := filepath.Join(t.TempDir(), "letter.txt")
	if err := os.WriteFile(file, []byte("Dear reader,\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, stderr := parallax(t, "check", file); strings.Contains(stderr, "paraver") || !strings.Contains(stderr, "`parallax formats`") {
		t.Errorf("%q", stderr)
	}
}

func TestMistypedNamesAreSuggested(t *testing.T) {
	for _, c := range []struct {
		want string
		args []string
	}{
		{"timeline", []string{"view", "timelin", "demo:stencil"}},
		{"callmatrix", []string{"views", "calmatrix"}},
		{"stencil", []string{"info", "demo:stencl"}},
		{"--size", []string{"view", "timeline", "demo:stencil", "--widht", "300"}},
		{"--size", []string{"view", "timeline", "demo:stencil", "-sise=300x200"}},
		{"--colour", []string{"view", "timeline", "demo:stencil", "--color=location"}},
		{"--fail-on", []string{"check", "demo:stencil", "--fial-on", "straggler=1"}},
		{"--locations", []string{"view", "timeline", "demo:stencil", "--lokations", "rank:1"}},
		{"otf2", []string{"info", "demo:stencil", "--format", "oft2"}},
		{"formats/otf2", []string{"docs", "formats/oft2"}},
	} {
		if status, _, stderr := parallax(t, c.args...); status != 2 || !strings.Contains(stderr, "did you mean "+c.want+"?") {
			t.Errorf("%q: status %d, %q", c.args, status, stderr)
		}
	}
}
