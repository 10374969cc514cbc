package local

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// meet writes three ranks that record a collective alone, whose clocks are off by offset, and opens the run.
func meet(t *testing.T, align string, offset func(rank, round int) trace.Time, rounds func(rank int) int) (*Reader, string) {
	t.Helper()
	r := ranks(t, Options{Align: align}, func(w *Writer, rank int, s trace.Stream) {
		call, work := w.Region(trace.Region{Name: "MPI_Allreduce"}), w.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
		for k := range rounds(rank) {
			at := trace.Time(k+1)*100_000 + offset(rank, k)
			s.Enter(at-50_000, work)
			s.Leave(at-trace.Time(rank)*1000, work)
			s.Enter(at-trace.Time(rank)*1000, call)
			s.Leave(at+5000, call)
		}
	})
	var report []string
	for _, x := range r.Info().Report {
		report = append(report, x.What)
	}
	return r, strings.Join(report, "; ")
}

// Clocks of ranks without messages are compared by collectives, though no source tells which calls are one.
func TestClocksAreFittedByCollectivesAlone(t *testing.T) {
	equal := func(int) int { return 40 }
	off := func(rank, _ int) trace.Time { return trace.Time(rank%2) * 30_000 }
	begins := func(align string) (out []trace.Time) {
		r, report := meet(t, align, off, equal)
		if fitted := strings.Contains(report, "clocks of processes fitted"); fitted != (align == "auto") {
			t.Errorf("%s: %q", align, report)
		}
		if refused := strings.Contains(report, "the match is refused"); refused != (align == "none") {
			t.Errorf("%s: %q", align, report)
		}
		for id := range trace.LocationID(3) {
			out = append(out, staysOf(t, r, id)[1].end)
		}
		return out
	}
	if x := begins("auto"); x[0]-x[1] > 7000 || x[1]-x[0] > 7000 {
		t.Errorf("the ranks leave the first collective at %v", x)
	}
	if x := begins("none"); x[1]-x[0] != 30_000 {
		t.Errorf("the ranks leave the first collective at %v, as recorded", x)
	}
}

// Calls that are no one operation are refused and counted, and move no clock.
func TestCollectivesThatDoNotOverlapAreRefused(t *testing.T) {
	apart := func(rank, round int) trace.Time { return trace.Time((rank*7+round*3)%5) * 15_000 }
	if _, report := meet(t, "auto", apart, func(int) int { return 40 }); !strings.Contains(report, "the match is refused") ||
		strings.Contains(report, "fitted") {
		t.Errorf("%q", report)
	}
	agree := func(int, int) trace.Time { return 0 }
	if _, report := meet(t, "auto", agree, func(rank int) int { return 40 + rank }); !strings.Contains(report, "more often than") {
		t.Errorf("%q", report)
	}
	if _, report := meet(t, "auto", agree, func(int) int { return 40 }); report != "" {
		t.Errorf("%q", report)
	}
}
