package findings_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// momentsOf is a run of moments alone: workers that are busy for so much of each of ten windows of 100 ns.
func momentsOf(t *testing.T, busy ...float64) store.Reader {
	return viewtest.Local(t, func(w trace.Writer) {
		for i, b := range busy {
			at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindThread, Name: fmt.Sprintf("worker %d", i), Rank: trace.NoRank})
			for k := range trace.Time(10) {
				w.Moments(trace.MomentRow{Location: at, Role: trace.RoleCompute, Begin: 100 * k, End: 100 * (k + 1), Weight: b, Mean: 50})
				w.Moments(trace.MomentRow{Location: at, Role: trace.RoleIdle, Begin: 100 * k, End: 100 * (k + 1), Weight: 100 - b, Mean: 50})
			}
		}
	})
}

// A run of moments alone, without a region, has an answer: who is busy for longer, and how much of the time is work.
func TestRecordedMomentsHaveAnAnswer(t *testing.T) {
	d := read(t, momentsOf(t, 40, 40, 80, 40))
	if len(d.Findings) != 1 {
		t.Fatalf("findings %q", texts(&d))
	}
	f := &d.Findings[0]
	// The three others could work 400 ns longer each: 1.2 of 4 µs.
	if f.Kind != finding.Imbalance || f.Lost != 1200 || math.Abs(f.Share-0.3) > 1e-9 || f.Severity != finding.High || f.Next == "" || f.NoGain == "" {
		t.Errorf("%+v", f)
	}
	if want := "worker 2 is busy for 800 ns, the mean is 500 ns"; !strings.Contains(f.Text, want) {
		t.Errorf("%q does not say %q", f.Text, want)
	}
	if len(f.Proof) != 2 || f.Proof[0].Value != 800 || f.Proof[1].Value != 500 || len(f.Claims) != 3 {
		t.Errorf("proof %+v, claims %+v", f.Proof, f.Claims)
	}
	if p := &d.POP; *p.LoadBalance != 0.625 || *p.Parallel != 0.5 {
		t.Errorf("efficiencies %v, %v", *p.LoadBalance, *p.Parallel)
	}
	d = read(t, momentsOf(t, 97, 98, 97, 98))
	if len(d.Findings) != 0 || !strings.HasPrefix(d.Answer.Text, "Nothing stands out: 97.5 % of the time is work") {
		t.Errorf("findings %q, answer %q", texts(&d), d.Answer.Text)
	}
}
