// Package allocation finds who holds the memory of a device when most of it is taken: it replays allocations and frees
// by their addresses up to the peak, and names the operators in which those were made that live then.
//
// O(n log n) in the allocations, and one pass over the rows of the threads that made the ones that live.
package allocation

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Event is an allocation (Bytes above 0) or a free of a block.
type Event struct {
	At             trace.Time
	Address, Bytes int64
	Total          int64 // bytes taken after it, as the allocator records them; negative: unknown
	Thread         trace.LocationID
	Row            int32 // in order of the thread
}

// A Block is an allocation that is live at the peak, with the regions that made it; NoRegion for none.
type Block struct {
	Event
	Operator trace.RegionID // the innermost that does more than allocate
	Module   trace.RegionID // the innermost module of Python
	Within   trace.RegionID // the innermost range
	Lane     int32          // of the operator, with its row; -1: none
	OpRow    int32
}

// A Peak is the memory of a device when most of it is taken.
type Peak struct {
	At     trace.Time
	Total  int64 // taken; if the allocator does not record it, the sum of the blocks
	Told   bool  // the allocator says how much is taken
	Held   int64 // by the blocks: the rest was allocated before the recording
	Blocks []Block
	// Unseen counts frees of blocks that the recording did not see, Twice blocks at an address that was
	// taken.
	Unseen, Twice int64
}

// Before returns the bytes allocated before the recording began.
func (p *Peak) Before() int64 { return max(p.Total-p.Held, 0) }

// Find replays the events of a device, in any order. Nil if there are none.
func Find(events []Event) *Peak {
	if len(events) == 0 {
		return nil
	}
	slices.SortStableFunc(events, func(a, b Event) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Thread, b.Thread), cmp.Compare(a.Row, b.Row))
	})
	p := &Peak{Told: events[0].Total >= 0}
	last, sum := -1, int64(0)
	most := int64(-1 << 62)
	for i := range events {
		e := &events[i]
		sum += e.Bytes
		if total := e.total(sum, p.Told); total > most {
			most, last = total, i
		}
	}
	p.At = events[last].At
	live := map[int64]int{} // by address: the event
	for i := range events[:last+1] {
		e := &events[i]
		at, taken := live[e.Address]
		switch {
		case e.Bytes > 0:
			if taken {
				p.Twice++
				p.Held -= events[at].Bytes
			}
			live[e.Address] = i
			p.Held += e.Bytes
		case taken:
			p.Held -= events[at].Bytes
			delete(live, e.Address)
		default:
			p.Unseen++
		}
	}
	if p.Total = p.Held; p.Told {
		p.Total = most
	}
	for _, i := range live {
		p.Blocks = append(p.Blocks,
			Block{Event: events[i], Operator: trace.NoRegion, Module: trace.NoRegion, Within: trace.NoRegion, Lane: -1,
				OpRow: -1})
	}
	slices.SortFunc(p.Blocks,
		func(a, b Block) int { return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Address, b.Address)) })
	return p
}

func (e *Event) total(sum int64, told bool) int64 {
	if told {
		return e.Total
	}
	return sum
}

// A What is the kind of information that a region has about a block allocated in it.
type What uint8

// Operators are those of the framework; Allocators do nothing else.
const (
	Nothing What = iota
	Operator
	Allocator
	Module
	Range
)

// WhatIs returns the kind of information of a region.
func WhatIs(g *trace.Region) What {
	switch {
	case strings.HasPrefix(g.Name, "nn.Module: "):
		return Module
	case g.Category == "cpu_op" || g.Category == "Operator":
		for _, p := range []string{"aten::empty", "aten::resize_", "aten::new_empty", "aten::set_"} {
			if strings.HasPrefix(g.Name, p) {
				return Allocator
			}
		}
		return Operator
	case g.Role == trace.RoleAnnotation:
		return Range
	}
	return Nothing
}

// Attribute names the makers of blocks. Scan yields the rows of their threads, each lane in order; calls may come
// from several goroutines.
func (p *Peak) Attribute(regions []trace.Region, scan func(func(*trace.Columns) error) error) error {
	byThread := map[trace.LocationID][]*Block{} // in order of time
	for i := range p.Blocks {
		b := &p.Blocks[i]
		byThread[b.Thread] = append(byThread[b.Thread], b)
	}
	what := make([]What, len(regions))
	for i := range regions {
		what[i] = WhatIs(&regions[i])
	}
	var mu sync.Mutex // two lanes of a thread may come at once
	return scan(func(c *trace.Columns) error {
		list := byThread[c.Location]
		if len(list) == 0 {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		for _, o := range c.Open {
			mark(list, what, c.Lane, o.Begin, o.End, o.Region, o.Row)
		}
		for i, r := range c.Region {
			if what[r] != Nothing {
				mark(list, what, c.Lane, c.Begin[i], c.End(i), r, c.First+i)
			}
		}
		return nil
	})
}

// mark records the blocks that are allocated in a row. Rows come in preorder: inner rows come later and count.
func mark(list []*Block, what []What, lane int, begin, end trace.Time, r trace.RegionID, row int) {
	from := sort.Search(len(list), func(i int) bool { return list[i].At >= begin })
	for ; from < len(list) && list[from].At < end; from++ {
		b := list[from]
		switch what[r] {
		case Module:
			b.Module = r
		case Range:
			b.Within = r
		case Allocator:
			if b.Operator == trace.NoRegion {
				b.Operator, b.Lane, b.OpRow = r, int32(lane), int32(row)
			}
		case Operator:
			b.Operator, b.Lane, b.OpRow = r, int32(lane), int32(row)
		}
	}
}
