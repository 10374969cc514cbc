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
// numbers digit by digit, and each row, and the query, writes its result.
var pascalDemo = &Demo{
	Name:    "pascal",
	Title:   "Pascal's Triangle to row 35 on 5 PEs, a reconstruction of the kaleidoscope's paper",
	Options: Options{Locations: 5, Intervals: 2235},
	Truth: []string{
		"2,235 calls on 56 levels; the shape of a snail, as a row's part grows by one every two rows.",
		"Painted by time on 5 PEs colours lie in rings: rows run in parallel. On 1 PE (demo:pascal?locations=1) they lie in sectors: the work is depth first.",
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
	pascalWrite
)

func pascal(rows int) *program {
	p := &program{names: map[int64]string{
		pascalQuery: "query", pascalRow: "row/2", pascalElement: "element/3", pascalAdd: "add/3", pascalDigit: "digit/2", pascalWrite: "write/1",
	}}
	query := p.call(-1, pascalQuery)
	above := query
	for k := 1; k <= rows; k++ {
		row := p.call(above, pascalRow)
		at := row
		for i := range (k + 1) / 2 { // the other half is its mirror image
			at = p.call(at, pascalElement)
			add := p.call(at, pascalAdd)
			value := new(big.Int).Binomial(int64(k-1), int64(i))
			for range value.String() {
				p.call(add, pascalDigit)
			}
		}
		p.call(row, pascalWrite)
		above = row
	}
	p.call(query, pascalWrite)
	return p
}
