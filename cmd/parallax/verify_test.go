package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A store with one byte changed is told apart from a whole one, with the file and the place; and a view of it fails in one sentence.
func TestVerifySaysWhatIsDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.plx")
	if code, _, errors := parallax(t, "import", "demo:stencil", "-o", path); code != 0 {
		t.Fatal(errors)
	}
	if code, out, _ := parallax(t, "verify", path); code != 0 || !strings.Contains(out, "whole") {
		t.Errorf("whole: status %d, %s", code, out)
	}
	file := filepath.Join(path, "interval.duration.i64")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)/2] ^= 0x40
	if err := os.WriteFile(file, b, 0o644); err != nil {
		t.Fatal(err)
	}
	code, out, _ := parallax(t, "verify", path)
	if code != 1 || !strings.Contains(out, "interval.duration.i64") || !strings.Contains(out, "can be used") || !strings.Contains(out, "parallax import") {
		t.Errorf("damaged: status %d, %s", code, out)
	}
	code, out, errors := parallax(t, "view", "timeline", path)
	if code != 1 || out != "" || strings.Count(errors, "\n") != 1 || !strings.Contains(errors, "interval.duration.i64") {
		t.Errorf("a view of it: status %d, %q, %q", code, out, errors)
	}
	if code, _, _ := parallax(t, "verify", "nothing.plx"); code != 2 {
		t.Errorf("no store: status %d", code)
	}
}
