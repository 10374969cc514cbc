package store

import (
	"context"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Digester is a Reader that keeps digests of its lanes.
type Digester interface {
	// Digests yields, lane by lane, the calls that begin in a window, with the
	// record of the named digest. Callbacks are as those of a Reader. A digest
	// that is not kept gives lanes without records.
	Digests(ctx context.Context, name string, w Window, f func(*trace.DigestedLane) error) error
}

// Digests asks a Reader for the calls of a window. One that keeps no digests gives
// a lane without a record for each batch of rows.
func Digests(ctx context.Context, r Reader, name string, w Window, f func(*trace.DigestedLane) error) error {
	if d, ok := r.(Digester); ok {
		return d.Digests(ctx, name, w, f)
	}
	var mu sync.Mutex
	seen := map[[2]int]bool{}
	return r.Intervals(ctx, w, func(c *trace.Columns) error {
		l := trace.DigestedLane{Location: c.Location, Lane: c.Lane, Lo: c.First, Hi: c.First + c.Len(),
			Callers: c.Callers}
		key := [2]int{int(c.Location), c.Lane}
		mu.Lock()
		first := !seen[key]
		seen[key] = true
		mu.Unlock()
		for _, x := range c.Open {
			if first && x.Begin < w.Begin && x.End > w.Begin {
				l.Open = append(l.Open, x)
			}
			if x.End > w.End {
				l.Left = append(l.Left, x)
			}
		}
		for i := range c.Begin {
			if c.End(i) > w.End {
				l.Left = append(l.Left,
					trace.OpenInterval{Row: c.First + i, Begin: c.Begin[i], End: c.End(i), Region: c.Region[i]})
			}
		}
		l.Read = func(lo, hi int, g func(*trace.Columns) error) error {
			if lo == l.Lo && hi == l.Hi {
				return g(c)
			}
			panic("store: a lane without a record is read as a whole")
		}
		l.OpenTime = func() ([]trace.Time, error) { return openTime(ctx, r, &l, w) }
		return f(&l)
	})
}

// openTime computes DigestedLane.OpenTime from the children of each interval. O(children).
func openTime(ctx context.Context, r Reader, l *trace.DigestedLane, w Window) ([]trace.Time, error) {
	out := make([]trace.Time, len(l.Open))
	for i, x := range l.Open {
		out[i] = min(x.End, w.End) - w.Begin
		err := r.Children(ctx, Row{Location: l.Location, Lane: l.Lane, Row: x.Row}, func(c *trace.Columns) error {
			for k := range c.Begin {
				out[i] -= max(min(c.End(k), w.End)-max(c.Begin[k], w.Begin), 0)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}
