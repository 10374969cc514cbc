package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// partlyClaimed are the kinds whose sentences have numbers that no query gives again yet.
var partlyClaimed = []string{"processor-wait", "straggler", "outlier", "heterogeneous", "idle-end", "idle-start",
	"input-bound", "host-bound", "gpu-idle", "unexplained", "communication", "slow-step", "slow-kernels", "launch-bound", "imbalance", "slow-operation", "clock", "start-up", "unlike", "jitter",
	"growth", "slow-phase", "periodic", "slack", "memory-full", "repeated-calls", "serial-calls", "retry",
	"failed-calls", "blocked", "garbage-collection", "late-sender", "late-receiver", "lock", "synchronization-bound",
	"serial", "oversubscribed", "io"}

// Every claim of every finding holds by its query: of the demos, of one sample of each format, and of the large shared
// sets where they are there, each run of a folder by itself; of all samples and sets with PARALLAX_CLAIMS=all, which takes minutes. Kinds that are not
// partlyClaimed have a claim for every measured number.
func TestEveryClaimHoldsByItsQuery(t *testing.T) {
	sources := []string{"demo:stencil", "demo:training", "demo:training-loader", "demo:training-launch", "demo:shop"}
	samples, err := filepath.Glob("../../internal/importer/*/testdata/*")
	if err != nil {
		t.Fatal(err)
	}
	below, most := []string{"*"}, 8 // runs of a folder
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
		status, out, errors := parallax(t, "check", s, "--prove", "--all", "--quiet")
		if status != 0 {
			runs := runsOf(errors)
			if len(runs) <= most {
				sources = append(sources, runs...)
			}
			sample := strings.Contains(s, "testdata") && !strings.Contains(errors, "--prove") && out == "" // some are damaged
			if len(runs) == 0 && !sample && !noRun(errors) {
				t.Errorf("%s: status %d: %s%s", s, status, out, errors)
			}
			continue
		}
		claims += strings.Count(out, "    holds ")
		kind := ""
		for line := range strings.Lines(out) {
			if f := strings.Fields(line); len(f) == 3 && strings.HasSuffix(f[0], ".") {
				kind = f[2]
			}
			if strings.HasPrefix(line, "    no query for") && !slices.Contains(partlyClaimed, kind) {
				t.Errorf("%s: %s: %s", s, kind, line)
			}
		}
		if n := strings.Count(out, "\nnext: "); n > 0 {
			t.Errorf("%s: %d next steps are not indented", s, n)
		}
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

// noRun reports whether an error says that a source is no run, or one without times.
func noRun(errors string) bool {
	return slices.ContainsFunc([]string{"no reader knows", "recognised but not read", "the source has neither"},
		func(why string) bool { return strings.Contains(errors, why) })
}
