package invocation

import (
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
	t.Calls, t.Seen = 0, t.Seen[:0]
}

func (t *Tally) addRegions(ids []trace.RegionID) {
	for _, id := range ids {
		if t.Regions[id] == 0 {
			t.Seen = append(t.Seen, id)
		}
		t.Regions[id]++
	}
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
			for _, l := range c.level[from:to] {
				t.Levels[l]++
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
				p.Depths(lo, hi, func(depths []uint16) {
					for _, d := range depths {
						t.Levels[min(int(d)+1, len(t.Levels)-1)]++
					}
				})
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
	if from = max(from, 1); from >= to {
		return
	}
	for k := c.laneOf(from); from < to; k++ {
		end := min(to, c.starts[k]+int32(c.lanes[k].calls))
		f(c.lanes[k].Location, end-from)
		from = end
	}
}
