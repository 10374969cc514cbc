package main

import (
	"encoding/xml"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// scriptIn takes the shell part out of a file for a CI system: the lines below one that ends in "|".
func scriptIn(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	deep := -1
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case deep < 0 && (strings.HasSuffix(line, "run: |") || strings.HasSuffix(line, "- |")):
			deep = indent
		case deep >= 0 && indent > deep:
			out = append(out, line)
		case deep >= 0:
			return strings.Join(out, "\n")
		}
	}
	return strings.Join(out, "\n")
}

// What the files for CI systems run is run here: statuses, the summary, the test cases and the report.
func TestPackagedGatesRun(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	text := fmt.Sprintf("#!/bin/sh\n%s=1 exec '%s' \"$@\"\n", asProgram, self)
	if err := os.WriteFile(filepath.Join(bin, "parallax"), []byte(text), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"../../packaging/github/action.yml", "../../packaging/gitlab/parallax.gitlab-ci.yml"} {
		script := scriptIn(t, file)
		for _, c := range []struct {
			factor        float64
			limits        string
			status        int
			failed, tests int
		}{{1.3, "length=5% solve=10%", 1, 2, 2}, {1, "length=5% changed=0", 0, 0, 2}, {1, "no|such=5%", 2, 0, 0}} {
			dir := t.TempDir()
			for _, side := range []string{"base", "new"} {
				if err := os.Mkdir(filepath.Join(dir, side), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			for i := range 3 {
				iterations(t, filepath.Join(dir, "base"), fmt.Sprint("run", i), uint64(i), 12, 1)
				iterations(t, filepath.Join(dir, "new"), fmt.Sprint("run", i), uint64(i+50), 12, c.factor)
			}
			cmd := exec.Command("bash", "-c", script)
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "BASE=base/", "NEW=new/", "LIMITS="+c.limits,
				"CANNOT_TELL=pass", "REPORT=new/run0.json", "GITHUB_STEP_SUMMARY="+filepath.Join(dir, "parallax-gate", "summary.md"))
			said, err := cmd.CombinedOutput()
			if got := cmd.ProcessState.ExitCode(); got != c.status {
				t.Fatalf("%s, %s: status %d (%v), want %d: %s", file, c.limits, got, err, c.status, said)
			}
			if c.status == 2 {
				continue
			}
			var suite junitSuite
			b, err := os.ReadFile(filepath.Join(dir, "parallax-gate", "junit.xml"))
			if err == nil {
				err = xml.Unmarshal(b, &suite)
			}
			if err != nil || suite.Failures != c.failed || len(suite.Cases) != c.tests {
				t.Errorf("%s: %d failures, %d cases (%v): %s", file, suite.Failures, len(suite.Cases), err, b)
			}
			summary, _ := os.ReadFile(filepath.Join(dir, "parallax-gate", "summary.md"))
			if strings.Count(string(summary), "✗") != c.failed || !strings.Contains(string(summary), "whole") {
				t.Errorf("%s: the summary is %s", file, summary)
			}
			checkMarkdown(t, string(summary))
			if _, err := os.Stat(filepath.Join(dir, "parallax-gate", "report.html")); err != nil {
				t.Error(err)
			}
		}
	}
}

// checkMarkdown holds tables against their heads, and looks for HTML.
func checkMarkdown(t *testing.T, text string) {
	t.Helper()
	bars := 0
	for line := range strings.Lines(text) {
		n := strings.Count(line, "|")
		if bars > 0 && n > 0 && n != bars {
			t.Errorf("a row with %d bars in a table with %d: %s", n, bars, line)
		}
		if bars = n; strings.ContainsAny(line, "<>`") {
			t.Errorf("not escaped: %s", line)
		}
	}
}

// Names of regions are written by others: none breaks the table or becomes markup.
func TestSummaryEscapesNames(t *testing.T) {
	dir := t.TempDir()
	args := []string{"compare"}
	for i := range 4 {
		path := filepath.Join(dir, fmt.Sprintf("r%d.json", i))
		text := fmt.Sprintf(`[{"ph":"M","pid":0,"name":"process_name","args":{"name":"rank 0"}},{"ph":"X","pid":0,"tid":0,"ts":0,"dur":%d,"name":"a|b\n<img src=x>`+"`c`"+`"},{"ph":"X","pid":0,"tid":0,"ts":900,"dur":10,"name":"end"}]`, 100+i+i/2*200)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if i == 2 {
			args = append(args, "--")
		}
		args = append(args, path)
	}
	summary := filepath.Join(dir, "summary.md")
	status, out, problem := parallax(t, append(args, "--summary", summary)...)
	b, err := os.ReadFile(summary)
	if err != nil || status != 0 {
		t.Fatalf("status %d (%v): %s%s", status, err, out, problem)
	}
	if !strings.Contains(string(b), "a&#124;b &lt;img src=x&gt;&#96;c&#96;") {
		t.Errorf("the region is not there: %s", b)
	}
	checkMarkdown(t, string(b))
}
