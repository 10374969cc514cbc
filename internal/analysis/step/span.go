package step

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A span is a time range.
type span struct{ begin, end trace.Time }

// A set is time as spans that neither touch nor overlap, in order, with the sum of all before each.
type set struct {
	spans []span
	sum   []trace.Time // len(spans)+1
}

// A list of spans is in order, and its spans neither touch nor overlap.

// union makes such a list of spans in any order; it takes the slice over.
func union(list []span) []span {
	parallel.Sort(list, byBegin)
	out := list[:0]
	for _, s := range list {
		out = add(out, s)
	}
	return out
}

// add appends a span that begins no earlier than those of the list.
func add(list []span, s span) []span {
	if s.end <= s.begin {
		return list
	}
	if n := len(list); n > 0 && s.begin <= list[n-1].end {
		list[n-1].end = max(list[n-1].end, s.end)
		return list
	}
	return append(list, s)
}

func byBegin(a, b span) int {
	if a.begin != b.begin {
		return cmp.Compare(a.begin, b.begin)
	}
	return cmp.Compare(a.end, b.end)
}

// summed makes a set of a list.
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
func without(a, b []span) []span {
	if len(b) == 0 {
		return a
	}
	out := make([]span, 0, len(a))
	j := 0
	for _, s := range a {
		at := s.begin
		for j < len(b) && b[j].end <= at {
			j++
		}
		for k := j; k < len(b) && b[k].begin < s.end; k++ {
			if b[k].begin > at {
				out = append(out, span{at, b[k].begin})
			}
			at = max(at, b[k].end)
		}
		if at < s.end {
			out = append(out, span{at, s.end})
		}
	}
	return out
}

// both is the union of two lists. O(a + b).
func both(a, b []span) []span {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	out := make([]span, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if a[0].begin <= b[0].begin {
			out, a = add(out, a[0]), a[1:]
		} else {
			out, b = add(out, b[0]), b[1:]
		}
	}
	for _, rest := range [][]span{a, b} {
		for _, s := range rest {
			out = add(out, s)
		}
	}
	return out
}

// joined takes the time between spans in where it is shorter than both of them: a moment between two steps is part of
// the job, a pause of the recording is not.
func joined(list []span) []span {
	var out []span
	for _, x := range list {
		if n := len(out); n > 0 && x.begin-out[n-1].end <= min(x.end-x.begin, out[n-1].end-out[n-1].begin) {
			out[n-1].end = x.end
			continue
		}
		out = append(out, x)
	}
	return out
}
