package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Examples of the help run as they stand, on demos under the names that they use. Those that
// serve until they are stopped, or speak over standard input, are looked at elsewhere.
func TestExamplesOfTheHelpRun(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("PARALLAX_CACHE", filepath.Join(dir, "cache"))
	for _, args := range [][]string{
		{"gen", "training", "--format", "kineto", "--locations", "4", "-o", "traces"},
		{"gen", "stencil", "--format", "otf2", "--locations", "16", "-o", "run.otf2"},
		{"gen", "stencil", "--format", "otf2", "--locations", "16", "-o", "a.otf2"},
		{"gen", "stencil", "--format", "otf2", "--locations", "16", "--balanced", "-o", "b.otf2"},
	} {
		if status, _, stderr := parallax(t, args...); status != 0 {
			t.Fatal(stderr)
		}
	}
	for i, d := range []string{"before", "after", "nightly/commit-a1", "nightly/commit-b2"} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
		for run := range 2 {
			name := filepath.Join(d, fmt.Sprint(run)+".json")
			if status, _, stderr := parallax(t, "gen", fmt.Sprintf("stencil?seed=%d", 2*i+run+1), "--format", "chrome", "--locations", "4", "-o", name); status != 0 {
				t.Fatal(stderr)
			}
			if d == "before" || d == "after" {
				packFile(t, name)
			}
		}
	}
	tried := 0
	for _, c := range commands() {
		for line := range strings.Lines(c.help) {
			example, ok := strings.CutPrefix(line, "  parallax ")
			if !ok {
				continue
			}
			example, _, _ = strings.Cut(example, " | ")
			example, _, _ = strings.Cut(example, " > ")
			var args []string
			for _, a := range wordsOf(example) { // the shell does it elsewhere
				if list, _ := filepath.Glob(a); strings.Contains(a, "*") && len(list) > 0 {
					args = append(args, list...)
				} else {
					args = append(args, a)
				}
			}
			switch {
			case args[0] == "open" || args[0] == "demo" || args[0] == "mcp" || args[0] == "receive" || slices.Contains(args, "--serve"): // they serve
				continue
			case strings.Contains(example, "1000000"), strings.Contains(example, "clickhouse://"): // long, or elsewhere
				continue
			}
			tried++
			status, _, stderr := parallax(t, args...)
			if failed := args[0] == "check" || args[0] == "compare"; status != 0 && !(failed && (status == 1 || status == 4) && stderr == "") {
				t.Errorf("parallax %s: status %d: %s", example, status, stderr)
			}
		}
	}
	if tried < 15 {
		t.Errorf("%d examples were tried", tried)
	}
}

func packFile(t *testing.T, name string) {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(z.Close(), os.WriteFile(name+".gz", out.Bytes(), 0o644), os.Remove(name)); err != nil {
		t.Fatal(err)
	}
}

func TestEveryCommandHasAnExample(t *testing.T) {
	for _, c := range commands() {
		if !strings.Contains(c.help, "  parallax "+c.name) {
			t.Errorf("the help of %s has no example", c.name)
		}
	}
}

func TestHelpFitsEightyColumns(t *testing.T) {
	_, out, _ := parallax(t, "help")
	for line := range strings.Lines(out) {
		if n := len([]rune(strings.TrimRight(line, "\n"))); n > usualWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(out, exitStatus[:7]) {
		t.Error("the help does not say what exit status means")
	}
}

func TestTheManPageNamesEveryCommandAndOption(t *testing.T) {
	_, page, _ := parallax(t, "help", "--man")
	for _, v := range verbs() {
		for _, f := range v.flags {
			if want := strings.ReplaceAll(f.name, "-", `\-`); !strings.Contains(page, want) && v.name != "version" {
				t.Errorf("%s %s is missing", v.name, f.name)
			}
		}
	}
	if groff, err := exec.LookPath("groff"); err == nil {
		c := exec.Command(groff, "-man", "-Kutf8", "-Tutf8", "-ww", "-z")
		c.Stdin = strings.NewReader(page)
		if said, err := c.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%v: %s", err, said)
		}
	}
}

func TestShellsCompleteVerbsOptionsViewsAndDemos(t *testing.T) {
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		_, script, _ := parallax(t, "completion", shell)
		for _, want := range []string{"check", "fail-on", "timeline", "demo:stencil"} {
			if !strings.Contains(script, want) {
				t.Errorf("%s: no %s", shell, want)
			}
		}
	}
	bash, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("bash is not here")
	}
	_, script, _ := parallax(t, "completion", "bash")
	for typed, want := range map[string]string{"parallax vie": "view views", "parallax view timel": "timeline", "parallax info --verif": "--verify", "parallax info demo : stenci": "stencil"} {
		c := exec.Command(bash, "-c", script+"\nCOMP_WORDS=("+typed+"); COMP_CWORD=$((${#COMP_WORDS[@]}-1)); _parallax; echo ${COMPREPLY[@]}")
		c.Dir = t.TempDir()
		if said, err := c.CombinedOutput(); err != nil || strings.TrimSpace(string(said)) != want {
			t.Errorf("%s: %v: %q, want %q", typed, err, said, want)
		}
	}
}

