package invocation

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Tally counts calls, to be used again and again.
type Tally struct {
	Blocks  int64 // in how many blocks of a long stretch calls are counted
	Calls   int32
	Regions []int32          // calls of each region
	Seen    []trace.RegionID // regions that have some
	Levels  []int32          // calls of each level of the whole tree
	Outer   int32            // a level whose calls are timed too; 0: none
	Time    trace.Time       // of all calls of that level
}

// NewTally makes room for the regions of a run and the levels of a tree.
func (c *Calls) NewTally(regions int) *Tally {
	return &Tally{Blocks: MostBlocks, Regions: make([]int32, regions), Levels: make([]int32, c.height+1)}
}

// Clear forgets all calls.
func (t *Tally) Clear() {
	for _, id := range t.Seen {
		t.Regions[id] = 0
	}
	clear(t.Levels)
	t.Calls, t.Seen, t.Time = 0, t.Seen[:0], 0
}

func (t *Tally) addRegions(ids []trace.RegionID) {
	for _, id := range ids {
		if t.Regions[id] == 0 {
			t.Seen = append(t.Seen, id)
		}
		t.Regions[id]++
	}
}

func (t *Tally) addDepths(depths []uint16) {
	for _, d := range depths {
		t.Levels[min(int(d)+1, len(t.Levels)-1)]++
	}
}

// addTimes adds the times of calls of the level that is timed.
func (t *Tally) addTimes(p store.Peek, lo, hi uint64) {
	for lo < hi {
		next := min((lo/rowBlock+1)*rowBlock, hi)
		p.Depths(lo, next, func(depths []uint16) {
			p.Durations(lo, next, func(durations []trace.Time) {
				for i, d := range depths {
					if int32(d)+1 == t.Outer {
						t.Time += durations[i]
					}
				}
			})
		})
		lo = next
	}
}

// MadeIn is the least and the most calls that a call of [from, to) made, of joined calls; of many, in some blocks
// of them and as far as these know.
func (c *Calls) MadeIn(from, to int32, t *Tally) (least, most int32) {
	least = math.MaxInt32
	var open []pending
	end := func(depth int32) {
		for n := len(open); n > 0 && open[n-1].depth >= depth; n = len(open) {
			least, most = min(least, open[n-1].made), max(most, open[n-1].made)
			open = open[:n-1]
		}
	}
	put := func(depth int32) {
		end(depth)
		if n := len(open); n > 0 {
			open[n-1].made++
		}
		open = append(open, pending{depth: depth})
	}
	c.levelsOf(max(from, 1), to, t.Blocks, put, func() { end(0) })
	if least > most {
		least = most
	}
	return least, most
}

// levelsOf calls f for the levels of some of the nodes [from, to), and between at the end of each stretch of them.
func (c *Calls) levelsOf(from, to int32, blocks int64, f func(level int32), between func()) {
	if c.rows == nil {
		stretches(from, to, blocks, func(from, to int32) {
			for _, l := range c.level[from:to] {
				f(l)
			}
			between()
		})
		return
	}
	c.rows.fail(c.rows.store.Peek(func(p store.Peek) error {
		stretches(from, to, blocks, func(from, to int32) {
			c.rows.stretches(from, to, func(lo, hi uint64) {
				p.Depths(lo, hi, func(depths []uint16) {
					for _, d := range depths {
						f(int32(d) + 1)
					}
				})
			})
			between()
		})
		return nil
	}))
}

// Solid is the level down to which nine tenths of the calls are.
func (t *Tally) Solid() int32 {
	seen := int32(0)
	for level, n := range t.Levels {
		if seen += n; 10*int64(seen) >= 9*int64(t.Calls) {
			return int32(level)
		}
	}
	return int32(len(t.Levels)) - 1
}

// All is for Blocks, to count every call.
const All = math.MaxInt32

// MostBlocks is in how many blocks of a long stretch calls are counted, at most.
const MostBlocks = 8

// stretches calls f for the nodes [from, to) of joined calls, or if those are many for so many blocks of them, each in
// another part: nodes of a block are read at once, and neighbours are much alike.
func stretches(from, to int32, blocks int64, f func(from, to int32)) {
	low, high := (from+rowBlock-2)/rowBlock, (to-1)/rowBlock // blocks that are all within
	if int64(high-low) <= blocks {
		f(from, to)
		return
	}
	for k := range blocks {
		part, end := int64(high-low)*k/blocks, int64(high-low)*(k+1)/blocks
		begin := (low+int32(part)+int32(chance(k+int64(from))%uint64(end-part)))*rowBlock + 1
		f(begin, begin+rowBlock)
	}
}

// Tally counts some of the nodes [from, to) of joined calls, but for the root: their levels, and their regions where
// these are asked for.
func (c *Calls) Tally(from, to int32, what Facts, t *Tally) {
	from = max(from, 1)
	if c.rows == nil {
		stretches(from, to, t.Blocks, func(from, to int32) {
			t.Calls += to - from
			for i := from; i < to; i++ {
				t.Levels[c.level[i]]++
				if c.level[i] == t.Outer {
					t.Time += c.End[i] - c.Begin[i]
				}
			}
			if what&OfRegion != 0 {
				t.addRegions(c.Region[from:to])
			}
		})
		return
	}
	c.rows.fail(c.rows.store.Peek(func(p store.Peek) error {
		stretches(from, to, t.Blocks, func(from, to int32) {
			t.Calls += to - from
			c.rows.stretches(from, to, func(lo, hi uint64) {
				p.Depths(lo, hi, t.addDepths)
				if t.Outer > 0 {
					t.addTimes(p, lo, hi)
				}
				if what&OfRegion != 0 {
					p.Regions(lo, hi, t.addRegions)
				}
			})
		})
		return nil
	}))
}

// Ends calls f for the first and the last node of each part of [from, to) that is counted.
func (t *Tally) Ends(from, to int32, f func(node int32)) {
	stretches(max(from, 1), to, t.Blocks, func(from, to int32) {
		f(from)
		f(to - 1)
	})
}

// EachLane calls f for the nodes of each lane in [from, to) of joined calls, but for the root.
func (c *Calls) EachLane(from, to int32, f func(id trace.LocationID, calls int32)) {
	c.EachStretch(from, to, func(lane, from, to int32) { f(c.lanes[lane].Location, to-from) })
}

// EachStretch is EachLane with the places of lanes, and the first and the last of their nodes.
func (c *Calls) EachStretch(from, to int32, f func(lane, from, to int32)) {
	if from = max(from, 1); from >= to {
		return
	}
	for k := c.laneOf(from); from < to; k++ {
		end := min(to, c.starts[k]+int32(c.lanes[k].calls))
		f(k, from, end)
		from = end
	}
}
