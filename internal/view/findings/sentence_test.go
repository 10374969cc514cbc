package findings_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

var (
	durations = regexp.MustCompile(`([\d.,]+)( to [\d.,]+)? (ns|µs|ms|s|min|h)\b`)
	shares    = regexp.MustCompile(`[\d.]+ %`)
	others    = regexp.MustCompile(`(\d+) others?\b|other (\d+)\b`)
)

// evidenced reports whether a number of a sentence is one of the finding's: behind it as
// evidence, what it costs, or the edge of what it selects.
func evidenced(f *finding.Finding, number string) bool {
	known := []string{view.FormatTime(f.Lost), view.FormatShare(f.Hit), view.FormatTime(f.Selection.Begin), view.FormatTime(f.Selection.End)}
	for _, e := range f.Evidence {
		known = append(known, diagnose.Format(e))
	}
	for _, k := range known {
		if k == number {
			return true
		}
	}
	return false
}

// Every time, share and number of locations in a sentence is in its evidence.
func numbersAreEvidence(t *testing.T, name string, d *answers) {
	t.Helper()
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Kind == finding.Clock || f.Kind == finding.Data {
			continue
		}
		for _, m := range durations.FindAllStringSubmatch(f.Text, -1) {
			list := []string{m[1] + " " + m[3]}
			if m[2] != "" {
				list = append(list, strings.TrimPrefix(m[2], " to ")+" "+m[3])
			}
			for _, x := range list {
				if !evidenced(f, x) {
					t.Errorf("%s: %q is no evidence of: %s\n%+v", name, x, f.Text, f.Evidence)
				}
			}
		}
		for _, x := range shares.FindAllString(f.Text, -1) {
			if !evidenced(f, x) {
				t.Errorf("%s: %q is no evidence of: %s\n%+v", name, x, f.Text, f.Evidence)
			}
		}
		for _, m := range others.FindAllStringSubmatch(f.Text, -1) {
			if n := m[1] + m[2]; !evidenced(f, n) {
				t.Errorf("%s: %q is no evidence of: %s\n%+v", name, n, f.Text, f.Evidence)
			}
		}
	}
}

func TestEveryNumberOfASentenceIsInItsEvidence(t *testing.T) {
	for _, name := range []string{"training", "training-loader", "training-launch"} {
		d := readDemo(t, name)
		numbersAreEvidence(t, name, &d)
	}
	for _, set := range []string{"faults/launch-bound-1rank", "faults/loader-all", "ml/h200/starved.json.gz", "ml/h200/eager-small.json.gz", "ml/tracelens/mi300-resnet-act-checkpoint.json.gz"} {
		d := read(t, viewtest.Import(t, append([]string{"data"}, strings.Split(set, "/")...)...))
		numbersAreEvidence(t, set, &d)
	}
	for _, name := range []string{"lock.trace", "condition.trace", "channel.trace", "crowd.trace"} {
		d := recorded(t, name)
		numbersAreEvidence(t, name, &d)
	}
	for _, set := range []string{"go-sync/sync.trace", "go-nethttp/nethttp.trace", "go-compile/gocompile.trace"} {
		d := read(t, viewtest.Import(t, append([]string{"data"}, strings.Split(set, "/")...)...))
		numbersAreEvidence(t, set, &d)
	}
	for _, set := range []string{"faults/alternating.trace.gz", "faults/half-slow.trace.gz", "faults/noise-all.trace.gz", "faults/serial-each.trace.gz", "paje-hpl128-g5k"} {
		d := read(t, viewtest.Import(t, "data", set))
		numbersAreEvidence(t, set, &d)
	}
}

// rawTime adds up the exclusive time of a region on some ranks from the raw intervals.
func rawTime(t *testing.T, r store.Reader, region string, rank func(int32) bool) (sums []float64) {
	t.Helper()
	tree := r.Locations()
	for id := range trace.LocationID(tree.Len()) {
		if tree.Rank[id] < 0 || !rank(tree.Rank[id]) {
			continue
		}
		sum := 0.0
		err := r.Intervals(t.Context(), store.Window{End: r.Info().End + 1, Locations: []trace.LocationID{id}}, func(c *trace.Columns) error {
			for i, g := range c.Region {
				if r.Regions()[g].Name == region {
					sum += float64(c.Exclusive[i])
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		sums = append(sums, sum)
	}
	return sums
}

// What is said of a slow rank, of serial stretches and of all waiting is what the raw
// intervals add up to.
func TestEvidenceIsWhatRawIntervalsAddUpTo(t *testing.T) {
	for _, halo := range []bool{false, true} {
		f := grow()
		f.halo = halo
		f.change = append(f.change, slower(only(5), 1.4))
		r := f.store(t)
		d := read(t, r)
		if d.Accounts.Waiting != f.waited {
			t.Errorf("%d are waited, by the raw records %d", d.Accounts.Waiting, f.waited)
		}
		work, comm := 0.0, 0.0
		for _, g := range []string{"compute", "iteration"} {
			for _, x := range rawTime(t, r, g, func(int32) bool { return true }) {
				work += x
			}
		}
		for _, g := range []string{"MPI_Allreduce", "MPI_Waitall", "MPI_Isend", "MPI_Irecv"} {
			for _, x := range rawTime(t, r, g, func(int32) bool { return true }) {
				comm += x
			}
		}
		if float64(d.Accounts.Work) != work {
			t.Errorf("work is %d, raw %v", d.Accounts.Work, work)
		}
		// All waits lie in communication here: ranks end together.
		if got, want := float64(d.Accounts.Transfer), comm-float64(d.Accounts.Waiting); math.Abs(got-want) > 1e-6*want {
			t.Errorf("transfer is %v, raw %v", got, want)
		}
		first := d.Findings[0]
		raw := rawTime(t, r, "compute", func(k int32) bool { return k == 5 })[0]
		if e := first.Evidence[0]; e.Name != "compute" || e.Value != raw {
			t.Errorf("the evidence is %+v, raw %v", e, raw)
		}
	}
}

// Waiting for ranks that communicate is stated with the region in which most of it is.
func TestWaitingForCommunicationHasItsRegion(t *testing.T) {
	told := 0
	for _, set := range []string{"otf2-lammps-imbalanced16", "otf2-hpl32", "paje-is128-g5k"} {
		d := read(t, viewtest.Import(t, "data", set))
		for i := range d.Findings {
			f := &d.Findings[i]
			about := d.about(f)
			if f.Kind != finding.Communication || strings.Contains(about, "waited meanwhile = 0 s") {
				continue
			}
			if told++; !strings.Contains(about, "waited for others in MPI_") && !strings.Contains(about, "waited for others in PMPI_") {
				t.Errorf("%s: %s\n%s", set, f.Text, about)
			}
		}
	}
	if told == 0 {
		t.Error("no sentence tells of waits for communication")
	}
}
