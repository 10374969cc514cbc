package demo

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A bulk simulates a program that works, exchanges with neighbours and reduces over all, in lockstep: the time that
// a rank waits follows from the arrival of the others. It keeps every step, 24 bytes each, and writes ranks one by
// one at the end.
type bulk struct {
	now   []trace.Time // of each rank
	steps [][]bulkStep
}

type bulkStep struct {
	begin, end trace.Time
	region     trace.RegionID
}

func newBulk(ranks int) *bulk {
	return &bulk{now: make([]trace.Time, ranks), steps: make([][]bulkStep, ranks)}
}

// work keeps a rank in a region for a while.
func (b *bulk) work(rank int, region trace.RegionID, length trace.Time) {
	if length > 0 {
		b.until(rank, region, b.now[rank]+length)
	}
}

func (b *bulk) until(rank int, region trace.RegionID, end trace.Time) {
	b.steps[rank] = append(b.steps[rank], bulkStep{b.now[rank], end, region})
	b.now[rank] = end
}

// exchange lets every rank wait until all its neighbours have arrived too.
func (b *bulk) exchange(region trace.RegionID, latency trace.Time, neighbours func(rank int, visit func(int))) {
	arrived := append([]trace.Time{}, b.now...)
	for rank := range b.now {
		last := arrived[rank]
		neighbours(rank, func(other int) { last = max(last, arrived[other]) })
		b.until(rank, region, last+latency)
	}
}

// reduce lets all wait for the last.
func (b *bulk) reduce(region trace.RegionID, latency trace.Time) {
	last := trace.Time(0)
	for _, t := range b.now {
		last = max(last, t)
	}
	for rank := range b.now {
		b.until(rank, region, last+latency)
	}
}

func (b *bulk) write(ctx context.Context, o Options, w trace.Writer, ids []trace.LocationID) error {
	return o.each(ctx, len(ids), func(ctx context.Context, rank int) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := w.Stream(ids[rank], trace.StreamOptions{})
		for _, x := range b.steps[rank] {
			s.Interval(x.begin, x.end, x.region)
		}
		return s.Close()
	})
}

// region defines one by the role that its name has for a reader.
func regionNamed(w trace.Writer, name, category string) trace.RegionID {
	return w.Region(trace.Region{Name: name, Category: category, Role: trace.RoleOf(name, category)})
}

// wave is a triangle that rises from 0 to high and falls again over a period.
func wave(at, period, high int) int {
	at = ((at % period) + period) % period
	return high * min(at, period-at) * 2 / period
}
