package budget

import (
	"math/bits"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// fewWeights is up to how many it is faster to look for the largest remainder again and again than to sort them.
const fewWeights = 16

// share splits an amount by weights into out: floors, and the units left over to the
// largest remainders, earlier ones first among equals. The parts add up to the amount.
func share(amount trace.Time, weights, out []trace.Time, order []int, rest []uint64) {
	total := uint64(0)
	for _, w := range weights {
		total += uint64(w)
	}
	clear(out)
	if total == 0 || amount <= 0 {
		return
	}
	if len(weights) == 1 {
		out[0] = amount
		return
	}
	left := amount
	for i, w := range weights {
		high, low := bits.Mul64(uint64(amount), uint64(w)) // w ≤ total, so the quotient fits
		q, r := bits.Div64(high, low, total)
		out[i], rest[i], order[i] = trace.Time(q), r, i
		left -= trace.Time(q)
	}
	if left == 0 {
		return
	}
	if len(weights) <= fewWeights { // remainders add up to left times the total, so more than left of them are not 0
		for range left {
			best := 0
			for i, r := range rest {
				if r > rest[best] {
					best = i
				}
			}
			out[best]++
			rest[best] = 0
		}
		return
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case rest[a] > rest[b]:
			return -1
		case rest[a] < rest[b]:
			return 1
		}
		return a - b
	})
	for _, i := range order[:left] {
		out[i]++
	}
}
