package runfacts

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// The rule of calls whose end is not in the source: pictures of time show them until the
// end of the trace, as regions of their own ("NAME (no end)"); statistics of calls leave
// them out and say so, since how long they took is not known. Only where no call of the
// selection has an end are they all there is, and shown.

// WithoutEnd returns the regions of calls without an end; nil where none is. O(regions).
func WithoutEnd(regions []trace.Region) (out []bool) {
	for id := range regions {
		if _, without := trace.EndOf(&regions[id]); without {
			if out == nil {
				out = make([]bool, len(regions))
			}
			out[id] = true
		}
	}
	return out
}

// LeaveOpen returns the regions that the statistics of a window leave out, and the number of calls
// that are, in words; nil if there are none, or nothing else.
func LeaveOpen(ctx context.Context, r store.Reader, w store.Window) (skip []bool, note string, err error) {
	regions := r.Regions()
	if skip = WithoutEnd(regions); skip == nil {
		return nil, "", nil
	}
	t, err := store.TotalTime(ctx, r, w)
	if err != nil {
		return nil, "", err
	}
	type left struct {
		name  string
		calls int64
	}
	var list []left
	var open, ended int64
	for i, id := range t.Region {
		if !skip[id] {
			ended += t.Calls[i]
		} else if t.Calls[i] > 0 {
			name, _ := trace.EndOf(&regions[id])
			list = append(list, left{name, t.Calls[i]})
			open += t.Calls[i]
		}
	}
	switch {
	case open == 0:
		return skip, "", nil
	case ended == 0:
		return nil, "no call has an end in the source: all are taken to last until the end of the trace", nil
	}
	slices.SortStableFunc(list, func(a, b left) int { return int(b.calls - a.calls) })
	var names []string
	for i, x := range list {
		if i == 3 {
			names = append(names, fmt.Sprintf("and %d more", len(list)-i))
			break
		}
		names = append(names, fmt.Sprintf("%s (%s)", x.name, words.Thousands(x.calls)))
	}
	return skip,
		fmt.Sprintf("%s without an end in the source left out, since how long they took is not known: %s",
			words.Count(int(open), "call"), strings.Join(names, ", ")), nil
}
