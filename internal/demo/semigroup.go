package demo

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// semigroupDemo rebuilds the paper's Semigroup: 15,419 calls on 174 levels, with
// few calls near the root that hand out tuples and long spokes that compare each
// with all that are known. The program is lost. Here the i-th of 170 tuples is
// compared with i others, one call each, and tuples are handed out four ways at
// each step; that gives the height exactly and 826 calls too few, so the products
// that a tuple makes (five at most) are added to the heads of spokes until the
// printed number is met.
var semigroupDemo = &Demo{
	Name:    "semigroup",
	Title:   "Semigroup on 5 PEs, a reconstruction of the kaleidoscope's paper",
	Options: Options{Locations: 5, Intervals: semigroupCalls},
	Truth: []string{
		"15,419 calls on 174 levels; spokes, with few calls near the root.",
		"In a window of 850 x 850 with rings 4 apart 106 levels fit: the first 38 are kept, of the others every " +
			"second.",
		"Painted by PE five colours are spread evenly.",
	},
	Write: func(ctx context.Context, o Options, w trace.Writer) error {
		return semigroup().run(ctx, max(o.Locations, 1), w)
	},
}

const (
	semigroupCalls  = 15419
	semigroupTuples = 170
	semigroupWays   = 4
)

// Clauses of the semigroup.
const (
	semigroupHand = iota + 1
	semigroupCompare
	semigroupProduct
)

func semigroup() *program {
	p := &program{names: map[int64]string{semigroupHand: "distribute/4", semigroupCompare: "compare/3",
		semigroupProduct: "product/3"}}
	heads := make([]int32, 0, semigroupTuples)
	tuple := 0
	// hand gives n tuples out below a call; depth is how many levels of handing out
	// are left, the same for all, so that the longest spoke ends on the last level.
	var hand func(caller int32, n, depth int)
	hand = func(caller int32, n, depth int) {
		at := p.call(caller, semigroupHand)
		if depth == 1 {
			for range n {
				tuple++
				spoke := p.call(at, semigroupCompare)
				heads = append(heads, spoke)
				for range tuple - 1 {
					spoke = p.call(spoke, semigroupCompare)
				}
			}
			return
		}
		room := 1 // tuples that one part below can take
		for range depth - 1 {
			room *= semigroupWays
		}
		for n > 0 {
			part := min(n, room)
			hand(at, part, depth-1)
			n -= part
		}
	}
	hand(-1, semigroupTuples, 4)
	for k := 0; len(p.clause) < semigroupCalls; k = (k + 1) % len(heads) {
		p.call(heads[k], semigroupProduct)
	}
	return p
}
