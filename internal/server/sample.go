package server

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// exactCalls is up to how many calls quantiles are taken from all of them:
	// 8 bytes each, and a second or less on one core.
	exactCalls = 5_000_000
	// sampleCalls is about how many are taken where there are more.
	sampleCalls = 2_000_000
	// mostSearches is about in how many lanes rows are looked for, over all slices.
	mostSearches = 8192
)

// gather collects the exclusive times of the calls that begin in the windows, by region, at full length, from the rows
// of a store. The windows do not overlap.
func gather(ctx context.Context, st store.Reader, windows []store.Window, wanted []bool) ([][]int64, error) {
	// Batches come on several goroutines; a few shards keep them apart.
	var shards [8]struct {
		sync.Mutex
		by [][]int64
	}
	for i := range shards {
		shards[i].by = make([][]int64, len(wanted))
	}
	for _, w := range windows {
		err := st.Intervals(ctx, w, func(c *trace.Columns) error {
			s := &shards[int(c.Location)%len(shards)]
			s.Lock()
			defer s.Unlock()
			for i, id := range c.Region {
				if wanted[id] {
					s.by[id] = append(s.by[id], int64(c.Exclusive[i]))
				}
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	out := make([][]int64, len(wanted))
	for id := range out {
		for i := range shards {
			out[id] = append(out[id], shards[i].by[id]...)
			shards[i].by[id] = nil
		}
	}
	return out, nil
}

// sampleWindows cuts the window into equal strata and takes a slice of each, at a place that jumps about so that
// periodic programs do not fall into step with it. The same window gives the same slices. Each slice costs one search
// per lane, and reads some rows that are not wanted. So with many lanes each slice covers only some of them, others
// each time, and is longer; with very many lanes there are fewer slices.
func sampleWindows(t *store.Tree, w store.Window, count int64, lanes int) []store.Window {
	strata := min(max(4_000_000/max(lanes, 1), 4), 64)
	share := 1
	var ids []trace.LocationID
	if most := int(count / sampleCalls); most > 1 && lanes*strata > mostSearches {
		if ids = leavesOf(t, w.Locations); len(ids) > 0 {
			share = min((lanes*strata+mostSearches-1)/mostSearches, most, len(ids))
		}
	}
	span := float64(w.End-w.Begin) / float64(strata)
	slice := min(span*sampleCalls/float64(count)*float64(share), span)
	out := make([]store.Window, 0, strata)
	for i := range strata {
		_, jump := math.Modf(float64(i+1) * 0.6180339887498949) // the golden ratio spreads evenly
		begin := w.Begin + trace.Time(float64(i)*span+jump*(span-slice))
		end := min(begin+max(trace.Time(slice), 1), w.End)
		part := store.Window{Begin: begin, End: end, Locations: w.Locations}
		if share > 1 {
			part.Locations = nil
			for k := i % share; k < len(ids); k += share {
				part.Locations = append(part.Locations, ids[k])
			}
		}
		out = append(out, part)
	}
	return out
}

// leavesOf lists the locations with intervals of a window; none where one of them is within another, which could not
// be named alone.
func leavesOf(t *store.Tree, selected []trace.LocationID) (out []trace.LocationID) {
	if selected == nil {
		for id := range trace.LocationID(t.Len()) {
			selected = append(selected, id)
		}
	} else {
		selected = t.Expand(selected)
	}
	for _, id := range selected {
		switch {
		case !t.Holds[id] || t.IsAside(id):
		case t.Last[id] != id:
			return nil
		default:
			out = append(out, id)
		}
	}
	return out
}

// distribution fills in mean and quantiles. It reorders d.
func (t *regionSummary) distribution(d []int64) {
	if len(d) == 0 {
		return
	}
	sum := 0.0
	for _, x := range d {
		sum += float64(x)
	}
	mean := sum / float64(len(d))
	p50, p90, p98 := quantile(d, 0.50), quantile(d, 0.90), quantile(d, 0.98)
	t.Mean, t.P50, t.P90, t.P98 = &mean, &p50, &p90, &p98
}

// quantile is type 7: linear between the order statistics round (n-1)p. O(n).
func quantile(d []int64, p float64) float64 {
	at, rest := math.Modf(float64(len(d)-1) * p)
	k := int(at)
	low := selectNth(d, k)
	if rest == 0 || k+1 >= len(d) {
		return float64(low)
	}
	high := slices.Min(d[k+1:]) // everything from k on is at least low
	return float64(low) + rest*float64(high-low)
}

// selectNth puts the k-th smallest at k, smaller before and larger after it.
func selectNth(d []int64, k int) int64 {
	lo, hi := 0, len(d)-1
	for depth := 0; lo < hi; depth++ {
		if depth > 100 { // pivots go wrong again and again: sort the rest
			slices.Sort(d[lo : hi+1])
			break
		}
		pivot := median3(d[lo], d[lo+(hi-lo)/2], d[hi])
		i, j := lo, hi
		for i <= j {
			for d[i] < pivot {
				i++
			}
			for d[j] > pivot {
				j--
			}
			if i <= j {
				d[i], d[j] = d[j], d[i]
				i, j = i+1, j-1
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return d[k]
		}
	}
	return d[k]
}

func median3(a, b, c int64) int64 { return max(min(a, b), min(max(a, b), c)) }

func sortByTime(rows []regionSummary) {
	slices.SortFunc(rows, func(a, b regionSummary) int {
		return cmp.Or(b.Exclusive.Compare(a.Exclusive), compareCounts(b.Count, a.Count), cmp.Compare(a.ID, b.ID))
	})
}

// compareCounts orders by the number of calls; none if they are not counted.
func compareCounts(a, b *int64) int {
	if a == nil || b == nil {
		return 0
	}
	return cmp.Compare(*a, *b)
}
