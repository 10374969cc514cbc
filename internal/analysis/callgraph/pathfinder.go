package callgraph

import "github.com/parallax-hpc/parallax/internal/trace"

// A pathFinder numbers the call path of each row of a lane, some rows at a time.
type pathFinder struct {
	table  pathTable
	stack  []int32    // the paths that are open, by depth
	of     []int32    // path of each row that was found last
	after  [][2]int32 // by path + 1: those of the rows which came after one of it, the last first, or -1
	before int32      // the place in after of the row before
	chain  []trace.RegionID
}

// start begins a lane with the calls open before its first row.
func (f *pathFinder) start(open []trace.OpenInterval, callers callersFunc) {
	f.table.reset()
	f.after = f.after[:0]
	f.begin(open, callers)
}

// begin does where paths are known from before.
func (f *pathFinder) begin(open []trace.OpenInterval, callers callersFunc) {
	f.stack, f.before = f.stack[:0], 0
	at := int32(-1)
	if len(open) > 0 {
		at = f.callersOf(callers, open[0].Row)
	}
	for _, x := range open {
		at = f.table.child(at, x.Region)
		f.stack = append(f.stack, at)
	}
}

// A callersFunc is that of trace.Columns.
type callersFunc = func([]trace.RegionID, int) []trace.RegionID

// callersOf returns the path that calls a row at the top of its lane, -1 for none.
func (f *pathFinder) callersOf(callers callersFunc, row int) int32 {
	at := int32(-1)
	if callers == nil {
		return at
	}
	f.chain = callers(f.chain[:0], row)
	for _, r := range f.chain {
		at = f.table.child(at, r)
	}
	return at
}

// find takes the rows that follow, from row first of the lane on. Depth is known for every row, so a stack of paths by
// depth needs no search for parents. Programs loop: the path that followed a call of this path before mostly follows
// again, in the next iteration or on the way out, and is tried first.
func (f *pathFinder) find(depth []uint16, regions []trace.RegionID, first int, callers callersFunc) {
	f.of = f.of[:0]
	stack, before := f.stack, f.before
	for i, region := range regions {
		d := min(int(depth[i]), len(stack))
		parent := int32(-1)
		if d > 0 {
			parent = stack[d-1]
		} else if callers != nil {
			parent = f.callersOf(callers, first+i)
		}
		for int(before) >= len(f.after) {
			f.after = append(f.after, [2]int32{-1, -1})
		}
		after := &f.after[before]
		id := after[0]
		if !f.table.is(id, parent, region) {
			if id = after[1]; !f.table.is(id, parent, region) {
				id = f.table.child(parent, region)
			}
			after[0], after[1] = id, after[0]
		}
		before = id + 1
		stack = append(stack[:d], id)
		f.of = append(f.of, id)
	}
	f.stack, f.before = stack, before
}
