package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// Every claim of every finding holds by its query: of the demos, of one sample of each format, and of the shared sets
// where they are there, but for four large ones of kinds that others have; each run of a folder by itself. Of all samples
// and sets with PARALLAX_CLAIMS=all, which takes minutes. Every measured number of a sentence has a claim.
func TestEveryClaimHoldsByItsQuery(t *testing.T) {
	sources := []string{"demo:stencil", "demo:training", "demo:training-loader", "demo:training-launch", "demo:shop"}
	samples, err := filepath.Glob("../../internal/importer/*/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	below, most := []string{"*", "public/otf2/*/profile.cubex"}, 8 // runs of a folder
	if os.Getenv("PARALLAX_CLAIMS") == "all" {
		most = 1000
		below = []string{"*", "faults/*", "ml/*/*", "public/*/*", "readers/*/*", "readers3/*/*"}
	} else {
		samples = slices.CompactFunc(samples, func(a, b string) bool { return filepath.Dir(a) == filepath.Dir(b) })
	}
	for _, below := range below {
		shared, err := filepath.Glob("../../../shared/data/" + below)
		if err != nil {
			t.Fatal(err)
		}
		samples = append(samples, shared...)
	}
	if testing.Short() {
		samples = nil
	}
	if most < 1000 { // half of the time, for what smaller runs of HPL, LAMMPS and SimGrid have too
		samples = slices.DeleteFunc(samples, func(s string) bool {
			return slices.Contains([]string{"otf2-hpl16-deep-a", "otf2-hpl32", "otf2-lammps-balanced16", "paje-hpl128-g5k"}, filepath.Base(s))
		})
	}
	for _, s := range samples {
		if i, err := os.Stat(s); err == nil && i.Size() > 0 && !strings.HasSuffix(s, ".md") && !strings.HasSuffix(s, ".golden") {
			sources = append(sources, s)
		}
	}
	claims, seen := 0, map[string]bool{}
	for len(sources) > 0 {
		s := sources[0]
		if sources = sources[1:]; seen[s] {
			continue
		}
		seen[s] = true
		status, answer, out := parallax(t, "check", s, "--prove", "--all", "--json")
		if status != 0 {
			runs := runsOf(out)
			if len(runs) <= most {
				sources = append(sources, runs...)
			}
			sample := strings.Contains(s, "testdata") && !strings.Contains(out, "--prove") && answer == "" // some are damaged
			if len(runs) == 0 && !sample && !strings.Contains(out, "the source has neither") {
				if status, _, _ := parallax(t, "info", s, "--quiet"); status == 0 {
					t.Errorf("%s: %s%s", s, answer, out)
				}
			}
			continue
		}
		claims += strings.Count(out, "    holds ")
		kind := ""
		for line := range strings.Lines(out) {
			if f := strings.Fields(line); len(f) == 3 && strings.HasSuffix(f[0], ".") {
				kind = f[2]
			}
			if strings.HasPrefix(line, "    no query for") {
				t.Errorf("%s: %s: %s", s, kind, line)
			}
		}
		booksClose(t, s, answer)
	}
	if claims < 100 && !testing.Short() {
		t.Errorf("%d claims hold", claims)
	}
}

// runsOf are the runs that a source holds, if it holds several: the message lists them.
func runsOf(errors string) (out []string) {
	if !strings.Contains(errors, " runs, not one") {
		return nil
	}
	for line := range strings.Lines(errors) {
		if f := strings.Fields(line); strings.HasPrefix(line, "  ") && len(f) == 2 {
			out = append(out, f[1])
		}
	}
	return out
}

// booksClose checks the budget of waiting against the findings: told and unexplained are the waiting, and a cause that
// takes 5 % of all time has a finding. Profiles know no causes.
func booksClose(t *testing.T, source, answer string) {
	t.Helper()
	var x struct{ Data findings.Data }
	if err := json.Unmarshal([]byte(answer), &x); err != nil {
		t.Fatalf("%s: %v", source, err)
	}
	a := &x.Data.Accounts
	if a.Told+a.Unexplained != a.Waiting || a.Told > a.Waiting {
		t.Errorf("%s: told %d and unexplained %d of %d", source, a.Told, a.Unexplained, a.Waiting)
	}
	for _, c := range x.Data.Budget {
		if c.Finding == "" && 20*c.Time >= a.Time {
			t.Errorf("%s: no finding tells of %s by %s in %s, %d of %d ns", source, c.Cause, c.Path, c.Region, c.Time, a.Time)
		}
	}
}

// The command that a finding names draws it.
func TestTheCommandOfAFindingDrawsIt(t *testing.T) {
	dir := t.TempDir()
	for _, s := range []string{"demo:stencil", "demo:training", "demo:training-launch", "demo:shop"} {
		_, answer, _ := parallax(t, "check", s, "--all", "--json", "--quiet")
		var x struct{ Data findings.Data }
		if err := json.Unmarshal([]byte(answer), &x); err != nil || len(x.Data.Findings) == 0 {
			t.Fatalf("%s: %v: %s", s, err, answer)
		}
		for _, f := range x.Data.Findings {
			words := strings.Fields(strings.ReplaceAll(f.Show, "'", ""))
			out := filepath.Join(dir, words[len(words)-1])
			words = append(words[1:len(words)-1], out, "--quiet")
			if status, _, errors := parallax(t, words...); status != 0 {
				t.Errorf("%s: %s: %s", s, f.Show, errors)
			}
			if i, err := os.Stat(out); err != nil || i.Size() < 1000 {
				t.Errorf("%s draws nothing: %v", f.Show, err)
			}
		}
	}
}
