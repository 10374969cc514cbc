package pprof

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/pprof/profile"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
)

// A function that is sampled on two lines is one region with the samples of both; a function of the same name in
// another file is another region.
func TestLinesAreNoPartOfARegion(t *testing.T) {
	here, there := &profile.Function{ID: 1, Name: "work", Filename: "a.c", StartLine: 3}, &profile.Function{ID: 2, Name: "work", Filename: "b.c"}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, Function: []*profile.Function{here, there}}
	for i, line := range []profile.Line{{Function: here, Line: 5}, {Function: here, Line: 9}, {Function: there, Line: 5}} {
		l := &profile.Location{ID: uint64(i + 1), Line: []profile.Line{line}}
		p.Location = append(p.Location, l)
		p.Sample = append(p.Sample, &profile.Sample{Location: []*profile.Location{l}, Value: []int64{1 << i}})
	}
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
	files := map[string]int{}
	for _, g := range r.Regions() {
		files[g.File]++
	}
	if len(r.Regions()) != 2 || files["a.c"] != 1 || files["b.c"] != 1 {
		t.Errorf("%+v, want one region a file", r.Regions())
	}
	if total, _, _ := sums(t, r, "work"); total["samples"] != 7 {
		t.Errorf("%v, want 7 samples", total)
	}
}
