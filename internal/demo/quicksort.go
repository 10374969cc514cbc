package demo

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/importer/vista"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// quicksortDemo is the running example of the paper on VISTA: the query
// qsort([2,1,4,5,3], X) on 4 processing elements, 23 records. The paper's figures
// fix the tree; times, clause numbers and some places are free and were chosen.
var quicksortDemo = &Demo{
	Name:    "quicksort",
	Options: Options{Locations: 4, Intervals: 23},
	Title:   "Quick Sort of five numbers on 4 PEs, the example of the kaleidoscope's paper",
	Truth: []string{
		"23 calls on 7 levels; the root has weight 85, its only call 78 = 72 + 6.",
		"The second call of qsort has the sector from 75 to 160 degrees, the third from 160 to 360.",
	},
	Write: func(ctx context.Context, _ Options, w trace.Writer) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := vista.NewConverter(w)
		c.Read(quicksortClauses)
		c.Begin(4)
		for _, r := range quicksortRecords {
			if err := c.Add(vista.Record{Time: r[0], Clause: r[1], PE: r[2], Index: r[3], PPE: r[4],
				PIndex: r[5]}); err != nil {
				return err
			}
		}
		return c.Close()
	},
}

var quicksortClauses = vista.Program{
	1: {Name: "query", Goals: []string{"qsort/3"}},
	2: {Name: "qsort/3 empty", Goals: []string{}},
	3: {Name: "qsort/3", Goals: []string{"split/4", "qsort/3", "qsort/3"}},
	4: {Name: "split/4 empty", Goals: []string{}},
	5: {Name: "split/4 smaller", Goals: []string{"split/4"}},
	6: {Name: "split/4 larger", Goals: []string{"split/4"}},
}

// quicksortRecords are time, clause, pe, index, ppe, pindex.
var quicksortRecords = [][6]int64{
	{0, 1, 0, 1, 0, 0},
	{10, 3, 0, 2, 0, 1},
	{20, 5, 0, 3, 0, 2},
	{30, 6, 0, 4, 0, 3},
	{40, 3, 3, 1, 0, 2},
	{50, 3, 2, 1, 0, 2},
	{60, 4, 3, 2, 3, 1},
	{70, 6, 2, 2, 2, 1},
	{80, 6, 0, 5, 0, 4},
	{90, 2, 3, 3, 3, 1},
	{100, 3, 1, 1, 2, 1},
	{110, 6, 0, 6, 0, 5},
	{120, 5, 2, 3, 2, 2},
	{130, 2, 3, 4, 3, 1},
	{140, 4, 0, 7, 0, 6},
	{150, 4, 1, 2, 1, 1},
	{160, 4, 2, 4, 2, 3},
	{170, 2, 1, 3, 1, 1},
	{180, 3, 2, 5, 2, 1},
	{190, 2, 1, 4, 1, 1},
	{200, 4, 2, 6, 2, 5},
	{210, 2, 2, 7, 2, 5},
	{220, 2, 2, 8, 2, 5},
}
