package moments

import (
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A coverage adds time into equal bins.
type coverage struct {
	begin trace.Time
	width float64
	mu    sync.Mutex
}

// add spreads [a, b) over the bins that it meets, at a density.
func (c *coverage) add(bins []float32, a, b trace.Time, density float64) {
	x, y := float64(a-c.begin)/c.width, float64(b-c.begin)/c.width
	x, y = max(x, 0), min(y, float64(len(bins)))
	for k := int(x); k < len(bins) && float64(k) < y; k++ {
		bins[k] += float32((min(y, float64(k+1)) - max(x, float64(k))) * c.width * density)
	}
}

func sorted(ids []trace.LocationID) []trace.LocationID {
	ids = slices.Clone(ids)
	slices.Sort(ids)
	return slices.Compact(ids)
}

// blocks are the signs of a strip from empty to full, all of one width.
var blocks = []rune("░▁▂▃▄▅▆▇█")

// strip writes shares as a line of signs, for a fact: a picture in words.
func strip(shares []float32) string {
	out := make([]rune, len(shares))
	for i, x := range shares {
		k := int(x*float32(len(blocks)-1) + 0.5)
		if k == 0 && x > 0 {
			k = 1
		}
		out[i] = blocks[min(max(k, 0), len(blocks)-1)]
	}
	return string(out)
}
