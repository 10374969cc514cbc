package topology_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/topology"
)

const twoRanks = `region work
location process "rank 0" rank=0
  0..10 work
location process "rank 1" rank=1
  0..30 work
`

// ofTwo asks for a picture of two runs: the second has 20 ns more on rank 0, and 5 ns less on rank 1.
func ofTwo(t *testing.T, picture string) view.Result {
	t.Helper()
	a := storetest.Text(t, twoRanks, all.Summaries...)
	b := storetest.Text(t, `region work
location process "rank 0" rank=0
  0..30 work
location process "rank 1" rank=1
  0..25 work
`, all.Summaries...)
	values, err := view.NewValues(topology.View, map[string][]string{"picture": {picture}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := view.Ask(t.Context(), topology.View, &view.Request{Values: values, Selection: trace.Selection{End: 30},
		Runs: []view.Run{{Name: "a", Store: a}, {Name: "b", Store: b}}, Size: scene.Size{Width: 800, Height: 600}})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestASecondRunIsDrawnBesideTheFirst(t *testing.T) {
	r := ofTwo(t, "beside")
	d := r.Data().(topology.PairData)
	if *d.Points[0].Color != 10 || *d.With.Points[0].Color != 30 || len(d.With.Points) != 2 {
		t.Errorf("points are %+v and %+v", d.Points, d.With.Points)
	}
	for range 2 { // a picture that is drawn again lies where it lay
		var at []float32
		for _, l := range r.Scene(scene.Size{Width: 800, Height: 600}).Layers {
			for _, m := range l.Marks {
				if s, ok := m.(*scene.Space); ok {
					at = append(at, s.X, s.Low, s.High)
				}
			}
		}
		if len(at) != 6 || at[0] != 0 || at[3] != 400 || at[1] != at[4] || at[2] != at[5] || at[2] != 30 {
			t.Errorf("places and ends of colours are %v", at)
		}
	}
}

func TestTwoRunsAreDrawnAsTheirDifference(t *testing.T) {
	d := ofTwo(t, "difference").Data().(topology.Data)
	if *d.Points[0].Color != 20 || *d.Points[1].Color != -5 || d.Difference != "b less a" {
		t.Errorf("points are %+v of %q", d.Points, d.Difference)
	}
}

// Messages of the same ranks may make another grid in a second run; each rank lies where it lies in the first.
func TestASecondRunLiesOnTheGridOfTheFirst(t *testing.T) {
	a := storetest.Text(t, withHalo(onHosts(24, 24), 6, 4, 24), all.Summaries...)
	b := storetest.Text(t, withHalo(onHosts(24, 24), 8, 3, 24), all.Summaries...)
	values, err := view.NewValues(topology.View, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := view.Ask(t.Context(), topology.View, &view.Request{Values: values, Selection: trace.Selection{End: 300},
		Runs: []view.Run{{Name: "a", Store: a}, {Name: "b", Store: b}}, Size: scene.Size{Width: 800, Height: 600}})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Data().(topology.PairData)
	for i, p := range d.Points {
		if q := d.With.Points[i]; p.X == nil || q.X == nil || *p.X != *q.X || *p.Y != *q.Y {
			t.Errorf("%s is elsewhere in the second run", p.Path)
		}
	}
	if len(d.Points) != 24 {
		t.Errorf("%d points", len(d.Points))
	}
}

// A run with a slow node opens by hosts, and without it by its grid: beside each other both are by hosts.
func TestASecondRunHasTheLayoutOfTheFirst(t *testing.T) {
	slow := withHalo(onHosts(64, 8), 8, 8, 8)
	even := regexp.MustCompile(`0\.\.2\d\d solve`).ReplaceAllString(slow, "0..100 solve")
	layouts := func(first, second string, options map[string][]string) (string, string, []string) {
		values, err := view.NewValues(topology.View, options)
		if err != nil {
			t.Fatal(err)
		}
		r, err := view.Ask(t.Context(), topology.View, &view.Request{Values: values, Selection: trace.Selection{End: 300},
			Runs: []view.Run{{Name: "a", Store: storetest.Text(t, first, all.Summaries...)}, {Name: "b", Store: storetest.Text(t, second, all.Summaries...)}},
			Size: scene.Size{Width: 800, Height: 600}})
		if err != nil {
			t.Fatal(err)
		}
		d, ok := r.Data().(topology.PairData)
		if !ok {
			return "", "", r.Notes()
		}
		return d.Layout, d.With.Layout, nil
	}
	if a, b, _ := layouts(slow, even, nil); a != "hosts:1" || b != "hosts:1" {
		t.Errorf("slow beside even: %s and %s", a, b)
	}
	if a, b, _ := layouts(even, slow, nil); a != "grid" || b != "grid" {
		t.Errorf("even beside slow: %s and %s", a, b)
	}
	_, _, notes := layouts(slow, even, map[string][]string{"picture": {"difference"}})
	if n := strings.Count(strings.Join(notes, "; "), "64 locations"); n != 1 {
		t.Errorf("a difference says %d times what it is: %q", n, notes)
	}
}
