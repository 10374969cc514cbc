package main

import (
	"fmt"
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

// A view that cannot read what it is of says so, rather than that there is nothing.
func TestADamagedProfileIsNotTakenForAnEmptyOne(t *testing.T) {
	dir, run := t.TempDir(), filepath.Join(t.TempDir(), "x.plx")
	text := "1 templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>\n\"main\" 1 0 5 5 0 GROUP=\"A\"\n0 aggregates\n0 userevents\n"
	for rank := range 8 {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("profile.%d.0.0", rank)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, _, errs := parallax(t, "import", dir, "-o", run, "--quiet"); status != 0 {
		t.Fatal(errs)
	}
	file := filepath.Join(run, "profile.location.u32")
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-1] ^= 0x40
	if err := os.WriteFile(file, b, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, v := range []string{"treemap", "groups", "profile"} {
		if status, _, errs := parallax(t, "view", v, run, "--quiet"); status != 1 || !strings.Contains(errs, "damaged") {
			t.Errorf("%s: %d %s", v, status, errs)
		}
	}
}
