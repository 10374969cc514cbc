package treemap_test

import (
	"encoding/json"
	"fmt"
	"math"
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

// Fractions of many regions add up to the same sum each time, in the order of the regions.
func TestADifferenceIsTheSameEachTime(t *testing.T) {
	write := func(scale float64) string {
		var b strings.Builder
		b.WriteString("metric time unit=ns default\n")
		for k := range 24 {
			fmt.Fprintf(&b, "region r%d role=compute\n", k)
		}
		b.WriteString("location machine m\n  location process p0 rank=0\n  location process p1 rank=1\n")
		for k := range 48 {
			v := scale * math.Pow(10, float64(k%9)) / 3
			fmt.Fprintf(&b, "profile m/p%d r%d time calls=1 incl=%g excl=%g\n", k%2, k/2, v, v)
		}
		return b.String()
	}
	c := viewtest.Case{Trace: write(1), Others: []string{write(1.1)},
		Options: map[string][]string{"p": {"1"}, "values": {"regions"}}}
	first := ""
	for range 20 {
		b, err := json.Marshal(c.Compute(t, treemap.View, c.Open(t)).Data())
		if err != nil {
			t.Fatal(err)
		}
		if first == "" {
			first = string(b)
		}
		if string(b) != first {
			t.Fatalf("%.300s\nthen %.300s", first, b)
		}
	}
}
