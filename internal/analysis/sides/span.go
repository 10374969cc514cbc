package sides

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Span is [Begin, End).
type Span struct{ Begin, End trace.Time }

// Joined sorts spans and joins those that meet.
func Joined(spans []Span) []Span {
	slices.SortFunc(spans, func(a, b Span) int { return int(min(max(a.Begin-b.Begin, -1), 1)) })
	out := spans[:0]
	for _, x := range spans {
		if n := len(out); n > 0 && x.Begin <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, x.End)
			continue
		}
		out = append(out, x)
	}
	return out
}

// Inside returns the intersection of two lists of spans, outside the part of the first that
// is not in the second.
func Inside(a, b []Span) []Span {
	out := []Span{}
	for _, x := range a {
		for _, y := range b {
			if z := (Span{max(x.Begin, y.Begin), min(x.End, y.End)}); z.Begin < z.End {
				out = append(out, z)
			}
		}
	}
	return out
}

func Outside(whole, taken []Span) []Span {
	out := []Span{}
	for _, w := range whole {
		at := w.Begin
		for _, t := range taken {
			if t.Begin > at {
				out = append(out, Span{at, min(t.Begin, w.End)})
			}
			at = max(at, t.End)
		}
		if at < w.End {
			out = append(out, Span{at, w.End})
		}
	}
	return out
}

// Without returns the locations of a that are not in b; both ascending.
func Without(a, b []trace.LocationID) []trace.LocationID {
	return slices.DeleteFunc(slices.Clone(a), func(id trace.LocationID) bool {
		_, found := slices.BinarySearch(b, id)
		return found
	})
}
