package alignment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/alignment"
)

// Three ranks that do the same steps; rank 1 rebuilds a table in the second, rank 2 is
// slow and does one step fewer.
const steps = `
region step role=compute
region solve role=compute
region rebuild role=compute
region MPI_Send role=communication
location process "rank 0" rank=0
  0..100 step
    10..60 solve
    60..70 MPI_Send
  100..200 step
    110..160 solve
    160..170 MPI_Send
location process "rank 1" rank=1
  0..100 step
    10..60 solve
    60..70 MPI_Send
  100..260 step
    110..160 solve
    160..230 rebuild
    230..240 MPI_Send
location process "rank 2" rank=2
  0..190 step
    10..160 solve
    160..170 MPI_Send
`

func TestView(t *testing.T) {
	viewtest.Run(t, alignment.View,
		viewtest.Case{Name: "three ranks", Trace: steps, Size: scene.Size{Width: 800, Height: 400}},
		viewtest.Case{Name: "difference in a window", Trace: steps, Spec: view.Spec{From: "50", To: "150"}, Options: map[string][]string{"colour": {"difference"}}},
		viewtest.Case{Name: "two levels of one region", Trace: steps, Spec: view.Spec{Regions: []string{"solve", "rebuild"}}, Options: map[string][]string{"depth": {"2"}}},
	)
}

func data(t *testing.T, c viewtest.Case) alignment.Data {
	t.Helper()
	return viewtest.Decoded[alignment.Data](t, c.Compute(t, alignment.View, c.Open(t)))
}

func TestCallsOfOneRankAloneHaveTheirOwnSlot(t *testing.T) {
	d := data(t, viewtest.Case{Trace: steps})
	if len(d.Slots) != 7 || !d.Exact {
		t.Fatalf("%d slots: %+v", len(d.Slots), d.Slots)
	}
	for _, s := range d.Slots {
		if s.Region == "rebuild" && (s.Made != 1 || s.Durations[1] == nil || *s.Durations[1] != 70 || s.Durations[0] != nil) {
			t.Errorf("%+v", s)
		}
	}
	if l := d.Locations[1]; l.Matched != 6 || l.OnlyHere != 1 || l.OnlyFirst != 0 || l.Structure != 12./13 {
		t.Errorf("rank 1: %+v", l)
	}
	if l := d.Locations[2]; l.Matched != 3 || l.OnlyHere != 0 || l.OnlyFirst != 3 {
		t.Errorf("rank 2: %+v", l)
	}
}

// TestPickFindsTheCallAtItsPlace in every row, and the gap where there is none.
func TestPickFindsTheCallAtItsPlace(t *testing.T) {
	c := viewtest.Case{Trace: steps, Size: scene.Size{Width: 900, Height: 400}}
	r := c.Compute(t, alignment.View, c.Open(t))
	s := r.Scene(c.Size)
	boxes := 0
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			x, ok := m.(*scene.Rect)
			if !ok {
				continue
			}
			for i := range x.Len() {
				f, ok, _ := view.PickAt(r, s, float64(x.X[i]+x.W[i]*0.02+0.5), float64(x.Y[i]+1))
				if !ok || (l.Name == "gaps") != (f.Text == "Not called there.") {
					t.Fatalf("%s at %g, %g: %v %+v", l.Name, x.X[i], x.Y[i], ok, f)
				}
				boxes++
			}
		}
	}
	if boxes < 16 {
		t.Errorf("%d boxes", boxes)
	}
}

// TestManyShortCallsCoverTheirTime though none of them is a pixel wide.
func TestManyShortCallsCoverTheirTime(t *testing.T) {
	var text strings.Builder
	text.WriteString("region work role=compute\nregion MPI_Wait role=communication\n")
	for rank := range 2 {
		fmt.Fprintf(&text, "location process \"rank %d\" rank=%d\n", rank, rank)
		for i := range 1000 {
			fmt.Fprintf(&text, "  %d..%d work\n  %d..%d MPI_Wait\n", 10*i, 10*i+8, 10*i+8, 10*i+10)
		}
	}
	c := viewtest.Case{Trace: text.String(), Size: scene.Size{Width: 400, Height: 200}}
	s := c.Compute(t, alignment.View, c.Open(t)).Scene(c.Size)
	covered := map[float32]float32{} // by row
	for _, l := range s.Layers {
		for _, m := range l.Marks {
			if x, ok := m.(*scene.Rect); ok && l.Name == "calls" {
				for i := range x.Len() {
					covered[x.Y[i]] += x.W[i]
				}
			}
		}
	}
	for y, w := range covered {
		if want := s.Frames[0].W; w < 0.99*want || w > 1.01*want {
			t.Errorf("the row at %g is covered for %g of %g pixels", y, w, want)
		}
	}
	if len(covered) != 2 || !strings.Contains(strings.Join(s.Notes, "; "), "2,000 calls narrower than a pixel") {
		t.Errorf("%d rows, notes %q", len(covered), s.Notes)
	}
}

func TestTwoRunsAreAlignedByRank(t *testing.T) {
	c := viewtest.Case{Trace: steps, Spec: view.Spec{Locations: []string{"rank:1"}}}
	other := viewtest.Case{Trace: strings.Replace(steps, "    160..230 rebuild\n", "", 1)}
	q := c.Request(t, alignment.View, c.Open(t))
	q.Runs = append(q.Runs, view.Run{Name: "after", Store: other.Open(t)})
	r, err := alignment.View.Compute(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	d := r.Data().(alignment.Data)
	if len(d.Locations) != 2 || d.Locations[1].Run != "after" || d.Locations[1].Path != "rank 1" || d.Locations[1].OnlyFirst != 1 || d.Locations[1].Matched != 6 {
		t.Errorf("%+v", d.Locations)
	}
}

func TestWrongOptionsAreErrors(t *testing.T) {
	c := viewtest.Case{Trace: steps}
	if _, err := view.NewValues(alignment.View, map[string][]string{"colour": {"loud"}}); err == nil || !strings.Contains(err.Error(), "difference") {
		t.Errorf("error %v", err)
	}
	c.Options = map[string][]string{"top": {"2"}}
	if n := strings.Join(c.Compute(t, alignment.View, c.Open(t)).Notes(), "; "); !strings.Contains(n, "of 3 locations the first 2") {
		t.Errorf("notes %q", n)
	}
}
