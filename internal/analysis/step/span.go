package step

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A span is a stretch of time.
type span struct{ begin, end trace.Time }

// A set is time as spans that neither touch nor overlap, in order, with the sum of all before each.
type set struct {
	spans []span
	sum   []trace.Time // len(spans)+1
}

// union makes a set of spans in any order; it takes the slice over.
func union(list []span) set {
	parallel.Sort(list, byBegin)
	out := list[:0]
	for _, s := range list {
		if s.end <= s.begin {
			continue
		}
		if n := len(out); n > 0 && s.begin <= out[n-1].end {
			out[n-1].end = max(out[n-1].end, s.end)
			continue
		}
		out = append(out, s)
	}
	return summed(out)
}

func byBegin(a, b span) int {
	if a.begin != b.begin {
		return cmp.Compare(a.begin, b.begin)
	}
	return cmp.Compare(a.end, b.end)
}

func summed(list []span) set {
	s := set{spans: list, sum: make([]trace.Time, len(list)+1)}
	for i, x := range list {
		s.sum[i+1] = s.sum[i] + x.end - x.begin
	}
	return s
}

// total of the set.
func (s set) total() trace.Time {
	if len(s.sum) == 0 {
		return 0
	}
	return s.sum[len(s.spans)]
}

// within is the time of the set in [begin, end). O(log n).
func (s set) within(begin, end trace.Time) trace.Time {
	if begin >= end {
		return 0
	}
	return s.before(end) - s.before(begin)
}

// before is the time of the set before t.
func (s set) before(t trace.Time) trace.Time {
	i, _ := slices.BinarySearchFunc(s.spans, t, func(x span, t trace.Time) int { return cmp.Compare(x.end, t) })
	if i == len(s.spans) {
		return s.total()
	}
	return s.sum[i] + max(t-s.spans[i].begin, 0)
}

// without is a less b. O(a + b).
func without(a, b set) set {
	if len(b.spans) == 0 {
		return a
	}
	var out []span
	j := 0
	for _, s := range a.spans {
		at := s.begin
		for j < len(b.spans) && b.spans[j].end <= at {
			j++
		}
		k := j
		for ; k < len(b.spans) && b.spans[k].begin < s.end; k++ {
			if b.spans[k].begin > at {
				out = append(out, span{at, b.spans[k].begin})
			}
			at = max(at, b.spans[k].end)
		}
		if at < s.end {
			out = append(out, span{at, s.end})
		}
	}
	return summed(out)
}

// both is the union of two sets. O(a + b).
func both(a, b set) set {
	switch {
	case len(a.spans) == 0:
		return b
	case len(b.spans) == 0:
		return a
	}
	list := make([]span, 0, len(a.spans)+len(b.spans))
	i, j := 0, 0
	for i < len(a.spans) || j < len(b.spans) {
		if j == len(b.spans) || i < len(a.spans) && a.spans[i].begin <= b.spans[j].begin {
			list = append(list, a.spans[i])
			i++
		} else {
			list = append(list, b.spans[j])
			j++
		}
	}
	return union(list)
}

// joined takes the time between spans in where it is shorter than both of them: a moment between two steps is part of
// the job, a pause of the recording is not.
func (s set) joined() set {
	var out []span
	for _, x := range s.spans {
		if n := len(out); n > 0 && x.begin-out[n-1].end <= min(x.end-x.begin, out[n-1].end-out[n-1].begin) {
			out[n-1].end = x.end
			continue
		}
		out = append(out, x)
	}
	return union(out)
}
