package callmatrix

import (
	"math"
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
)

// colours turn values into a ramp.
type colours struct {
	low, high float64
	least     float64 // the smallest positive value, where a logarithm begins
	below     bool    // some value is below the colours, or above
	above     bool
	stretch   string
	values    []float64 // ascending, for ranks
	ramp      string
}

// newColours spans the lowest to the highest value of some of the pairs on display.
func (r *result) newColours(pairs map[callgraph.Pair]*drawnPair, of func(callgraph.Pair) bool) colours {
	c := colours{low: math.Inf(1), high: math.Inf(-1), least: math.Inf(1),
		stretch: r.request.Values.Text("value-scale"),
		ramp:    r.request.Values.Text("palette")}
	if r.request.Values.Switch("paper") {
		c.ramp = "green-red"
		if !r.request.Values.Set("value-scale") {
			c.stretch = "linear"
		}
	}
	for key, p := range pairs {
		if !of(key) {
			continue
		}
		for i, box := range p.boxes {
			if v := p.cut[i]; !p.has[i] && r.timed() && !math.IsNaN(v) {
				box = [5]float64{v, v, v, v, v}
			} else if !p.has[i] {
				continue
			}
			c.low, c.high = min(c.low, box[0]), max(c.high, box[4])
			for _, v := range box {
				if v > 0 {
					c.least = min(c.least, v)
				}
			}
			if c.stretch == "rank" {
				c.values = append(c.values, box[:]...)
			}
		}
	}
	if c.low > c.high {
		c.low, c.high = 0, 0
	}
	lowest, highest := c.low, c.high
	if c.stretch == "log" && c.low <= 0 && !math.IsInf(c.least, 1) {
		c.low = c.least // 0 has no place on a logarithm
	}
	if !math.IsNaN(r.low) && (c.stretch != "log" || r.low > 0) {
		c.low = r.low
	}
	if !math.IsNaN(r.high) {
		c.high = r.high
	}
	c.high = max(c.high, c.low)
	c.below, c.above = lowest < c.low, highest > c.high
	sort.Float64s(c.values)
	return c
}

// at returns the place of a value from 0 to 1.
func (c *colours) at(v float64) float64 {
	switch {
	case c.low == c.high:
		return 0
	case c.stretch == "log":
		// From the smallest positive value on, so that an empty call does not take all the room.
		if !(v > c.low) || !(c.low > 0) {
			return 0
		}
		return math.Log(v/c.low) / math.Log(c.high/c.low)
	case c.stretch == "rank":
		first := sort.SearchFloat64s(c.values, v)
		last := sort.Search(len(c.values), func(i int) bool { return c.values[i] > v })
		return (float64(first) + float64(max(last-1, first))) / 2 / float64(max(len(c.values)-1, 1))
	}
	return (v - c.low) / (c.high - c.low)
}

func (c *colours) colour(v float64) scene.Colour { return scene.Ramp(c.ramp, c.at(v)) }

// ends names the two ends of the colours; a sign says where values go on beyond them.
func (c *colours) ends(format func(float64) string) (low, high string) {
	low, high = format(c.low), format(c.high)
	if c.below {
		low = "≤ " + low
	}
	if c.above {
		high = "≥ " + high
	}
	return low, high
}
