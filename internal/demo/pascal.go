package demo

import (
	"context"
	"math/big"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// pascalDemo rebuilds the paper's Pascal's Triangle to row 35 with big numbers.
// The program is lost; this one has the structure that the paper describes and
// hits both printed numbers, 2,235 calls and height 56: rows call each other in a
// chain, a row computes its first half in a chain of elements, an element adds two
// numbers digit by digit, and when the last row is there its half is expanded to
// a full row by two chains, one that reverses it and one that appends that.
//
// An element needs those above it: on several workers calls are suspended until
// these are there, and the triangle is worked on breadth first, as the paper
// infers from its figures 17 and 18.
var pascalDemo = &Demo{
	Name:    "pascal",
	Title:   "Pascal's Triangle to row 35 on 5 PEs, a reconstruction of the kaleidoscope's paper",
	Options: Options{Locations: 5, Intervals: 2235},
	Truth: []string{
		"2,235 calls on 56 levels; the shape of a snail, as a row's part grows by one every two rows; two lines at " +
			"the east expand the last half row.",
		"Painted by time on 5 PEs colours lie in rings: the level of a call explains 88 % of when it begins, its row " +
			"75 %. On 1 PE (demo:pascal?locations=1) they lie in arms: the row explains 99 %, the work is depth first.",
	},
	Write: func(ctx context.Context, o Options, w trace.Writer) error {
		return pascal(35).run(ctx, max(o.Locations, 1), w)
	},
}

// Clauses of the triangle.
const (
	pascalQuery = iota + 1
	pascalRow
	pascalElement
	pascalAdd
	pascalDigit
	pascalReverse
	pascalAppend
)

func pascal(rows int) *program {
	p := &program{queue: true, names: map[int64]string{
		pascalQuery: "query", pascalRow: "row/2", pascalElement: "element/3", pascalAdd: "add/3",
		pascalDigit:   "digit/2",
		pascalReverse: "reverse/3", pascalAppend: "append/3",
	}}
	query := p.call(-1, pascalQuery)
	row := query
	var elements, sums []int32 // of the row above
	for k := 1; k <= rows; k++ {
		row = p.call(row, pascalRow)
		at := row
		var own, added []int32
		for i := range (k + 1) / 2 { // the other half is its mirror image
			var cell, terms []int32
			if k > 1 { // the middle of an even row has one above and its mirror image
				above := min(i, len(sums)-1)
				cell, terms = elements[above:above+1], sums[max(0, min(i-1, above)):above+1]
			}
			at = p.call(at, pascalElement, cell...)
			add := p.call(at, pascalAdd, terms...)
			own, added = append(own, at), append(added, add)
			value := new(big.Int).Binomial(int64(k-1), int64(i))
			for range value.String() {
				p.call(add, pascalDigit)
			}
		}
		elements, sums = own, added
	}
	p.expand(query, sums)
	return p
}

// expand makes the full row from its half: one chain turns it round and one appends.
func (p *program) expand(query int32, half []int32) {
	for _, clause := range []int64{pascalReverse, pascalAppend} {
		at := query
		for _, sum := range half {
			at = p.call(at, clause, sum)
		}
	}
}
