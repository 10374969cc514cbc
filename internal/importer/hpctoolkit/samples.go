package hpctoolkit

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// blockSize is the number of samples that are read at a time.
const blockSize = 1 << 14

// traces reads the samples of threads over time.
func (d *database) traces(ctx context.Context, name string) error {
	f, err := openFile(d.run, name, "trce")
	if err != nil {
		return err
	}
	defer f.done()
	h, table, stride, err := f.table(0x20, 0x18)
	if err != nil {
		return err
	}
	count := int64(len(table)) / stride
	end := trace.Time(u64(h, 0x18) & math.MaxInt64)
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(parallel.Workers())
	seen := map[trace.LocationID]bool{}
	for i := range count {
		t := table[i*stride:]
		index, from, to := int(u32(t, 0)), u64(t, 8), u64(t, 0x10)
		if index >= len(d.threads) || d.threads[index] == trace.NoLocation || from > to || to > uint64(f.size) ||
			seen[d.threads[index]] {
			d.w.Report(trace.MissingSamples, "traces of no known thread, or outside the file", 1,
				fmt.Sprintf("%s: trace %d", f.label, i))
			continue
		}
		seen[d.threads[index]] = true
		g.Go(func() error { return d.line(ctx, f, d.threads[index], from, to, end) })
	}
	return g.Wait()
}

// line turns samples into intervals: a frame is open from the first sample that has it to the first that has not.
// O(samples × depth).
func (d *database) line(ctx context.Context, f *file, thread trace.LocationID, from, to uint64, last trace.Time) error {
	at := d.w.Location(trace.Location{Parent: thread, Kind: trace.KindSamples, Key: "samples", Name: "samples",
		Rank: trace.NoRank})
	s := d.w.Stream(at, trace.StreamOptions{})
	var open, now []int32
	time := trace.Time(0)
	for from+12 <= to {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(int64(to-from)/12, blockSize)
		block, err := f.bytes(from, 12*n)
		if err != nil {
			return err
		}
		from += uint64(12 * n)
		for i := range int(n) {
			t := trace.Time(u64(block, 12*i) & math.MaxInt64)
			if t < time {
				d.w.Report(trace.MissingSamples, "samples that are not in order of time", 1, f.label)
				continue
			}
			time = t
			now = d.meta.contexts.stack(u32(block, 12*i+8), now[:0])
			same := 0
			for same < len(open) && same < len(now) && open[same] == now[same] {
				same++
			}
			for k := len(open) - 1; k >= same; k-- {
				s.Leave(t, d.meta.contexts.nodes[open[k]].region)
			}
			for _, node := range now[same:] {
				s.Enter(t, d.meta.contexts.nodes[node].region)
			}
			open = append(open[:0], now...)
		}
	}
	for k := len(open) - 1; k >= 0; k-- {
		s.Leave(max(last, time), d.meta.contexts.nodes[open[k]].region)
	}
	return s.Close()
}

// stack lists the functions and loops from the outermost to a context; none for context 0.
func (c *contexts) stack(id uint32, to []int32) []int32 {
	node, ok := c.byID[id]
	if !ok {
		return to
	}
	for ; node >= 0; node = c.ownerOf(c.nodes[node].parent) {
		to = append(to, node)
	}
	for i, k := 0, len(to)-1; i < k; i, k = i+1, k-1 {
		to[i], to[k] = to[k], to[i]
	}
	return to
}
