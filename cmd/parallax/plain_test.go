package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestNamesCannotDriveTheTerminal(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"plain näme → 7", "plain näme → 7"},
		{"a\x1b[2Jb", `a\x1b[2Jb`},
		{"a\u009bb\x7f", `a\x9bb\x7f`},
		{"a\u202eb", `a\u202eb`},
		{"a\rb\tc", `a\x0db` + "\tc"},
	} {
		var out strings.Builder
		if n, err := fmt.Fprint(plain{&out}, c.name); out.String() != c.want || n != len(c.name) || err != nil {
			t.Errorf("%q is written as %q, %d, %v", c.name, out.String(), n, err)
		}
	}
}

// Whatever prints names: regions, locations, findings, errors with names of files.
func TestCommandsPrintNamesPlainly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x\x1b[2J.json")
	event := `{"ph":"X","name":"a\u001b[2Jb","pid":%d,"tid":1,"ts":0,"dur":%d},{"ph":"M","name":"process_name","pid":%[1]d,"args":{"name":"p\u001b[2J"}}`
	text := `{"traceEvents":[` + fmt.Sprintf(event, 1, 10) + "," + fmt.Sprintf(event, 2, 1000) + `]}`
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	store := filepath.Join(t.TempDir(), "run.plx")
	for _, args := range [][]string{{"info", file}, {"check", file, "--all"}, {"import", file, "-o", store}, {"info", file + "\x1b[2J"}, {"view", "x\x1b[2J", file}, {"view", "profile", file, "--regions", "\x1b[2J"}} {
		_, stdout, stderr := parallax(t, args...)
		if strings.Contains(stdout+stderr, "\x1b") {
			t.Errorf("%q prints an escape sequence: %q %q", args, stdout, stderr)
		}
	}
}
