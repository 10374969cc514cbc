package runfacts

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	windowBins  = 256
	mostWindows = 8 // that a page offers
	// leastBlank is the part of the time that is blank, and firstWindow that of the mean
	// window which the first has at least: a start before a long wait is none.
	leastBlank  = 0.8
	firstWindow = 0.5
	// keptBins is how many bins of a run a store answers without looking at rows.
	keptBins = 8192
)

// Windows are the time ranges in which something is recorded, where most of a run is
// blank on all locations at once: a profiler that was on now and then. Pictures of time
// begin with the first of them. None where a run is not of that kind: services that wait for
// requests are blank too, and nothing was switched off. O(bins), and O(locations) where there are windows:
// every picture of a run begins with it.
func Windows(ctx context.Context, r store.Reader) ([][2]trace.Time, error) {
	out, err := recordedWindows(ctx, r)
	if len(out) > mostWindows {
		return nil, err
	}
	return out, err
}

// Recorded are the parts of a time range in which the recorder was on, at least one. Between windows that lie far apart
// nothing was recorded on any location, which is no idle time: rates, shares and efficiencies are over these parts.
func Recorded(ctx context.Context, r store.Reader, begin, end trace.Time) ([][2]trace.Time, error) {
	windows, err := recordedWindows(ctx, r)
	if err != nil {
		return nil, err
	}
	var out [][2]trace.Time
	for _, w := range windows {
		if from, to := max(w[0], begin), min(w[1], end); from < to {
			out = append(out, [2]trace.Time{from, to})
		}
	}
	if len(out) == 0 {
		out = append(out, [2]trace.Time{begin, end})
	}
	return out, nil
}

// MayHaveWindows is false where one location alone has records for too much of a run for the rest to be blank.
func MayHaveWindows(r store.Reader, recorded trace.Time) bool {
	return float64(recorded) <= (1-leastBlank)*float64(r.Info().End)
}

// RecordedTime is how long the recorder was on in a time range.
func RecordedTime(ctx context.Context, r store.Reader, begin, end trace.Time) (sum trace.Time, err error) {
	parts, err := Recorded(ctx, r, begin, end)
	for _, p := range parts {
		sum += p[1] - p[0]
	}
	return sum, err
}

// FirstAndLast returns the begin of the first and the end of the last interval of locations in a time range; begin ≥
// end if they have none. It takes some sixty queries of the store's sums.
func FirstAndLast(ctx context.Context, r store.Reader, ids []trace.LocationID, begin, end trace.Time) (first,
	last trace.Time, err error) {
	return FirstAndLastOf(ctx, r, ids, begin, end)
}

// FirstAndLastOf is FirstAndLast of the time in some roles, of all if none is named.
func FirstAndLastOf(ctx context.Context, r store.Reader, ids []trace.LocationID, begin, end trace.Time,
	roles ...trace.Role) (first, last trace.Time, err error) {
	has := func(from, to trace.Time) bool {
		if err != nil || from >= to {
			return false
		}
		var times []trace.Sum
		times, err = r.RoleTime(ctx, ids, []trace.Time{from, to})
		for role, t := range times {
			if t.Float64() > 0 && (len(roles) == 0 || slices.Contains(roles, trace.Role(role))) {
				return true
			}
		}
		return false
	}
	if !has(begin, end) {
		return end, begin, err
	}
	first, last = begin, end
	for high := end; high-first > 1; {
		if middle := first + (high-first)/2; has(first, middle) {
			high = middle
		} else {
			first = middle
		}
	}
	for low := first; last-low > 1; {
		if middle := low + (last-low)/2; has(middle, last) {
			low = middle
		} else {
			last = middle
		}
	}
	return first, last, err
}

