package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/spool"
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
	// EachLinkSum yields what LinkSums adds up, in any order: parts of a sum may come one by one. It does not sort, and
	// takes no memory that grows with the pairs.
	EachLinkSum(ctx context.Context, w Window, f func([]LinkSum) error) error
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

// EachLinkSum yields the sums of the links that start in a window; those of a pair may come in parts.
func EachLinkSum(ctx context.Context, r Reader, w Window, f func([]LinkSum) error) error {
	if s, ok := r.(LinkSummer); ok {
		return s.EachLinkSum(ctx, w, f)
	}
	sums, err := LinkSums(ctx, r, w)
	if err == nil && len(sums) > 0 {
		err = f(sums)
	}
	return err
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

// A LinkAdder adds up links. Its zero value is empty. It sorts them: of runs with many locations most links have a
// pair of their own, and to look each up took several times as long.
type LinkAdder struct {
	sums   []LinkSum
	pairs  int // after they were added up last
	sorter spool.Sorter[LinkSum]
	other  []LinkSum // room for as many, of long lists
}

// leastAdded is the number of sums that are added up at once, on all cores.
const leastAdded = 1 << 17

// linkOrder is by kind and locations.
var linkOrder = spool.Order[LinkSum]{
	Key: func(s *LinkSum) int64 { return int64(s.Kind)<<32 | int64(s.From) },
	Ties: func(x, y *LinkSum) int {
		if x.To != y.To || x.Untimed == y.Untimed {
			return cmp.Compare(x.To, y.To)
		}
		if x.Untimed {
			return -1
		}
		return 1
	},
}

// Add takes one sum more.
func (a *LinkAdder) Add(s LinkSum) {
	if len(a.sums) >= a.Most() {
		a.addUp()
	}
	a.sums = append(a.sums, s)
}

// Most is the number of sums that are kept before they are added up.
func (a *LinkAdder) Most() int { return max(2*a.pairs, leastAdded) }

// Room adds n sums, which the caller writes into the returned slice before it calls anything else.
func (a *LinkAdder) Room(n int) []LinkSum {
	if len(a.sums) >= a.Most() {
		a.addUp()
	}
	a.sums = slices.Grow(a.sums, n)[:len(a.sums)+n]
	return a.sums[len(a.sums)-n:]
}

// Sums returns the sums in order, and begins anew.
func (a *LinkAdder) Sums() []LinkSum {
	a.addUp()
	out := a.sums
	a.sums, a.pairs, a.other = nil, 0, nil
	return out
}

// addUp sorts the sums and makes one of those of a pair.
func (a *LinkAdder) addUp() {
	if len(a.sums) < leastAdded {
		a.sums = foldSums(a.sums, &a.sorter)
	} else {
		a.share()
	}
	a.pairs = len(a.sums)
}

func foldSums(sums []LinkSum, by *spool.Sorter[LinkSum]) []LinkSum {
	by.Sort(sums, linkOrder)
	out := sums[:0]
	for i := range sums {
		s := &sums[i]
		if n := len(out); n == 0 || linkOrder.Compare(&out[n-1], s) != 0 {
			out = append(out, *s)
			continue
		}
		t := &out[len(out)-1]
		t.Count += s.Count
		t.Sized += s.Sized
		t.Bytes += s.Bytes
		t.Time = trace.AddUp(t.Time, s.Time)
	}
	return out
}

// linkShares is how many parts the sums of a kind make for all cores.
const linkShares = 128

// share adds up on all cores: each takes the sums from a range of locations.
func (a *LinkAdder) share() {
	ctx := context.Background()
	from, kinds := uint64(1), 1
	for i := range a.sums {
		from, kinds = max(from, uint64(a.sums[i].From)+1), max(kinds, int(a.sums[i].Kind)+1)
	}
	part := func(s *LinkSum) int { return int(s.Kind)*linkShares + int(uint64(s.From)*linkShares/from) }
	n, size := kinds*linkShares, leastAdded/4
	chunks := (len(a.sums) + size - 1) / size
	next := make([][]int, chunks) // where a chunk writes those of a part
	chunk := func(k int) []LinkSum { return a.sums[k*size : min((k+1)*size, len(a.sums))] }
	_ = parallel.For(ctx, chunks, func(k int) {
		next[k] = make([]int, n)
		for i, sums := 0, chunk(k); i < len(sums); i++ {
			next[k][part(&sums[i])]++
		}
	})
	begin, at := make([]int, n+1), 0
	for p := range n {
		begin[p] = at
		for k := range next {
			next[k][p], at = at, at+next[k][p]
		}
	}
	begin[n] = at
	a.other = slices.Grow(a.other[:0], len(a.sums))[:len(a.sums)]
	_ = parallel.For(ctx, chunks, func(k int) {
		for i, sums := 0, chunk(k); i < len(sums); i++ {
			p := part(&sums[i])
			a.other[next[k][p]] = sums[i]
			next[k][p]++
		}
	})
	folded := make([][]LinkSum, n)
	sorter := func() *spool.Sorter[LinkSum] { return new(spool.Sorter[LinkSum]) }
	_ = parallel.Each(ctx, n, sorter, func(_ context.Context, by *spool.Sorter[LinkSum], p int) error {
		folded[p] = foldSums(a.other[begin[p]:begin[p+1]], by)
		return nil
	})
	at = 0
	for p, sums := range folded {
		begin[p], at = at, at+len(sums)
	}
	a.sums = a.sums[:at]
	_ = parallel.For(ctx, n, func(p int) { copy(a.sums[begin[p]:], folded[p]) })
}

// Pairs numbers the pairs of places that sums join, in the order in which they come: sum i joins pair at[i], -1: it is
// left out. The function place returns the places of a sum, below n, and whether it counts. O(sums + n).
func Pairs(sums []LinkSum, n int, place func(*LinkSum) (from, to int, ok bool)) (at []int32, pairs int) {
	at = make([]int32, len(sums))
	first, next := slices.Repeat([]int32{-1}, n), make([]int32, len(sums)) // sums by where they come from
	for i := len(sums) - 1; i >= 0; i-- {
		at[i] = -1
		if from, _, ok := place(&sums[i]); ok {
			first[from], next[i] = int32(i), first[from]
		}
	}
	type met struct{ from, sum int32 }
	last := slices.Repeat([]met{{-1, -1}}, n) // by where they go: the first sum of the pair that was met last
	for from, i := range first {
		for ; i >= 0; i = next[i] {
			_, to, _ := place(&sums[i])
			if last[to].from != int32(from) {
				last[to] = met{int32(from), i}
			}
			at[i] = last[to].sum
		}
	}
	for i, of := range at {
		switch {
		case of == int32(i):
			at[i] = int32(pairs)
			pairs++
		case of >= 0:
			at[i] = at[of]
		}
	}
	return at, pairs
}
