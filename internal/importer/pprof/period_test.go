package pprof

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// Samples that are counted are time as well where the profile states how long one is, and only there.
func TestAStatedPeriodTurnsSamplesIntoTime(t *testing.T) {
	for _, c := range []struct {
		period *profile.ValueType
		want   string
		value  float64
	}{
		{&profile.ValueType{Type: "cpu", Unit: "milliseconds"}, "sampled time", 7 * 10e6},
		{&profile.ValueType{Type: "cache-misses", Unit: "count"}, "samples", 7},
		{nil, "samples", 7},
	} {
		f := &profile.Function{ID: 1, Name: "work"}
		l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f}}}
		p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, PeriodType: c.period, Period: 10,
			Sample: []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{7}}}, Location: []*profile.Location{l}, Function: []*profile.Function{f}}
		file := filepath.Join(t.TempDir(), "x.pb.gz")
		out, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Write(out); err != nil {
			t.Fatal(err)
		}
		out.Close()
		r := importertest.Import(t, Format, file)
		for _, m := range r.Metrics() {
			if m.Default != (m.Name == c.want) {
				t.Errorf("%v: %s stands for time: %v", c.period, m.Name, m.Default)
			}
		}
		if total, _, _ := sums(t, r, "work"); total[c.want] != c.value {
			t.Errorf("%v: %v, want %v %s", c.period, total, c.value, c.want)
		}
	}
}
