package callgraph

import (
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A remainder finds the totals of a block without some of its rows. Totals are whole numbers: if a window has most of
// a block, reading the missing rows and subtracting them is shorter, and gives the same result. Distributions cannot
// be taken apart.
type remainder struct {
	finder pathFinder
	sums   []pathSum // by path of the record
}

// A partOfBlock is rows [lo, hi) of a block, which has rows [from, to).
type partOfBlock struct {
	block    []byte
	whole    bool // it is that of the lane
	from, to int
	lo, hi   int
}

// A readFunc is that of trace.DigestedLane.
type readFunc = func(lo, hi int, f func(*trace.Columns) error) error

// add yields the totals of each path that has calls in the part. O(paths + rows of the block that are not in it).
func (w *remainder) add(x *record, p partOfBlock, read readFunc,
	give func(path int, calls, inclusive, exclusive int64) error) error {
	n := len(x.parent)
	if cap(w.sums) < n {
		w.sums = make([]pathSum, n+n/2)
	}
	w.sums = w.sums[:n]
	clear(w.sums)
	err := x.entries(p.block, p.whole, func(path int, inclusive, exclusive sketchBytes) error {
		in, ex, err := headersOf(inclusive, exclusive)
		if err != nil {
			return err
		}
		s := &w.sums[path]
		s.calls, s.inclusive, s.exclusive = s.calls+in.Count, s.inclusive+in.Total, s.exclusive+ex.Total
		return nil
	})
	if err != nil {
		return err
	}
	if !w.finder.know(x) {
		return errRecord
	}
	for _, rows := range [][2]int{{p.from, p.lo}, {p.hi, p.to}} {
		if rows[0] < rows[1] {
			if err := read(rows[0], rows[1], w.takeOff); err != nil {
				return err
			}
		}
	}
	for path := range w.sums {
		switch s := &w.sums[path]; {
		case s.calls < 0:
			return errRecord
		case s.calls > 0:
			if err := give(path, s.calls, s.inclusive, s.exclusive); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeOff takes a batch of rows off. All their paths are in the record.
func (w *remainder) takeOff(c *trace.Columns) error {
	f := &w.finder
	f.begin(c.Open, c.Callers)
	f.find(c.Depth, c.Region, c.First, c.Callers)
	if len(f.table.Parent) > len(w.sums) {
		return errRecord
	}
	for i, p := range f.of {
		s := &w.sums[p]
		s.calls--
		s.inclusive -= max(int64(c.Duration[i]), 0)
		s.exclusive -= max(int64(c.Exclusive[i]), 0)
	}
	return nil
}

// know numbers paths as a record does; false: the record has one twice.
func (f *pathFinder) know(x *record) bool {
	f.table.reset()
	f.after = f.after[:0]
	for i, p := range x.parent {
		if f.table.child(p, x.region[i]) != int32(i) {
			return false
		}
	}
	return true
}
