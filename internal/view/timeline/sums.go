package timeline

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// binner returns the store that can tell the time of the regions that are kept from its
// sums; nil if it cannot, or if more is asked for than times: durations, or the
// roles around annotations.
func (in *input) binner() store.Binner {
	b, ok := in.reader.(store.Binner)
	if !ok || in.rule.keep == nil || in.rule.durations {
		return nil
	}
	for id, keep := range in.rule.keep {
		if keep && in.regions[id].Role == trace.RoleAnnotation {
			return nil
		}
	}
	return b
}

// A waiting is the spans of a strip that the store's sums may decide, in order.
type waiting struct {
	strip *strip
	spans []int // indices
	next  int
}

// decideFromSums decides pending bins of single lanes among the regions that are kept.
// Bins left pending have only empty intervals of them.
func decideFromSums(ctx context.Context, in *input, g grid, builds map[trace.LocationID]*build) error {
	b := in.binner()
	if b == nil || in.rule.show != dominant {
		return nil
	}
	var want []store.LaneBins
	var waits []*waiting
	for id, build := range builds {
		for k := range build.strips.list {
			s := &build.strips.list[k]
			if s.lane < 0 && build.strips.lanes > 1 {
				continue // lanes share it
			}
			w := &waiting{strip: s}
			l := store.LaneBins{Location: id, Lane: max(0, s.lane)}
			for i := range s.spans {
				if s.spans[i].pending {
					s.spans[i].count = 0 // until something is found
					w.spans = append(w.spans, i)
					l.Bins = append(l.Bins, g.bin(s.spans[i].begin))
				}
			}
			if l.Bins != nil {
				want, waits = append(want, l), append(waits, w)
			}
		}
	}
	if want == nil {
		return nil
	}
	err := b.RegionBins(ctx, g.level, in.rule.keep, want, func(entry int, x *store.RegionBin) error {
		w := waits[entry]
		for w.next < len(w.spans) && want[entry].Bins[w.next] < x.Bin {
			w.next++
		}
		in.rule.decideBin(x, &w.strip.spans[w.spans[w.next]])
		return nil
	})
	for _, w := range waits {
		w.strip.spans = slices.DeleteFunc(w.strip.spans, func(s span) bool { return s.pending && s.count == 0 })
	}
	return err
}

// decideBin names the winner among the regions that are kept. A bin without any of
// them keeps no count; one that has only empty intervals of them stays pending.
func (r *rule) decideBin(x *store.RegionBin, s *span) {
	best, most, calls := trace.NoRegion, trace.Time(0), int64(0)
	var roles [trace.RoleCount]trace.Time
	s.open, s.loose = 0, false
	for i, id := range x.Region {
		if !r.keep[id] {
			continue
		}
		t := x.Exclusive[i]
		calls += x.Calls[i]
		s.open += t
		roles[r.labels[id].Role] += t
		if t > most || t == most && id < best {
			best, most = id, t
		}
	}
	if s.open == 0 {
		s.count = uint32(min(calls, 1))
		return
	}
	s.pending, s.count = false, uint32(min(max(calls, 1), 1<<32-1))
	if r.key == byRegion {
		s.region, s.role = best, r.labels[best].Role
		return
	}
	s.region, s.role = trace.NoRegion, r.winningRole(&roles)
}
