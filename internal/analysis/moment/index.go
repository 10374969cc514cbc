package moment

import (
	"sort"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Interval is a stretch of busy time, half open.
type Interval struct{ Begin, End trace.Time }

// An Index holds the busy time of many rows as bars, in order of time without overlap, with a sketch for
// every partBars of them. For rows with few bars, and for definitions of busy that no store has sketches
// of, it is faster than the store: a window costs O(log n + n/64) a row and no call.
type Index struct {
	offsets []int64 // of bars, rows + 1
	begin   []trace.Time
	end     []trace.Time
	blocks  []Cubic
	first   []int64 // of blocks, rows + 1
}

// SizeBytes is the memory it takes.
func (x *Index) SizeBytes() int64 {
	return int64(16*(len(x.offsets)) + 16*len(x.begin) + 40*len(x.blocks))
}

// span returns the bars of a row that meet [t0, tf).
func (x *Index) span(row int, t0, tf trace.Time) (lo, hi int) {
	lo, hi = int(x.offsets[row]), int(x.offsets[row+1])
	if hi-lo > 8 {
		end, begin := x.end[lo:hi], x.begin[lo:hi]
		a := sort.Search(len(end), func(i int) bool { return end[i] > t0 })
		b := sort.Search(len(begin), func(i int) bool { return begin[i] >= tf })
		return lo + a, lo + max(a, b)
	}
	for lo < hi && x.end[lo] <= t0 {
		lo++
	}
	for hi > lo && x.begin[hi-1] >= tf {
		hi--
	}
	return lo, hi
}

// AddTo merges the row in a window into s, and gives the row's own mean relative to
// t0; false if it has no busy time there. Rows of one bar, as most of very many
// are, cost one Add.
func (x *Index) AddTo(s *Cubic, row int, t0, tf trace.Time) (mean float64, busy bool) {
	if lo := x.offsets[row]; x.offsets[row+1] == lo+1 {
		begin, end := max(x.begin[lo], t0), min(x.end[lo], tf)
		if begin >= end {
			return 0, false
		}
		s.Add(begin, end)
		return float64(begin-t0) + float64(end-begin)/2, true
	}
	c := x.Cubic(row, t0, tf)
	if c.Empty() {
		return 0, false
	}
	s.Merge(&c)
	return float64(c.Origin-t0) + c.Mean, true
}

// Cubic is the sketch of a row in a window.
func (x *Index) Cubic(row int, t0, tf trace.Time) (s Cubic) {
	lo, hi := x.span(row, t0, tf)
	if hi-lo <= 4 {
		for i := lo; i < hi; i++ {
			s.Add(max(x.begin[i], t0), min(x.end[i], tf))
		}
		return s
	}
	base := int(x.offsets[row])
	var sum accumulator
	for i := lo; i < hi; {
		// A whole block inside the window; its first and last bar must not be clipped.
		if k := i - base; k%partBars == 0 && i+partBars < hi && i > lo {
			sum.whole.Merge(&x.blocks[int(x.first[row])+k/partBars])
			i += partBars
			continue
		}
		sum.add(max(x.begin[i], t0), min(x.end[i], tf))
		i++
	}
	return sum.sum()
}

// Sketch is the sketch of a row in a window to any order. O(bars).
func (x *Index) Sketch(row int, t0, tf trace.Time, order int) Sketch {
	lo, hi := x.span(row, t0, tf)
	return x.sketch(lo, hi, t0, tf, order)
}

func (x *Index) sketch(lo, hi int, t0, tf trace.Time, order int) Sketch {
	switch hi - lo {
	case 0:
		return Sketch{}
	case 1:
		return Bar(max(x.begin[lo], t0), min(x.end[lo], tf), order)
	}
	mid := (lo + hi) / 2
	a, b := x.sketch(lo, mid, t0, tf, order), x.sketch(mid, hi, t0, tf, order)
	a.Merge(&b, order)
	return a
}

// Each yields the bars of a row in a window, clipped.
func (x *Index) Each(row int, t0, tf trace.Time, f func(begin, end trace.Time)) {
	lo, hi := x.span(row, t0, tf)
	for i := lo; i < hi; i++ {
		f(max(x.begin[i], t0), min(x.end[i], tf))
	}
}

// An IndexBuilder takes bars of many rows at once, of one row in order of time.
type IndexBuilder struct {
	rows   int
	shards []indexShard
}

// shardRows is how many neighbouring rows share a lock: stores go through
// locations in ranges, so few goroutines meet at one.
const shardRows = 1024

type indexShard struct {
	mu         sync.Mutex
	row        []int32 // of each bar
	begin, end []trace.Time
}

// NewIndexBuilder starts an index of that many rows.
func NewIndexBuilder(rows int) *IndexBuilder {
	return &IndexBuilder{rows: rows, shards: make([]indexShard, rows/shardRows+1)}
}

// Add adds bars of a row; those that touch the one before are joined to it.
func (b *IndexBuilder) Add(row int, bars []Interval) {
	s := &b.shards[row/shardRows]
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, x := range bars {
		if n := len(s.row); n > 0 && s.row[n-1] == int32(row) && s.end[n-1] == x.Begin {
			s.end[n-1] = x.End
			continue
		}
		s.row, s.begin, s.end = append(s.row, int32(row)), append(s.begin, x.Begin), append(s.end, x.End)
	}
}

// Index puts the bars in order of rows. The builder is used up.
func (b *IndexBuilder) Index() *Index {
	x := &Index{offsets: make([]int64, b.rows+1), first: make([]int64, b.rows+1)}
	for i := range b.shards {
		for _, row := range b.shards[i].row {
			x.offsets[row+1]++
		}
	}
	for row := range b.rows {
		x.first[row+1] = x.first[row] + x.offsets[row+1]/partBars
		x.offsets[row+1] += x.offsets[row]
	}
	n := x.offsets[b.rows]
	x.begin, x.end = make([]trace.Time, n), make([]trace.Time, n)
	at := make([]int64, b.rows)
	copy(at, x.offsets)
	for i := range b.shards {
		s := &b.shards[i]
		for k, row := range s.row {
			x.begin[at[row]], x.end[at[row]] = s.begin[k], s.end[k]
			at[row]++
		}
		*s = indexShard{}
	}
	x.blocks = make([]Cubic, x.first[b.rows])
	for row := range b.rows {
		for k := x.first[row]; k < x.first[row+1]; k++ {
			from := int(x.offsets[row] + (k-x.first[row])*partBars)
			for i := from; i < from+partBars; i++ {
				x.blocks[k].Add(x.begin[i], x.end[i])
			}
		}
	}
	return x
}
