package timeline

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A queueEdge changes how much work a GPU has in its queue.
type queueEdge struct {
	at trace.Time
	by int
}

// readQueues makes the counters of queues: up where a call launches work, down where the work begins. It gives the
// number of links where these are too many to read. O(links log links).
func readQueues(ctx context.Context, in *input, d *runfacts.Devices, by map[trace.LocationID]*series) (int64, error) {
	edges := make([][]queueEdge, len(d.GPUs))
	w := in.window(d.Rows)
	if n, err := in.reader.LinkCount(w); err != nil || n > mostLinks {
		return n, err
	}
	var mu sync.Mutex
	err := in.reader.Links(ctx, w, func(c *store.LinkColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for i, k := range c.Kind {
			if k != trace.LinkSpawn || c.Untimed[i] || c.ToTime[i] <= c.FromTime[i] || d.GPU[c.FromLocation[i]] >= 0 {
				continue
			}
			if g := d.GPU[c.ToLocation[i]]; g >= 0 && by[d.GPUs[g]] != nil {
				edges[g] = append(edges[g], queueEdge{c.FromTime[i], 1}, queueEdge{c.ToTime[i], -1})
			}
		}
		return nil
	})
	for g, list := range edges {
		if s := by[d.GPUs[g]]; s != nil {
			s.queue(list, in.selection.End)
		}
	}
	return 0, err
}

// queue fills a series with the length of a queue: in each bin the least and the most of it.
func (s *series) queue(edges []queueEdge, end trace.Time) {
	slices.SortFunc(edges, func(a, b queueEdge) int { return cmp.Compare(a.at, b.at) })
	first := s.grid.bin(s.grid.begin)
	length, at := 0, s.grid.begin
	hold := func(until trace.Time) { // the length does not change before
		for b := s.grid.bin(at); at < until && int(b-first) < len(s.low); b++ {
			s.add(at, float64(length), false)
			at = min(s.grid.binBegin(b+1), until)
		}
		at = max(at, until)
	}
	for i := 0; i < len(edges); {
		t := edges[i].at
		if t > s.grid.begin {
			hold(min(t, end))
		}
		if t >= end {
			return
		}
		for ; i < len(edges) && edges[i].at == t; i++ {
			length += edges[i].by
		}
	}
	hold(end)
}
