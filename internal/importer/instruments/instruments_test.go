package instruments

import (
	"context"
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "time-7.3.1.txt", Anywhere: true, Lines: true}, {Path: "allocations-7.3.1.txt", Anywhere: true, Lines: true}, {Path: "cycles-13.4.txt", Anywhere: true, Lines: true},
		{Path: "time-16.0.txt", Anywhere: true}, {Path: "sample.txt", Anywhere: true, Lines: true}, {Path: "time-profile.xctrace.xml"},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.txt", "testdata/time-7.3.1.txt", "testdata/allocations-7.3.1.txt", "testdata/sample.txt", "testdata/time-profile.xctrace.xml")
}

// functions are own values by name.
func functions(t *testing.T, file, metric string) (self map[string]float64, sum float64) {
	t.Helper()
	r := importertest.Import(t, Format, "testdata/"+file)
	self = map[string]float64{}
	err := r.Profile(context.Background(), nil, func(rows []trace.ProfileRow) error {
		for _, p := range rows {
			if r.Metrics()[p.Metric].Name == metric {
				self[r.Regions()[r.CallPaths()[p.Path].Region].Name] += p.Exclusive
				sum += p.Exclusive
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return self, sum
}

// The report's own table of functions on top of the stack is what the call graph adds up to.
func TestSampleAddsUpToItsOwnTable(t *testing.T) {
	self, sum := functions(t, "sample.txt", "samples")
	for name, want := range map[string]float64{"__workq_kernreturn": 2750, "sin": 1800, "read": 757, "compute(int, double)": 200, "???": 7} {
		if self[name] != want {
			t.Errorf("%s: %v samples, want %v", name, self[name], want)
		}
	}
	if _, time := functions(t, "sample.txt", "time"); sum != 2*2757 || time != sum*1e6 {
		t.Errorf("%v samples in %v ns, want 5,514 of a millisecond", sum, time)
	}
}

// Deep copies tell weights and own weights; own ones add up to the weight of what is outermost.
func TestDeepCopiesAddUp(t *testing.T) {
	for _, c := range []struct {
		file, metric, function string
		self, sum, off         float64
	}{
		{"time-7.3.1.txt", "time", "alpha()", 0, 4277e6, 20e6}, // 4273 ms are 99.9 %
		{"time-16.0.txt", "time", "delta()", 846e6, 4930e6, 20e6},
		{"allocations-7.3.1.txt", "bytes", "", 0, 429.93 * (1 << 20), 1 << 18},
		{"allocations-7.3.1.txt", "allocations", "", 0, 84671, 20},
		{"cycles-13.4.txt", "cycles", "", 0, 96.08e9, 0.2e9},
	} {
		self, sum := functions(t, c.file, c.metric)
		if math.Abs(sum-c.sum) > c.off {
			t.Errorf("%s: %v in all, want %v", c.file, sum, c.sum)
		}
		if c.self > 0 && math.Abs(self[c.function]-c.self) > 1 {
			t.Errorf("%s: %s has %v, want %v", c.file, c.function, self[c.function], c.self)
		}
	}
}
