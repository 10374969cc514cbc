package findings_test

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func parsed(t *testing.T, text string) store.Reader {
	t.Helper()
	return viewtest.Local(t, func(w trace.Writer) {
		if err := tracetest.Parse(w, text); err != nil {
			t.Fatal(err)
		}
	})
}

// gpuBusy is the time in which some stream of each GPU runs a kernel or copies, from
// the raw intervals.
func gpuBusy(t *testing.T, r store.Reader) []float64 {
	t.Helper()
	type stay struct{ begin, end trace.Time }
	tree := r.Locations()
	byGPU := map[trace.LocationID][]stay{}
	for id := range trace.LocationID(tree.Len()) {
		if tree.Kind[id] != trace.KindStream {
			continue
		}
		up := id
		for tree.Kind[up] != trace.KindDevice && tree.Kind[up] != trace.KindProcess {
			up = tree.Parent[up]
		}
		if n, _ := r.Count(store.Window{End: r.Info().End + 1, Locations: []trace.LocationID{id}}); n == 0 {
			continue
		}
		byGPU[up] = append(byGPU[up], stay{})
		if err := r.Intervals(context.Background(), store.Window{End: r.Info().End + 1, Locations: []trace.LocationID{id}}, func(c *trace.Columns) error {
			for i, g := range c.Region {
				if r.Regions()[g].Role.Busy() {
					byGPU[up] = append(byGPU[up], stay{c.Begin[i], c.End(i)})
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	var out []float64
	for _, list := range byGPU {
		slices.SortFunc(list, func(a, b stay) int { return cmp.Compare(a.begin, b.begin) })
		sum, until := trace.Time(0), trace.Time(0)
		for _, s := range list {
			sum += max(s.end-max(s.begin, until), 0)
			until = max(until, s.end)
		}
		out = append(out, float64(sum))
	}
	return out
}

// Threads and streams of one process have nothing in common: POP's factors of a GPU
// job are those of its GPUs. They were a mean over all 94 rows (4.6 % of balance).
func TestEfficienciesOfAGPUJobAreThoseOfItsGPUs(t *testing.T) {
	d, _ := demo.Find("training")
	for name, r := range map[string]store.Reader{
		"demo": viewtest.Local(t, func(w trace.Writer) {
			if err := d.Write(context.Background(), d.Options, w); err != nil {
				t.Fatal(err)
			}
		}),
		"kineto-ddp-8rank": viewtest.Import(t, "data", "kineto-ddp-8rank"),
	} {
		busy := gpuBusy(t, r)
		sum := 0.0
		for _, b := range busy {
			sum += b
		}
		mean, most := sum/float64(len(busy)), slices.Max(busy)
		got := read(t, r).POP
		if got.Over != "GPUs" || got.Locations != len(busy) || math.Abs(*got.LoadBalance-mean/most) > 1e-9 || math.Abs(*got.Parallel-mean/float64(got.Runtime)) > 1e-9 {
			t.Errorf("%s: over %d %s, load balance %v, parallel %v; want %d GPUs, %v, %v", name, got.Locations, got.Over, *got.LoadBalance, *got.Parallel, len(busy), mean/most, mean/got.Runtime)
		}
	}
}

// A process whose threads have different duties is not called unbalanced for it.
func TestEfficienciesAreOverTheThreadsOfATeam(t *testing.T) {
	text := "location process p\n"
	for i := range 4 {
		text += fmt.Sprintf("  location thread \"worker %d\"\n    0..%d crunch\n", i, 100-10*i)
	}
	text += "  location thread main\n    0..5 read\n  location thread logger\n    0..2 log\n"
	got := read(t, parsed(t, text)).POP
	if got.Locations != 4 || got.Over != "threads" || math.Abs(*got.LoadBalance-0.85) > 1e-12 {
		t.Errorf("over %d %s: load balance %v, want 85 %% over the 4 threads that crunch", got.Locations, got.Over, *got.LoadBalance)
	}
}

// A finding that quotes the load balance quotes that of the header.
func TestFindingsAndHeaderHaveTheSameLoadBalance(t *testing.T) {
	for _, set := range []string{"otf2-lammps-imbalanced16", "otf2-hpl32", "faults/half-slow.trace.gz", "faults/serial-each.trace.gz"} {
		d := read(t, viewtest.Import(t, "data", set))
		for i := range d.Findings {
			oneLoadBalance(t, set, &d, i)
		}
	}
}

func oneLoadBalance(t *testing.T, set string, d *answers, i int) {
	t.Helper()
	f := &d.Findings[i]
	for _, e := range f.Evidence {
		if e.Name == "load balance" && math.Abs(e.Value-*d.POP.LoadBalance) > 1e-12 {
			t.Errorf("%s: the finding says %v, the header %v", set, e.Value, *d.POP.LoadBalance)
		}
	}
}
