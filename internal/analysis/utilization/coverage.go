package utilization

import (
	"context"
	"math/bits"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/moment"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// fewIntervals are scanned; of more the blocks of bins are taken.
const fewIntervals = 1 << 20

// A Coverage adds time into equal bins.
type Coverage struct {
	Begin trace.Time
	Width float64
	mu    sync.Mutex
}

// Add spreads [a, b) over the bins that it meets, at a density.
func (c *Coverage) Add(bins []float32, a, b trace.Time, density float64) {
	x, y := float64(a-c.Begin)/c.Width, float64(b-c.Begin)/c.Width
	x, y = max(x, 0), min(y, float64(len(bins)))
	for k := int(x); k < len(bins) && float64(k) < y; k++ {
		bins[k] += float32((min(y, float64(k+1)) - max(x, float64(k))) * c.Width * density)
	}
}

// Shares returns the busy share of groups of locations in n equal bins of the window.
func (f *Rows) Shares(ctx context.Context, l *Layer, groups [][]trace.LocationID, n int) ([][]float32, error) {
	c := &Coverage{Begin: f.Selection.Begin, Width: float64(f.Selection.End-f.Selection.Begin) / float64(n)}
	of := map[trace.LocationID][]float32{}
	out := make([][]float32, len(groups))
	var ids []trace.LocationID
	for j, group := range groups {
		out[j] = make([]float32, n)
		for _, id := range group {
			of[id] = out[j]
		}
		ids = append(ids, group...)
	}
	if err := f.cover(ctx, l, c, ids, of); err != nil {
		return nil, err
	}
	for j, group := range groups {
		scale := 1 / float32(c.Width*float64(len(group)))
		for b := range out[j] {
			out[j][b] = min(out[j][b]*scale, 1)
		}
	}
	return out, nil
}

// cover adds up busy time per bin from whatever knows it. Locations of one group share
// a slice, so bars come one location at a time or under a lock.
func (f *Rows) cover(ctx context.Context, l *Layer, c *Coverage, ids []trace.LocationID,
	of map[trace.LocationID][]float32) error {
	if l.bars != nil {
		for _, id := range ids {
			l.bars.index.Each(l.bars.row(id), f.Selection.Begin, f.Selection.End,
				func(a, b trace.Time) { c.Add(of[id], a, b, 1) })
		}
		return nil
	}
	if f.Recorded != nil {
		for _, id := range ids {
			for _, m := range f.Recorded.rows[id] {
				c.Add(of[id], m.Begin, m.End, m.Weight/float64(max(m.End-m.Begin, 1)))
			}
		}
		return nil
	}
	w := f.window(ids)
	n, err := f.Reader.Count(w)
	if err != nil {
		return err
	}
	if !l.State.Whole || n <= fewIntervals {
		return scanBars(ctx, f.Reader, l.State, w, func(id trace.LocationID, a, b trace.Time) {
			if bins := of[id]; bins != nil {
				c.mu.Lock()
				c.Add(bins, a, b, 1)
				c.mu.Unlock()
			}
		})
	}
	level := max(0, bits.Len64(uint64(c.Width))-1)
	return f.Reader.Summaries(ctx, moment.Name, w, level, store.Visitor{
		Block: func(id trace.LocationID, _ int, a, b trace.Time, block trace.Block) error {
			var s moment.Cubic
			if bins := of[id]; bins != nil && s.AddBlock(block, l.State.roles) {
				c.mu.Lock()
				c.Add(bins, a, b, s.Weight/float64(b-a))
				c.mu.Unlock()
			}
			return nil
		},
		Rows: func(x *trace.Stretch) error {
			if bins := of[x.Rows.Location]; bins != nil {
				c.mu.Lock()
				moment.EachBar(x.Segments, l.State.roles, func(a, b trace.Time) { c.Add(bins, a, b, 1) })
				c.mu.Unlock()
			}
			return nil
		},
	})
}

// Bars returns every bar of each location; nil if there are more than some, or a recorder kept none.
func (f *Rows) Bars(ctx context.Context, s *State, ids []trace.LocationID, most int) ([][]moment.Interval, error) {
	if f.Recorded != nil {
		return nil, nil
	}
	at := make(map[trace.LocationID]int, len(ids))
	for i, id := range ids {
		at[id] = i
	}
	w := f.window(ids)
	if n, err := f.Reader.Count(w); err != nil || n > 4*int64(most) {
		return nil, err
	}
	out := make([][]moment.Interval, len(ids))
	err := scanBars(ctx, f.Reader, s, w, func(id trace.LocationID, a, b trace.Time) {
		if i, ok := at[id]; ok {
			out[i] = append(out[i], moment.Interval{Begin: a, End: b})
		}
	})
	n := 0
	for _, list := range out {
		n += len(list)
	}
	if n > most {
		return nil, err
	}
	return out, err
}
