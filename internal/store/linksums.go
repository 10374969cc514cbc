package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A LinkSum sums up the links of a kind between two locations.
type LinkSum struct {
	Kind     trace.LinkKind
	From, To trace.LocationID
	Untimed  bool       // they have no times
	Count    int64      // of links, each as many as it stands for
	Sized    int64      // links whose size is known
	Bytes    int64      // of those
	Time     trace.Time // from start to end
}

// A LinkSummer is a Reader that keeps sums of links, so that those of a window do not take all its links.
type LinkSummer interface {
	// LinkSums adds up, by kind and pair of locations, the links that start in the window and have an end at a location
	// of it; untimed ones always. They come by kind and locations. With n links and p pairs it is O(p log n).
	LinkSums(ctx context.Context, w Window) ([]LinkSum, error)
}

// KeepsLinkSums reports whether sums of links cost less than the links.
func KeepsLinkSums(r Reader) bool {
	_, ok := r.(LinkSummer)
	return ok
}

// LinkSums adds up the links that start in a window.
func LinkSums(ctx context.Context, r Reader, w Window) ([]LinkSum, error) {
	if s, ok := r.(LinkSummer); ok {
		return s.LinkSums(ctx, w)
	}
	until := w.End
	if until >= r.Info().End { // links that start at the very end are part of the whole
		until = r.Info().End + 1
	}
	return AddLinks(ctx, r, w, func(t trace.Time) bool { return t >= w.Begin && t < until })
}

// AddLinks does so by reading the links of the window, with those that start when they should.
func AddLinks(ctx context.Context, r Reader, w Window, starts func(trace.Time) bool) ([]LinkSum, error) {
	var a LinkAdder
	err := r.Links(ctx, w, func(l *LinkColumns) error {
		for i := range l.Kind {
			if l.Untimed[i] || starts(l.FromTime[i]) {
				a.Add(LinkSumOf(l, i))
			}
		}
		return nil
	})
	return a.Sums(), err
}

// LinkSumOf returns the sum of one link.
func LinkSumOf(l *LinkColumns, i int) LinkSum {
	s := LinkSum{Kind: l.Kind[i], From: l.FromLocation[i], To: l.ToLocation[i], Untimed: l.Untimed[i],
		Count: max(l.Count[i], 1)}
	if l.Size[i] >= 0 {
		s.Sized, s.Bytes = 1, l.Size[i]
	}
	if !s.Untimed {
		s.Time = l.ToTime[i] - l.FromTime[i]
	}
	return s
}

// A LinkAdder adds up links. Its zero value is empty.
type LinkAdder struct {
	at   map[linkPair]int
	sums []LinkSum
}

type linkPair struct {
	from, to trace.LocationID
	kind     trace.LinkKind
	untimed  bool
}

// Add takes one sum more.
func (a *LinkAdder) Add(s LinkSum) {
	if a.at == nil {
		a.at = map[linkPair]int{}
	}
	key := linkPair{s.From, s.To, s.Kind, s.Untimed}
	i, ok := a.at[key]
	if !ok {
		a.at[key] = len(a.sums)
		a.sums = append(a.sums, s)
		return
	}
	t := &a.sums[i]
	t.Count += s.Count
	t.Sized += s.Sized
	t.Bytes += s.Bytes
	t.Time = trace.AddUp(t.Time, s.Time)
}

// Len returns the number of pairs, by kind.
func (a *LinkAdder) Len() int { return len(a.sums) }

// Sums returns the sums in order, and begins anew.
func (a *LinkAdder) Sums() []LinkSum {
	out := a.sums
	a.sums = nil
	clear(a.at)
	slices.SortFunc(out, func(x, y LinkSum) int {
		untimed := 0
		if x.Untimed != y.Untimed {
			untimed = 1
			if x.Untimed {
				untimed = -1
			}
		}
		return cmp.Or(cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.From, y.From), cmp.Compare(x.To, y.To), untimed)
	})
	return out
}
