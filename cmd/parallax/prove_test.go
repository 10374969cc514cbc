package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every claim of every finding holds by its query: of the demos, and of the samples of all formats that open alone.
func TestEveryClaimHoldsByItsQuery(t *testing.T) {
	sources := []string{"demo:stencil", "demo:training", "demo:training-loader", "demo:training-launch", "demo:shop"}
	samples, err := filepath.Glob("../../internal/importer/*/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	if testing.Short() {
		samples = nil
	}
	for _, s := range samples {
		if i, err := os.Stat(s); err == nil && i.Size() > 0 && !strings.HasSuffix(s, ".md") && !strings.HasSuffix(s, ".golden") {
			sources = append(sources, s)
		}
	}
	claims, cache := 0, t.TempDir()
	for _, s := range sources {
		status, out, errors := parallax(t, "check", s, "--prove", "--all", "--quiet", "--cache", cache)
		switch {
		case status == 0:
			claims += strings.Count(out, "holds ")
			if n := strings.Count(out, "\nnext: "); n > 0 {
				t.Errorf("%s: %d next steps are not indented", s, n)
			}
		case strings.Contains(out, "differs") || strings.Contains(errors, "--prove"):
			t.Errorf("%s: %s%s", s, out, errors)
		}
	}
	if claims < 100 && !testing.Short() {
		t.Errorf("%d claims in %d sources", claims, len(sources))
	}
}
