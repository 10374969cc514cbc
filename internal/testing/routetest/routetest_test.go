package routetest

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/view/all"
)

func TestEveryViewHasASecondRoute(t *testing.T) {
	for _, v := range all.Views {
		if Routes[v.Name].Check == nil {
			t.Errorf("view %s: nothing recomputes what it states; add it to Routes", v.Name)
		}
	}
	for name := range Routes {
		if Find(name) == nil {
			t.Errorf("a route for %s, which is no view", name)
		}
	}
}

// seeds are fixed, so that a failure is the same for everybody; BenchmarkRoutes has more.
const seeds = 1

func TestViewsStateWhatWasRecorded(t *testing.T) {
	for _, s := range Shapes {
		for seed := range uint64(seeds) {
			if s.Large && seed > 0 {
				continue
			}
			t.Run(fmt.Sprint(s.Name, "/", seed), func(t *testing.T) {
				t.Parallel()
				Check(t, Open(t, s, seed), seed, s.Large)
			})
		}
	}
}

// BenchmarkRoutes goes on where the test ends: more seeds, the same checks.
func BenchmarkRoutes(b *testing.B) {
	for i := range b.N {
		for _, s := range Shapes {
			for seed := uint64(seeds + 20*i); seed < uint64(seeds+20*(i+1)); seed++ {
				Check(b, Open(b, s, seed), seed, s.Large)
			}
		}
	}
}
