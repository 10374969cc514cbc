package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestRunsWithManyLocationsAreImportedWithWhatTheirFirstViewsNeed: groups and layouts of all locations are kept beside
// the store, and views that find them there give the same answer as those that make them.
func TestRunsWithManyLocationsAreImportedWithWhatTheirFirstViewsNeed(t *testing.T) {
	dir := t.TempDir()
	run := filepath.Join(dir, "run.plx")
	source := "demo:stencil?locations=4096&intervals=50000"
	if status, _, errs := parallax(t, "import", source, "-o", run, "--quiet"); status != 0 {
		t.Fatal(errs)
	}
	answer := func(view string) []byte {
		t.Helper()
		file := filepath.Join(dir, view+".json")
		if status, _, errs := parallax(t, "view", view, run, "-o", file); status != 0 {
			t.Fatal(errs)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	views := []string{"treemap", "topology"}
	found := map[string][]byte{}
	for _, v := range views {
		found[v] = answer(v)
	}
	for _, name := range []string{"alike", "groupings", "layouts"} {
		if err := os.Remove(filepath.Join(run, "kept."+name)); err != nil {
			t.Error("not made at import: ", err)
		}
	}
	for _, v := range views {
		if !bytes.Equal(found[v], answer(v)) {
			t.Errorf("%s: another answer without kept results", v)
		}
	}
}
