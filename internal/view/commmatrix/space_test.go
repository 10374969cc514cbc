package commmatrix_test

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/commmatrix"
)

const sends = `
location process "rank 0" rank=0
  0..10 solve
location process "rank 1" rank=1
  0..10 solve
location process "rank 2" rank=2
  0..10 solve
link message 1 "rank 0" -> 2 "rank 1" size=100
link message 3 "rank 1" -> 4 "rank 0" size=300
link message 5 "rank 1" -> 6 "rank 2" size=200
`

// In space a bar stands for each pair, as high as it carries; picking one gives the links
// of its cell.
func TestTheMatrixStandsInSpace(t *testing.T) {
	for form, want := range map[string]int{"bars": 3, "mesh": 9} {
		c := viewtest.Case{Trace: sends, Options: map[string][]string{"space": {form}}}
		r := c.Compute(t, commmatrix.View, c.Open(t))
		s := r.Scene(scene.Size{Width: 500, Height: 400})
		if err := viewtest.CheckScene(s); err != nil {
			t.Error(err)
		}
		m, ok := s.Layers[0].Marks[0].(*scene.Space)
		if !ok || m.Len() != want {
			t.Fatalf("%s: %d things in space, want %d", form, m.Len(), want)
		}
		sum := float32(0)
		for i := range m.Len() {
			f, ok, _ := view.FactOf(r, scene.Item{Of: 2, A: int32(i)})
			if !ok || len(f.Lines) == 0 {
				t.Fatalf("%s: nothing is known of thing %d", form, i)
			}
			sum += m.Value[i]
			if m.PX[i] == 0 && m.PY[i] == 1 && (f.Title != "rank 1 → rank 0" || m.Value[i] != 1) { // the receiver to the right, the first sender at the back
				t.Errorf("%s: at receiver 0, sender 1 stands %q of height %v", form, f.Title, m.Value[i])
			}
		}
		if sum != 2 { // 300, 200 and 100 of 300
			t.Errorf("%s: heights add up to %v", form, sum)
		}
		p := m.Project()
		x, y, _ := p.At(0, 1, float64(m.BarHeight(0)))
		if form == "bars" {
			if f, ok, _ := view.PickAt(r, s, x, y+2); !ok || f.Title == "" {
				t.Errorf("nothing is picked at a bar")
			}
		}
	}
}
