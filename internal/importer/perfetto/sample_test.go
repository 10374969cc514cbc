package perfetto

import (
	"context"
	"os"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Sampled call stacks are seen on rows of their own and add to no sum: a thread was in
// work for 200 ns, whatever was met there now and then.
func TestSampledStacksCountNowhere(t *testing.T) {
	r := importertest.Import(t, Format, "testdata/sampling.pftrace")
	whole := store.Window{End: r.Info().End}
	table, err := r.Time(t.Context(), whole)
	if err != nil {
		t.Fatal(err)
	}
	total := trace.Time(0)
	for _, x := range table.Exclusive {
		total += x
	}
	groups, err := r.Groups(t.Context(), []trace.LocationID{0}, 0, whole.End, 62)
	if err != nil {
		t.Fatal(err)
	}
	if compute := groups.Time[trace.RoleCompute]; total != 200 || compute != 200 || groups.Rows[0] != 1 || r.Info().Rows != 1 {
		t.Errorf("%d ns in all, %d ns of work on %d of %d rows; want 200, 200, 1, 1", total, compute, groups.Rows[0], r.Info().Rows)
	}
	aside := map[string]int64{}
	tree := r.Locations()
	for id := range tree.Len() {
		if at := trace.LocationID(id); tree.IsAside(at) {
			whole.Locations = []trace.LocationID{at}
			aside[tree.Name[id]], _ = r.Count(whole)
		}
	}
	if len(aside) != 2 || aside["Thread 0 (S)"] != 1 || aside["samples"] != 1 {
		t.Errorf("rows aside %v", aside)
	}
}

func TestSamplesOfPerfKeepTheirCPUAndStack(t *testing.T) {
	data, err := os.ReadFile("testdata/samples.pftrace")
	if err != nil {
		t.Fatal(err)
	}
	s, err := importer.NewSourceFS("sample", fstest.MapFS{"x.pftrace": {Data: data}})
	if err != nil {
		t.Fatal(err)
	}
	w := importertest.NewCount()
	if err := importer.ClaimAs(Format, s)[0].Import(context.Background(), w); err != nil {
		t.Fatal(err)
	}
	// A CPU each, three stacks, one that could not be unwound to its end.
	if w.Instants != 5 || w.Attributes != 5+3+1 {
		t.Errorf("%d samples with %d attributes, want 5 with 9", w.Instants, w.Attributes)
	}
}
