package main

import (
	"slices"
	"strings"
	"testing"
)

func TestAnOptionMayStandWithoutItsValue(t *testing.T) {
	for in, want := range map[string]string{
		"moments x --gantt --paper -o y.svg": "moments x --gantt=beside --paper -o y.svg",
		"moments x --gantt":                  "moments x --gantt=beside",
		"moments --gantt demo:fig4":          "moments --gantt=beside demo:fig4",
		"moments x --gantt 300":              "moments x --gantt 300",
		"moments x --gantt 30% --paper":      "moments x --gantt 30% --paper",
		"moments x --gantt behind":           "moments x --gantt behind",
		"moments x --gantt=behind --order m": "moments x --gantt=behind --order m",
	} {
		if got := bareFlags(strings.Fields(in)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", in, got)
		}
	}
}

func TestLinksToAnEditorNeedItsNameAndTheSource(t *testing.T) {
	const run = "../../internal/importer/callgrind/testdata/callgrind.out.gz"
	for _, c := range []struct{ args, want string }{
		{"--editor emacs", `--editor "emacs": want vscode`},
		{"--editor javascript:{file} --source .", "must not run or load something"},
		{"--editor vscode", "add --source DIR"},
		{"--trim /build", "add --source DIR"},
		{"--source nowhere", "want a directory with source files"},
	} {
		args := append([]string{"view", "source", run, "--json"}, strings.Fields(c.args)...)
		if status, _, stderr := parallax(t, args...); status != 2 || !strings.Contains(stderr, c.want) {
			t.Errorf("%s: status %d, %s", c.args, status, stderr)
		}
	}
	status, out, stderr := parallax(t, "view", "source", run, "--json", "--file", "work.c", "--editor", "vscode",
		"--source", "../../internal/importer/callgrind/testdata")
	if status != 0 || !strings.Contains(out, "/internal/importer/callgrind/testdata/work.c:4\"") {
		t.Errorf("status %d, %s", status, stderr)
	}
}
