package kaleidoscope

import (
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/memory"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Colours of a sector have the shares that its calls have: exactly where it stands for some thousand calls, and nearly
// where calls are counted in a few blocks of it. Locations are always exact, and times are those of its calls.
func TestASectorIsPaintedInTheSharesOfItsCalls(t *testing.T) {
	r := viewtest.OpenLocal(t, viewtest.WriteLocal(t, func(w trace.Writer) { viewtest.WriteSteps(w, 16, 600_000) }))
	cache := derived.NewCache(memory.New(1 << 30))
	for _, paint := range []string{"region", "location", "time"} {
		for zoom, side := range map[string]int{"1": 64, "5,0.3,0.2": 300} {
			values, err := view.NewValues(View, map[string][]string{"zoom": {zoom}, "paint": {paint}})
			if err != nil {
				t.Fatal(err)
			}
			p, err := signature(t.Context(), &view.Request{Runs: []view.Run{{Store: r, Cache: cache}}, Values: values,
				Selection: trace.Selection{End: r.Info().End}, Size: scene.Size{Width: side, Height: side}})
			if err != nil {
				t.Fatal(err)
			}
			sampled, whole, off := 0, 0, 0.0
			for i := range p.items {
				if !p.items[i].Merged {
					continue
				}
				far, exact := p.farOff(&p.items[i], p.mixes[i])
				if exact = exact || paint == "location"; exact && far > 1e-9 {
					t.Fatalf("by %s, zoom %s: the colours of sector %d are %.3f off", paint, zoom, i, far)
				} else if exact {
					whole++
					continue
				}
				sampled++
				off += far
			}
			if mean := off / float64(max(sampled, 1)); mean > 0.08 {
				t.Errorf("by %s, zoom %s: colours of %d sectors are %.3f off in the mean", paint, zoom, sampled, mean)
			}
			if zoom == "1" && sampled+btoi(paint == "location")*whole < 50 || zoom != "1" && whole < 50 {
				t.Errorf("by %s, zoom %s: %d sectors are sampled and %d whole", paint, zoom, sampled, whole)
			}
		}
	}
}

// farOff is the share of a sector that has a wrong colour, or the part of the ramp that is missing or too much; exact
// reports whether all its calls are few enough to be counted.
func (r *result) farOff(it *invocation.Item, m *mix) (off float64, exact bool) {
	count, total := map[scene.Colour]int{}, 0
	low, high := 1.0, 0.0
	r.eachOf(it.First, it.End, allFacts, func(n *invocation.Node) {
		total++
		if r.brush.ramps() {
			low, high = min(low, r.brush.magnitude(n)), max(high, r.brush.magnitude(n))
		} else {
			count[r.brush.colourOf(n)]++
		}
	})
	exact = total <= 256*invocation.MostBlocks
	if r.brush.ramps() {
		return math.Abs(low-m.low) + math.Abs(high-m.high), exact
	}
	for _, c := range m.colours {
		off += math.Abs(float64(c.calls)/float64(m.calls) - float64(count[c.colour])/float64(total))
		delete(count, c.colour)
	}
	for _, n := range count {
		off += float64(n) / float64(total)
	}
	return off / 2, exact
}
