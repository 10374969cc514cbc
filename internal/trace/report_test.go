package trace_test

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Every kind that a reader can give to parts that are not kept tells its consequence, in words of its own, and a kind
// is found again by them.
func TestEveryOmissionHasAConsequence(t *testing.T) {
	seen := map[string]bool{}
	for k := trace.Redundant; k.Valid(); k++ {
		c := k.Consequence()
		if c == "" || seen[c] || k.String() != "skipped" || k.Lost() == (k == trace.Redundant) {
			t.Errorf("kind %d: %s, consequence %q, lost %v", k, k, c, k.Lost())
		}
		if got := trace.ParseReportKind(k.String(), c); got != k {
			t.Errorf("%s, %q is kind %d, want %d", k, c, got, k)
		}
		seen[c] = true
	}
	for _, k := range []trace.ReportKind{trace.Repaired, trace.Guessed} {
		if k.Consequence() != "" || k.Lost() {
			t.Errorf("%s: something is kept", k)
		}
	}
	if trace.ReportKind(0).Valid() || trace.ReportKind(99).Valid() {
		t.Error("kinds that there are not are valid")
	}
	if k := trace.ParseReportKind("skipped", ""); !k.Lost() { // tables of older versions
		t.Errorf("a skipped entry without a consequence is of kind %d", k)
	}
	for old, want := range map[string]trace.ReportKind{"events are missing": trace.MissingEvents, "links are missing": trace.MissingLinks,
		"communicators, topologies or coordinates are missing": trace.MissingGroups} {
		if k := trace.ParseReportKind("skipped", old); k != want {
			t.Errorf("%q of an older version is kind %d, want %d", old, k, want)
		}
	}
}
