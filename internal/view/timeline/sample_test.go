package timeline

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Eight ranks train together; rank 5 always gets the long documents, so that its
// GPU computes for 102 ms and no other for more than 32. Whoever looks at the
// timeline must see it: its row, or its streams where they are open, has by far the most colour.
func TestTheStragglerOfATrainingJobStandsOut(t *testing.T) {
	reader := viewtest.Import(t, "data", "kineto-ddp-8rank")
	tree := reader.Locations()
	for _, size := range []scene.Size{{Width: 1600, Height: 1000}, {Width: 1000, Height: 600}} {
		r := computeFor(t, reader, view.Spec{}, nil, size)
		ink := map[int32]float64{} // busy area of GPUs by rank, in ns of full height
		for i, g := range r.groups {
			if g == nil || !r.rows[i].isGPU(tree) {
				continue
			}
			for b := range g.bins {
				width := float64(min(g.begin(b+1), g.last) - g.begin(b))
				ink[tree.Rank[r.rows[i].location]] += g.share(b, trace.RoleCompute) * width
			}
		}
		for i, l := range r.leaves {
			if l == nil || tree.Kind[l.location] != trace.KindStream {
				continue
			}
			for _, s := range l.list {
				for _, x := range merge(s.spans, r.inks.alike) {
					if x.role == trace.RoleCompute {
						ink[tree.Rank[r.rows[i].location]] += float64(x.end-x.begin) * float64(cover(&x)) / quarters
					}
				}
			}
		}
		if len(ink) != 8 {
			t.Fatalf("GPUs of %d ranks", len(ink))
		}
		for rank, area := range ink {
			if rank != 5 && area > ink[5]/2 {
				t.Errorf("%v: rank %d shows %.1f ms of colour, rank 5 only %.1f", size, rank, area/1e6, ink[5]/1e6)
			}
		}
		if ms := ink[5] / 1e6; ms < 95 || ms > 110 {
			t.Errorf("%v: rank 5 shows %.1f ms of colour, want about 102", size, ms)
		}
	}
}
