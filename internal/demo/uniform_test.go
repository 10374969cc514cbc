package demo

import (
	"math"
	"testing"
)

func TestUniformHasExactlyWhatWasAskedFor(t *testing.T) {
	for _, c := range []struct {
		locations int
		intervals int64
	}{{10, 1003}, {1000, 100}, {1, 1}, {3, 100_000}} {
		got := collect(t, "uniform", Options{Locations: c.locations, Intervals: c.intervals})
		if got.count() != c.intervals || len(got.rows) != c.locations {
			t.Errorf("%d intervals on %d locations, want %d on %d", got.count(), len(got.rows), c.intervals, c.locations)
		}
		for at, r := range got.rows {
			n, per := int64(len(r.intervals)), c.intervals/int64(c.locations)
			if n < per || n > per+1 {
				t.Errorf("location %d has %d intervals", at, n)
			}
		}
	}
}

func TestUniformIsUniform(t *testing.T) {
	c := collect(t, "uniform", Options{Locations: 4, Intervals: 400_000})
	calls, depths := map[string]int{}, map[int]int{}
	for _, r := range c.rows {
		depth := make([]int, len(r.intervals))
		for k, i := range r.intervals {
			calls[c.regions[i.region].Name]++
			depth[k] = 1
			if i.parent >= 0 {
				depth[k] = depth[i.parent] + 1
			}
			depths[depth[k]]++
			if i.end-i.begin < 50 {
				t.Fatalf("interval of %d ns", i.end-i.begin)
			}
		}
	}
	if len(calls) != uniformRegions || len(depths) != uniformDepth {
		t.Errorf("%d regions, depths %v", len(calls), depths)
	}
	want := float64(c.count()) / uniformRegions
	for name, n := range calls {
		if math.Abs(float64(n)-want) > 6*math.Sqrt(want) {
			t.Errorf("%s is called %d times, want about %.0f", name, n, want)
		}
	}
}
