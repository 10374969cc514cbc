package quantile

import (
	"math/bits"
	"slices"
)

// A ranker finds quantiles of at most ExactSize values without sorting them all: they
// are spread over buckets of equal width, and only buckets in which a rank is asked for
// are sorted. O(values) unless most of them fall into one bucket.
type ranker struct {
	values [ExactSize]int64 // bucket after bucket
	bucket [ExactSize]uint8 // of each
	ends   [rankBuckets]uint16
	sorted [rankBuckets]bool
}

const (
	rankBuckets = 256
	fewValues   = 24 // are sorted as fast as they are spread
)

// spread puts values, all of them from least to most, into their buckets.
func (r *ranker) spread(values []int64, least, most int64) {
	shift := max(bits.Len64(uint64(most-least))-8, 0)
	for _, v := range values {
		r.ends[uint8((v-least)>>shift)]++
	}
	at := uint16(0)
	for b, n := range r.ends {
		r.ends[b] = at // where its next value goes, and in the end where it ends
		at += n
	}
	for _, v := range values {
		b := uint8((v - least) >> shift)
		i := r.ends[b]
		r.ends[b]++
		r.values[i], r.bucket[i] = v, b
	}
}

// settle makes sure that the value of a rank is at its place.
func (r *ranker) settle(rank int) {
	b := r.bucket[rank]
	if r.sorted[b] {
		return
	}
	r.sorted[b] = true
	first := uint16(0)
	if b > 0 {
		first = r.ends[b-1]
	}
	slices.Sort(r.values[first:r.ends[b]])
}

// boxOf returns the quantiles of a box plot, the very numbers that sorting gives.
func boxOf(values []int64, least, most int64) (box [5]float64) {
	n := len(values)
	var r ranker
	if n < fewValues {
		copy(r.values[:], values)
		slices.Sort(r.values[:n])
	} else {
		r.spread(values, least, most)
	}
	for k, q := range Box {
		if n >= fewValues {
			i := int(float64(n-1) * q)
			r.settle(i)
			r.settle(min(i+1, n-1))
		}
		box[k] = OfSorted(r.values[:n], q)
	}
	return box
}
