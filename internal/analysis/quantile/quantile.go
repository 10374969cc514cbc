// Package quantile summarises durations by count, total, extremes, mean, standard
// deviation and quantiles, exactly while they are few and with a bounded relative
// error when they are many.
//
// Quantiles are of type 7 everywhere: of n sorted values, h = (n-1) q, the value
// between x[⌊h⌋] and x[⌊h⌋+1] by linear interpolation. For q = 1/2 that is the
// middle value, or the mean of the two middle ones.
package quantile

import (
	"math"
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Box are the quantiles of a box plot after Brendel: whiskers, box and median.
var Box = [5]float64{0.02, 0.25, 0.5, 0.75, 0.98}

// OfSorted returns the q-quantile of values in ascending order; NaN of none.
func OfSorted[T int64 | float64](sorted []T, q float64) float64 {
	n := len(sorted)
	if n == 0 {
		return math.NaN()
	}
	h := float64(n-1) * q
	i := int(h)
	if i >= n-1 {
		return float64(sorted[n-1])
	}
	return float64(sorted[i]) + (h-float64(i))*float64(sorted[i+1]-sorted[i])
}

// ExactSize is how many values a Sketch keeps as they are.
const ExactSize = 256

// RelativeError bounds the error of a quantile once values are counted in
// buckets: buckets are 1/64 of a power of two wide, and the middle is given.
const RelativeError = 1.0 / 128

// A Sketch is a mergeable summary of values that are not negative. The zero
// Sketch is empty. Up to ExactSize values are kept as they are and quantiles are
// exact; beyond that they are counted in a log-linear histogram. Count, total,
// extremes, mean and deviation are always exact, in any order of adding and merging.
type Sketch struct {
	Count    int64
	Total    trace.Sum
	Min, Max int64
	squares  wide    // Σ x²; at most (Σ x)², which fits
	values   []int64 // while exact
	pages    []*page // of buckets, from page first on, once not; nil if empty
	first    int
	// box is all that is known of the distribution, where boxed is set.
	box   [5]float64
	boxed bool
}

// A page is a run of buckets. Calls of one kind fall into few pages, so pages in
// use take little room however far apart the values are.
type page [1 << pageBits]uint64

const pageBits = 5

// Exact reports whether quantiles are exact.
func (s *Sketch) Exact() bool { return s.pages == nil && (!s.boxed || s.Count <= ExactSize) }

// Add counts one value; a negative one counts as 0.
func (s *Sketch) Add(v int64) {
	v = max(v, 0)
	if s.Count == 0 {
		s.Min, s.Max = v, v
	}
	s.Count++
	s.Total.Add(trace.Time(v))
	s.Min, s.Max = min(s.Min, v), max(s.Max, v)
	s.squares.addSquare(uint64(v))
	if s.pages == nil {
		if len(s.values) < ExactSize {
			if len(s.values) == cap(s.values) {
				s.values = slices.Grow(s.values, 3*len(s.values)+4)
			}
			s.values = append(s.values, v)
			return
		}
		s.spill()
	}
	s.count(bucketOf(v), 1)
}

// AddAll counts many values at once, none of them negative; faster than one by one.
func (s *Sketch) AddAll(values []int64) {
	if len(values) == 0 {
		return
	}
	least, most, total := values[0], values[0], trace.Sum{}
	for _, v := range values {
		least, most = min(least, v), max(most, v)
	}
	var squares wide
	if 2*bits.Len64(uint64(most))+bits.Len(uint(len(values))) <= 64 { // squares add up to no more
		var sum, square uint64
		for _, v := range values {
			sum += uint64(v)
			square += uint64(v) * uint64(v)
		}
		total, squares = trace.SumOf(trace.Time(sum)), wide{low: square}
	} else {
		for _, v := range values {
			total.Add(trace.Time(v))
			squares.addSquare(uint64(v))
		}
	}
	if s.Count == 0 {
		s.Min, s.Max = least, most
	}
	s.squares.add(squares)
	s.Count += int64(len(values))
	s.Total.AddSum(total)
	s.Min, s.Max = min(s.Min, least), max(s.Max, most)
	if s.pages == nil && s.Count <= ExactSize {
		s.values = append(s.values, values...)
		return
	}
	s.spill()
	for _, v := range values {
		b := bucketOf(v)
		if at := b>>pageBits - s.first; uint(at) < uint(len(s.pages)) && s.pages[at] != nil {
			s.pages[at][b&(1<<pageBits-1)]++
		} else {
			s.count(b, 1)
		}
	}
}

// Clone returns a sketch of its own room.
func (s *Sketch) Clone() Sketch {
	c := *s
	c.values = slices.Clone(s.values)
	c.pages = slices.Clone(s.pages)
	for i, p := range c.pages {
		if p != nil {
			q := *p
			c.pages[i] = &q
		}
	}
	return c
}

// Merge makes s the sketch of both.
func (s *Sketch) Merge(o *Sketch) {
	switch {
	case o.Count == 0:
		return
	case s.Count == 0:
		s.Min, s.Max = o.Min, o.Max
	}
	s.squares.add(o.squares)
	s.Count += o.Count
	s.Total.AddSum(o.Total)
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
	if s.Exact() && o.Exact() && len(s.values)+len(o.values) <= ExactSize {
		s.values = append(s.values, o.values...)
		return
	}
	s.spill()
	for _, v := range o.values {
		s.count(bucketOf(v), 1)
	}
	for i, p := range o.pages {
		if p == nil {
			continue
		}
		for k, n := range p {
			if n > 0 {
				s.count((o.first+i)<<pageBits+k, n)
			}
		}
	}
}

// spill moves from kept values to buckets.
func (s *Sketch) spill() {
	if s.pages != nil {
		return
	}
	s.first = bucketOf(s.Min) >> pageBits
	s.pages = make([]*page, bucketOf(s.Max)>>pageBits-s.first+1)
	for _, v := range s.values {
		s.count(bucketOf(v), 1)
	}
	s.values = s.values[:0]
}

// Reset empties the sketch and keeps the room of its values for others.
func (s *Sketch) Reset() { *s = Sketch{values: s.values[:0]} }

func (s *Sketch) count(b int, n uint64) { s.page(b >> pageBits)[b&(1<<pageBits-1)] += n }

// page returns a page by its number.
func (s *Sketch) page(number int) *page {
	at := number - s.first
	if uint(at) >= uint(len(s.pages)) {
		at = s.reach(at)
	}
	p := s.pages[at]
	if p == nil {
		p = new(page)
		s.pages[at] = p
	}
	return p
}

// reach makes room for a page before or after those there are, and gives its place.
func (s *Sketch) reach(at int) int {
	if at < 0 {
		s.pages = append(make([]*page, -at, len(s.pages)-at), s.pages...)
		s.first += at
		return 0
	}
	for at >= len(s.pages) {
		s.pages = append(s.pages, nil)
	}
	return at
}

// Mean of the values; NaN of none.
func (s *Sketch) Mean() float64 { return s.Total.Float64() / float64(s.Count) }

// Deviation is the standard deviation over all values (not of a sample).
func (s *Sketch) Deviation() float64 {
	return math.Sqrt(s.squares.variance(uint64(s.Count), s.Total))
}

// Box returns the five quantiles of a box plot; NaN of none.
func (s *Sketch) Box() (box [5]float64) {
	if s.boxed {
		return s.box
	}
	if s.Exact() {
		return boxOf(s.values, s.Min, s.Max)
	}
	s.Quantiles(box[:0], Box[:]...)
	return box
}

// Quantiles returns several quantiles, ascending q, in one pass.
func (s *Sketch) Quantiles(out []float64, qs ...float64) []float64 {
	if s.Exact() {
		slices.Sort(s.values)
		for _, q := range qs {
			out = append(out, OfSorted(s.values, q))
		}
		return out
	}
	at := cursor{s: s}
	for _, q := range qs {
		h := float64(s.Count-1) * q
		i := int64(h)
		x := at.seek(uint64(i))
		if frac := h - float64(i); frac > 0 && i+1 < s.Count {
			next := at
			x += frac * (next.seek(uint64(i+1)) - x)
		}
		out = append(out, x)
	}
	return out
}

// A cursor walks the buckets in order.
type cursor struct {
	s      *Sketch
	bucket int    // from the first page on
	below  uint64 // values in earlier buckets
}

// seek returns the value of a rank that is not below the last one asked for.
func (c *cursor) seek(rank uint64) float64 {
	s := c.s
	for {
		p := s.pages[c.bucket>>pageBits]
		if p == nil {
			c.bucket += 1 << pageBits
			continue
		}
		n := p[c.bucket&(1<<pageBits-1)]
		if c.below+n > rank {
			break
		}
		c.below += n
		c.bucket++
	}
	return min(max(middle(s.first<<pageBits+c.bucket), float64(s.Min)), float64(s.Max))
}

// stepBits: a power of two is cut into 2^stepBits buckets.
const stepBits = 6

// bucketOf numbers the buckets: values below 2^(stepBits+1) have one each.
func bucketOf(v int64) int {
	e := bits.Len64(uint64(v)) - 1 - stepBits
	if e <= 0 {
		return int(v)
	}
	return e<<stepBits + int(v>>e)
}

// middle is the value a bucket stands for.
func middle(b int) float64 {
	e := b>>stepBits - 1
	if e <= 0 {
		return float64(b)
	}
	first := int64(b-e<<stepBits) << e
	return float64(first) + float64(int64(1)<<e-1)/2
}
