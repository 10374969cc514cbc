package findings_test

import (
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// Real runs of which nothing was said: what the recording holds of them is told, with the numbers that
// the raw records add up to.
func TestRunsWithLittleWorkHaveAFinding(t *testing.T) {
	for _, c := range []struct {
		set, evidence string
		kind          finding.Kind
		value         float64 // of open, the sum of dur over its 21,814 records
	}{
		{"public/chrome-json/dftracer-cm1-48ranks", "open", diagnose.Unrecorded, 11_243_376_000},
		{"public/chrome-json/bazel-94threads", "critical path, as recorded", finding.Serial, 291.464e9},
		{"readers3/ghc/me.eventlog", "garbage collection", finding.GarbageCollection, 42.644e6},
		{"readers/ctf/lttng-tracefile-rotation", "time without records", finding.IdleProcessors, 7.733e9},
		{"readers3/ftrace/sched-markers.ftrace", "waited for a processor", finding.ProcessorWait, 3.169e9},
	} {
		d := read(t, viewtest.Import(t, "data", c.set))
		if len(d.Findings) == 0 || d.Findings[0].Kind != c.kind {
			t.Errorf("%s: %q, want %s first", c.set, texts(&d), c.kind)
			continue
		}
		numbersAreEvidence(t, c.set, &d)
		e := d.Findings[0].Evidence
		i := slices.IndexFunc(e, func(e finding.Evidence) bool { return e.Name == c.evidence })
		if i < 0 || e[i].Value < 0.999*c.value || e[i].Value > 1.001*c.value {
			t.Errorf("%s: %+v, want %v of %s", c.set, e, c.value, c.evidence)
		}
	}
}

// Tasks of a whole system have nothing to do with one another: no work of theirs is uneven, and a timer that fires
// while one of them runs is not its doing.
func TestTasksOfASystemAreNotCompared(t *testing.T) {
	d := read(t, viewtest.Import(t, "data", "readers3/ftrace/sched-markers.ftrace"))
	for _, f := range d.Findings {
		switch f.Kind {
		case finding.ProcessorWait, finding.Unexplained:
		default:
			t.Errorf("%s %s: %s", f.Severity, f.Kind, f.Text)
		}
	}
	for _, c := range d.Budget {
		t.Errorf("%v are waited for %s", c.Time, c.Path)
	}
}
