package main

import (
	"encoding/json"
	"encoding/xml"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCheckFailsPastALimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []string
		status int
		want   string // part of stdout, or of stderr for wrong usage
	}{
		{"no limit", []string{"demo:stencil"}, 0, "Ranks 40–47 (all of node05)"},
		{"a count that is passed", []string{"demo:stencil", "--fail-on", "high=0"}, 1, "FAILED high=0"},
		{"a count that holds", []string{"demo:stencil", "--fail-on", "clock=0"}, 0, "late-sender"},
		{"a time that is passed", []string{"demo:stencil", "--fail-on", "late-sender=100ms"}, 1, "FAILED late-sender=100ms"},
		{"a time that holds", []string{"demo:stencil", "--fail-on", "late-sender=10s"}, 0, ""},
		{"a share that is passed", []string{"demo:stencil", "--fail-on", "straggler=5%"}, 1, "of all time is lost"},
		{"an efficiency below its limit", []string{"demo:stencil", "--fail-on", "load-balance=80%"}, 1, "FAILED load-balance=80%"},
		{"a balanced run", []string{"demo:stencil?balanced", "--fail-on", "any=0", "--fail-on", "load-balance=0.9"}, 0, "nothing stands out"},
		{"an efficiency that the run has not", []string{"../../internal/importer/chrometrace/testdata/kineto/cuda-event-sync.json.gz", "--fail-on", "communication-efficiency=70%"}, 4, "NOT CHECKED communication-efficiency=70%"},
		{"the same let pass", []string{"../../internal/importer/chrometrace/testdata/kineto/cuda-event-sync.json.gz", "--fail-on", "communication-efficiency=70%", "--cannot-tell", "pass"}, 0, "NOT CHECKED communication-efficiency=70%"},
		{"the same as a failure", []string{"../../internal/importer/chrometrace/testdata/kineto/cuda-event-sync.json.gz", "--fail-on", "communication-efficiency=70%", "--cannot-tell", "fail"}, 1, "NOT CHECKED communication-efficiency=70%"},
		{"no such way to tell", []string{"demo:stencil", "--cannot-tell", "perhaps"}, 2, "want status, pass or fail"},
		{"an unknown kind", []string{"demo:stencil", "--fail-on", "sloth=0"}, 2, "want clock, data"},
		{"a limit that is none", []string{"demo:stencil", "--fail-on", "high=many"}, 2, "want a time"},
		{"a time for an efficiency", []string{"demo:stencil", "--fail-on", "load-balance=3s"}, 2, "want a time"},
	} {
		status, out, errs := parallax(t, append([]string{"check"}, c.args...)...)
		said := out
		if c.status == 2 {
			said = errs
		}
		if status != c.status || !strings.Contains(said, c.want) {
			t.Errorf("%s: status %d, want %d with %q\n%s%s", c.name, status, c.status, c.want, out, errs)
		}
	}
}

func TestCheckJSONHasTheViewsDataAndTheFailedLimits(t *testing.T) {
	status, out, _ := parallax(t, "check", "demo:stencil", "--json", "--fail-on", "straggler=0", "--phase", "slices:4")
	var d struct {
		View    string         `json:"view"`
		Options map[string]any `json:"options"`
		Failed  []string       `json:"failed"`
		Data    struct {
			Findings []struct {
				Kind     string `json:"kind"`
				Severity string `json:"severity"`
				Text     string `json:"text"`
			} `json:"findings"`
			POP struct {
				LoadBalance float64 `json:"load_balance"`
				Over        string  `json:"over"`
			} `json:"pop"`
		} `json:"data"`
	}
	if err := json.Unmarshal([]byte(out), &d); err != nil {
		t.Fatal(err)
	}
	if status != 1 || d.View != "findings" || len(d.Failed) != 1 || d.Options["phase"] != "slices:4" || len(d.Data.Findings) == 0 || d.Data.POP.LoadBalance <= 0 || d.Data.POP.Over == "" {
		t.Errorf("status %d: %+v", status, d)
	}
}

// The summary and the test cases of check: findings and limits, for CI systems.
func TestCheckWritesForCI(t *testing.T) {
	dir := t.TempDir()
	summary, junit := filepath.Join(dir, "summary.md"), filepath.Join(dir, "junit.xml")
	status, out, problem := parallax(t, "check", "demo:stencil", "--fail-on", "high=0", "--fail-on", "load-balance=1%", "--summary", summary, "--junit", junit)
	if status != 1 {
		t.Fatalf("status %d: %s%s", status, out, problem)
	}
	b, err := os.ReadFile(summary)
	if err != nil || strings.Count(string(b), "✗") != 1 || strings.Count(string(b), "✓") != 1 || !strings.Contains(string(b), "| high |") {
		t.Errorf("the summary is %s (%v)", b, err)
	}
	checkMarkdown(t, string(b))
	var suite junitSuite
	if b, err = os.ReadFile(junit); err == nil {
		err = xml.Unmarshal(b, &suite)
	}
	if err != nil || suite.Failures != 1 || len(suite.Cases) != 2 || suite.Name != "parallax check" {
		t.Errorf("the test cases are %s (%v)", b, err)
	}
}