func TestProgressTellsBytesRateAndTimeLeft(t *testing.T) {
	var p pace
	begin := time.Unix(0, 0)
	if rate, _ := p.of("a", 0, 100, begin); rate != 0 {
		t.Errorf("a rate of %v before anything is read", rate)
	}
	if rate, left := p.of("a", 50, 200, begin.Add(10*time.Second)); rate != 5 || left != 30*time.Second {
		t.Errorf("%v bytes a second, %v left; want 5, 30s", rate, left)
	}
	var b bytes.Buffer
	(&progressLines{w: &b}).show("a", 50, 200)
	var line map[string]any
	if err := json.Unmarshal(b.Bytes(), &line); err != nil || line["done_bytes"] != 50.0 || line["total_bytes"] != 200.0 || line["source"] != "a" {
		t.Errorf("%v: %s", err, b.String())
	}
}

func TestProgressFitsTheTerminal(t *testing.T) {
	long := strings.Repeat("directory/", 9) + "trace.json"
	for _, columns := range []int{59, 79, 119} {
		for _, label := range []string{"a", long} {
			for _, total := range []int64{1, 1000, 1 << 50} {
				for _, left := range []time.Duration{time.Second, 1000*time.Hour + 59*time.Minute + 59*time.Second} {
					for _, done := range []int64{0, total / 3, total} {
						line := progressLine(label, done, total, 123.4e6, left, columns)
						if n := len([]rune(line)); n > columns {
							t.Errorf("%d columns of %d: %s", n, columns, line)
						}
					}
				}
			}
		}
	}
	want := "importing run.json [======      ]  50 % of 1.00 KiB, 1.00 KiB/s, 1s left"
	if got := progressLine("run.json", 512, 1024, 1024, time.Second, len(want)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// Colours are not printed at all, so NO_COLOR and pipes have nothing to turn off.
func TestNothingIsPrintedInColours(t *testing.T) {
	for _, args := range [][]string{{"check", "demo:stencil"}, {"info", "demo:fig4"}, {"help"}, {"help", "view"}, {"views"}, {"view", "nothing"}} {
		if _, out, stderr := parallax(t, args...); strings.Contains(out+stderr, "\x1b") {
			t.Errorf("%q prints escapes", args)
		}
	}
}

func TestQuietSaysNothingButErrors(t *testing.T) {
	dir := t.TempDir()
	status, out, errs := parallax(t, "import", "demo:fig4", "-o", filepath.Join(dir, "x.plx"), "--quiet")
	if status != 0 || out+errs != "" {
		t.Errorf("status %d: %q", status, out+errs)
	}
	file := filepath.Join(dir, "empty.json")
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if status, _, errs := parallax(t, "info", file, "--quiet"); status != 1 || errs == "" {
		t.Errorf("status %d: %q", status, errs)
	}
	if status, _, errs := parallax(t, "info", "demo:fig4", "--progress", "often"); status != 2 || !strings.Contains(errs, "auto, json or none") {
		t.Errorf("status %d: %q", status, errs)
	}
}

// The help of one view has the options of that view in its words, and of no other view; that of the command has
// none of them. Options shared by commands have their own heading, after the command's own.
func TestTheHelpOfAViewHasItsOptionsOnly(t *testing.T) {
	for _, args := range [][]string{{"view", "moments", "--help"}, {"help", "view", "moments"}} {
		status, out, _ := parallax(t, args...)
		if status != 0 || !strings.Contains(out, "\nOptions of moments\n") || !strings.Contains(out, "--gantt TEXT") {
			t.Errorf("%v: status %d:\n%s", args, status, out)
		}
		if strings.Contains(out, "--violin") || strings.Contains(out, "--hierarchy") {
			t.Errorf("%v lists options of other views", args)
		}
		if own, shared := strings.Index(out, "--output"), strings.Index(out, "\nReading\n"); own < 0 || shared < own {
			t.Errorf("%v: options of reading come before those of the command:\n%s", args, out)
		}
		for line := range strings.Lines(out) {
			if len([]rune(strings.TrimRight(line, "\n"))) > usualWidth && !strings.Contains(line, "(groups:k=3") {
				t.Errorf("%v: %d columns: %s", args, len(line), line)
			}
		}
	}
	if _, out, _ := parallax(t, "view", "--help"); strings.Contains(out, "--violin") ||
		!strings.Contains(out, "parallax view VIEW --help") {
		t.Errorf("the help of view lists the options of all views")
	}
}
