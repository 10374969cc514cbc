package treemap_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/treemap"
)

// In the second run rank 1 computes 30 ns longer and waits 10 ns less; its regions are numbered otherwise.
const (
	treeBefore = "region run role=compute\nregion wait role=synchronization\nlocation machine m\n" +
		"  location process p0 rank=0\n    0..80 run\n    80..100 wait\n  location process p1 rank=1\n    0..60 " +
		"run\n    60..100 wait\n"
	treeAfter = "region wait role=synchronization\nregion run role=compute\nlocation machine other\n" +
		"  location process p0 rank=0\n    0..80 run\n    80..100 wait\n  location process p1 rank=1\n    0..90 " +
		"run\n    90..120 wait\n"
)

func TestADifferenceIsWhatBothHaveAndWhatOneHasMore(t *testing.T) {
	c := viewtest.Case{Trace: treeBefore, Others: []string{treeAfter}, Options: map[string][]string{"p": {"0"}}}
	r := c.Compute(t, treemap.View, c.Open(t))
	b, err := json.Marshal(r.Data())
	if err != nil {
		t.Fatal(err)
	}
	var d treemap.Data
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	got := map[string]map[string]float64{}
	for _, p := range d.Parts {
		got[p.Path] = p.Values
	}
	for path, want := range map[string]map[string]float64{
		"m/p0": {"in both": 100, "run, more in test2": 0, "run, less in test2": 0, "wait, more in test2": 0,
			"wait, less in test2": 0},
		"m/p1": {"in both": 90, "run, more in test2": 30, "run, less in test2": 0, "wait, more in test2": 0,
			"wait, less in test2": 10},
	} {
		for name, v := range want {
			if got[path][name] != v {
				t.Errorf("%s: %s is %v, want %v", path, name, got[path][name], v)
			}
		}
	}
	if notes := strings.Join(r.Notes(), "; "); !strings.Contains(notes, "test2 less test") {
		t.Errorf("notes do not say what is subtracted: %s", notes)
	}
}

func TestARunThatDidNotChangeIsAllInBoth(t *testing.T) {
	c := viewtest.Case{Trace: treeBefore, Others: []string{treeBefore}}
	d := c.Compute(t, treemap.View, c.Open(t)).Data().(treemap.Data)
	for _, p := range d.Parts {
		for name, v := range p.Values {
			if name != "in both" && v != 0 {
				t.Errorf("%s differs from itself by %v of %s", p.Path, v, name)
			}
		}
	}
	if len(d.Parts) != 2 && len(d.Parts) != 1 {
		t.Errorf("%d parts", len(d.Parts))
	}
}