// recordedWindows are the windows of a run, however many; nil if it is one.
func recordedWindows(ctx context.Context, r store.Reader) ([][2]trace.Time, error) {
	i := r.Info()
	if i.Intervals == 0 || i.Core != nil || i.End < windowBins || HasSpans(r) {
		return nil, nil
	}
	recorded, edges, err := recordedIn(ctx, r, 0, i.End, levelOf(i.End, 2*windowBins))
	if err != nil {
		return nil, err
	}
	blank := trace.Time(0)
	var out [][2]trace.Time
	for b, yes := range recorded {
		switch {
		case !yes:
			blank += edges[b+1] - edges[b]
		case b > 0 && recorded[b-1]:
			out[len(out)-1][1] = edges[b+1]
		default:
			out = append(out, [2]trace.Time{edges[b], edges[b+1]})
		}
	}
	if float64(blank) < leastBlank*float64(i.End) || len(out) < 2 {
		return nil, nil
	}
	all := trace.Time(0)
	for k := range out {
		if out[k], err = tighten(ctx, r, out[k]); err != nil {
			return nil, err
		}
		all += out[k][1] - out[k][0]
	}
	if first := out[0]; float64(first[1]-first[0]) < firstWindow*float64(all)/float64(len(out)) {
		return nil, nil
	}
	return out, nil
}

// levelOf is the finest level of which no more than so many bins cover a time range.
func levelOf(length trace.Time, bins trace.Time) (level int) {
	for (length-1)>>level >= bins {
		level++
	}
	return level
}

// recordedIn returns the bins of a level that a stretch touches anything is open anywhere. Bins are aligned, as
// those are that a store keeps.
func recordedIn(ctx context.Context, r store.Reader, begin, end trace.Time, level int) ([]bool, []trace.Time, error) {
	edges := BinEdges(begin, end, level)
	times, err := r.RoleTime(ctx, nil, edges)
	if err != nil {
		return nil, nil, err
	}
	out := make([]bool, len(edges)-1)
	for b := range out {
		for role := range trace.RoleCount {
			out[b] = out[b] || times[b*trace.RoleCount+role].Float64() > 0
		}
	}
	return out, edges, nil
}

// BinEdges are the edges of the bins of a level that a stretch touches. It may reach to the end of all times, behind
// which the next edge would be a negative one.
func BinEdges(begin, end trace.Time, level int) []trace.Time {
	edges := []trace.Time{begin}
	for t := (begin>>level + 1) << level; begin < t && t < end; t += 1 << level {
		edges = append(edges, t)
	}
	return append(edges, end)
}

// tighten cuts blank time off both ends of a window: bins, and then halves of the last of them, until the blank rest is
// small compared with the window.
func tighten(ctx context.Context, r store.Reader, w [2]trace.Time) ([2]trace.Time, error) {
	level := max(levelOf(r.Info().End, keptBins), levelOf(w[1]-w[0], 2*windowBins))
	recorded, edges, err := recordedIn(ctx, r, w[0], w[1], level)
	if err != nil {
		return w, err
	}
	from, to := 0, len(recorded)
	for from < to-1 && !recorded[from] {
		from++
	}
	for to > from+1 && !recorded[to-1] {
		to--
	}
	w = [2]trace.Time{edges[from], edges[to]}
	least := max(1, (w[1]-w[0])/windowBins)
	for lo, hi := edges[from], edges[from+1]; hi-lo > least; {
		middle := lo + (hi-lo)/2
		yes, _, err := recordedIn(ctx, r, lo, middle, 62)
		if err != nil {
			return w, err
		}
		if yes[0] {
			hi = middle
		} else {
			lo, w[0] = middle, middle
		}
	}
	for lo, hi := edges[to-1], edges[to]; hi-lo > least; {
		middle := lo + (hi-lo)/2
		yes, _, err := recordedIn(ctx, r, middle, hi, 62)
		if err != nil {
			return w, err
		}
		if yes[0] {
			lo = middle
		} else {
			hi, w[1] = middle, middle
		}
	}
	return w, nil
}
