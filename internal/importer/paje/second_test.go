package paje

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func readText(t *testing.T, text string) store.Reader {
	t.Helper()
	m := storetest.NewMemory()
	if err := runOf(t, text).Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	return m.Reader()
}

// A type of states is beside the others of its container, not in them; one of StarPU's
// scheduling contexts repeats the state of its worker, and its calls are no others.
func TestTypesOfStatesAreParallel(t *testing.T) {
	r := readText(t, smallHeader+`2 W P "Worker State"
2 C P "InCtx1"
2 O P "Power"
6 0 c P 0 cpu
12 1 C c gemm
12 1 W c gemm
12 2 O c high
13 3 O c
13 4 W c
13 5 C c
`)
	tree := r.Locations()
	kinds := map[string]trace.Kind{}
	for id := range tree.Len() {
		kinds[tree.Path(trace.LocationID(id))] = tree.Kind[id]
	}
	if kinds["cpu/InCtx1"] != trace.KindRepeat || kinds["cpu/Power"] != trace.KindStates {
		t.Fatalf("rows %v", kinds)
	}
	table, err := r.Time(t.Context(), store.Window{End: r.Info().End})
	if err != nil {
		t.Fatal(err)
	}
	calls, time := map[string]int64{}, map[string]trace.Time{}
	for i, g := range table.Region {
		calls[r.Regions()[g].Name] += table.Calls[i]
		time[r.Regions()[g].Name] += table.Exclusive[i]
	}
	if calls["gemm"] != 1 || time["gemm"] != 3e9 || time["high"] != 1e9 {
		t.Errorf("%d calls of gemm, %d ns in it, %d in high; want 1, 3 s, 1 s", calls["gemm"], time["gemm"], time["high"])
	}
	report := importertest.Report(r.Info().Report)
	if report["guessed "+reasons[repeatedStates].What] != 1 || report["guessed "+reasons[secondStates].What] != 1 {
		t.Errorf("report %v", report)
	}
}

// A container lives from its creation to its end, whether or not anything happens then.
func TestLivesOfContainersAreInTheSpan(t *testing.T) {
	const lives = smallHeader + moreEvents + "6 2.5 a P 0 a\n6 3 b P 0 b\n7 10 P a\n7 12.5 P b\n"
	for _, text := range []string{lives, lives + "12 4 S a run\n"} {
		if i := readText(t, text).Info(); i.Origin+i.End != 12.5e9 {
			t.Errorf("the trace ends at %d ns of the file, want 12.5 s", i.Origin+i.End)
		}
	}
}
