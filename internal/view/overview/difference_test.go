package overview_test

import (
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/overview"
)

// Rank 1 computes from 50 to 75 in the second run where it waited, and works on after the end of the first; rank 2 is of
// the first run alone.
const (
	before = "region run role=compute\nregion wait role=synchronization\nlocation process p0 rank=0\n  0..100 run\n" +
		"location process p1 rank=1\n  0..50 run\n  50..100 wait\nlocation process other\n  0..100 run\n"
	after = "region wait role=synchronization\nregion run role=compute\nlocation process p0 rank=0\n  0..100 run\n" +
		"location process p1 rank=1\n  0..75 run\n  75..100 wait\n  100..200 run\n"
)

func TestADifferenceIsWhatBothHaveAndWhatOneHasMoreInEachSlice(t *testing.T) {
	c := viewtest.Case{Trace: before, Others: []string{after},
		Options: map[string][]string{"p": {"0"}, "bins": {"4"}, "picture": {"difference"}}}
	r := c.Compute(t, overview.View, c.Open(t))
	d := r.Data().(overview.Data)
	type cell struct {
		path string
		at   int64
	}
	got := map[cell]map[string]float64{} // in each of the slices of 50
	for _, p := range d.Parts {
		for at := int64(p.Begin); at < int64(p.End); at += 50 {
			got[cell{p.Path, at}] = map[string]float64{}
			for name, v := range p.Values {
				got[cell{p.Path, at}][name] = v / float64((p.End-p.Begin)/50)
			}
		}
	}
	const more, less = ", more in test2", ", less in test2"
	for at, want := range map[cell]map[string]float64{
		{"p0", 0}:      {"in both": 50},
		{"p0", 150}:    {},
		{"p1", 0}:      {"in both": 50},
		{"p1", 50}:     {"in both": 25, "compute" + more: 25, "synchronization" + less: 25},
		{"p1", 100}:    {"compute" + more: 50},
		{"p1", 150}:    {"compute" + more: 50},
		{"other", 50}:  {"compute" + less: 50},
		{"other", 100}: {},
	} {
		values, ok := got[at]
		if !ok {
			t.Fatalf("no box at %v; there are %v", at, got)
		}
		for name, v := range values {
			if math.Abs(v-want[name]) > 1e-9 {
				t.Errorf("%v: %s is %v, want %v", at, name, v, want[name])
			}
		}
		for name := range want {
			if _, ok := values[name]; !ok {
				t.Errorf("%v: no %s", at, name)
			}
		}
	}
	notes := strings.Join(r.Notes(), "; ")
	for _, want := range []string{"test2 less test", "1 location of test is none of test2"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes do not say %q: %s", want, notes)
		}
	}
}

func TestARunThatDidNotChangeIsOneBoxOfWhatBothHave(t *testing.T) {
	c := viewtest.Case{Trace: after, Others: []string{after},
		Options: map[string][]string{"picture": {"difference"}, "p": {"0.5"}}}
	for _, p := range c.Compute(t, overview.View, c.Open(t)).Data().(overview.Data).Parts {
		for name, v := range p.Values {
			if name != "in both" && v != 0 {
				t.Errorf("%s differs from itself by %v of %s", p.Path, v, name)
			}
		}
	}
}
