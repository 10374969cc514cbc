package rows

import (
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Frames are the rows of a table for one goroutine that looks at some here and some there, by their numbers among all.
// If they are packed it holds only the frames that were looked at last.
type Frames struct {
	r    *Table
	held []disk.RowFrame // by number, the lowest bits of it
}

// heldFrames are few enough to stay near the core, and more than a chain of parents mostly goes through.
const heldFrames = 64

// Frames returns frames for one goroutine.
func (r *Table) Frames() *Frames {
	f := &Frames{r: r}
	if r.Sure != nil {
		f.held = make([]disk.RowFrame, heldFrames)
	}
	return f
}

// of returns the frame of a row, with its number and the place of the row in it.
func (f *Frames) of(row uint64) (x *disk.RowFrame, g, index uint64) {
	g = row / disk.Frame
	return &f.held[g%heldFrames], g, row % disk.Frame
}

// at returns the begins of the rows of a frame; the row is the one with that index.
func (f *Frames) at(row uint64) (begin []trace.Time, index uint64) {
	x, g, index := f.of(row)
	return f.r.Sure.Begins(x, g), index
}

// Begin returns the begin of a row.
func (f *Frames) Begin(row uint64) trace.Time {
	if f.held == nil {
		return f.r.C.Begin[row]
	}
	x, g, i := f.of(row)
	return f.r.Sure.Begins(x, g)[i]
}

// Region returns the region of a row.
func (f *Frames) Region(row uint64) trace.RegionID {
	if f.held == nil {
		return f.r.C.Region[row]
	}
	x, g, i := f.of(row)
	return f.r.Sure.Regions(x, g)[i]
}

// End returns the end of a row.
func (f *Frames) End(row uint64) trace.Time {
	if f.held == nil {
		return f.r.C.Begin[row] + f.r.C.Duration[row]
	}
	x, g, i := f.of(row)
	return f.Begin(row) + f.r.Sure.Durations(x, g)[i]
}

// Depth returns the depth of a row.
func (f *Frames) Depth(row uint64) uint16 {
	if f.held == nil {
		return f.r.C.Depth[row]
	}
	x, g, i := f.of(row)
	return f.r.Sure.Depths(x, g)[i]
}

// Depths calls do for the depths of rows [lo, hi), a stretch at a time.
func (f *Frames) Depths(lo, hi uint64, do func(depths []uint16)) {
	stretches(f, lo, hi, f.r.C.Depth, f.r.Sure.Depths, do)
}

// Regions does for the regions of rows.
func (f *Frames) Regions(lo, hi uint64, do func(regions []trace.RegionID)) {
	stretches(f, lo, hi, f.r.C.Region, f.r.Sure.Regions, do)
}

// Begins does for when rows begin.
func (f *Frames) Begins(lo, hi uint64, do func(begins []trace.Time)) {
	stretches(f, lo, hi, f.r.C.Begin, f.r.Sure.Begins, do)
}

// Durations does for how long rows last.
func (f *Frames) Durations(lo, hi uint64, do func(durations []trace.Time)) {
	stretches(f, lo, hi, f.r.C.Duration, f.r.Sure.Durations, do)
}

// stretches calls do for rows [lo, hi) of a column, frame by frame where it is packed.
func stretches[T any](f *Frames, lo, hi uint64, plain []T, frame func(*disk.RowFrame, uint64) []T, do func([]T)) {
	if f.held == nil {
		do(plain[lo:hi])
		return
	}
	for lo < hi {
		x, g, i := f.of(lo)
		values := frame(x, g)
		values = values[i:min(uint64(len(values)), i+hi-lo)]
		do(values)
		lo += uint64(len(values))
	}
}

// Parent returns the parent of a row, by its number in the lane; -1 for none.
func (f *Frames) Parent(row uint64) int {
	if f.held == nil {
		return int(f.r.C.Parent[row])
	}
	x, g, i := f.of(row)
	return int(f.r.Sure.Parents(x, g)[i])
}

// FirstAfter returns the first of rows [a, b), all of a lane, that begins later than t, as many rows after a. It is
// looked for from near on.
func (f *Frames) FirstAfter(a, b uint64, t trace.Time, near int) int {
	if f.held == nil {
		return FirstAfterNear(f.r.C.Begin[a:b], t, near)
	}
	lo, hi := a, b
	if at := min(a+uint64(near), b-1); a < b {
		begin, i := f.at(at)
		first := max(at-i, a)
		end := min(at-i+uint64(len(begin)), b)
		switch {
		case begin[first-(at-i)] > t:
			hi = first
		case end == b || begin[end-1-(at-i)] > t:
			return int(first-a) + FirstFrom(begin[first-(at-i):end-(at-i)], t+1)
		default:
			lo = end
		}
	}
	if lo == hi {
		return int(lo - a)
	}
	if lo%disk.Frame == 0 { // mostly it is in the next frame
		begin, _ := f.at(lo)
		if n := min(uint64(len(begin)), hi-lo); lo+n == hi || begin[n-1] > t {
			return int(lo-a) + FirstFrom(begin[:n], t+1)
		}
	}
	lo, hi = f.narrow(lo, hi, t)
	begin, i := f.at(lo)
	return int(lo-a) + FirstFrom(begin[i:i+hi-lo], t+1)
}

// narrow returns rows of one frame, between which the first of [lo, hi) lies that begins later than t, or the last of
// them does.
func (f *Frames) narrow(lo, hi uint64, t trace.Time) (uint64, uint64) {
	first, last := lo/disk.Frame+1, (hi+disk.Frame-1)/disk.Frame // frames [first, last) begin within
	for first < last {
		g := (first + last) / 2
		begin, ok := f.r.Sure.FirstBegin(g)
		if !ok {
			begin = f.Begin(g * disk.Frame)
		}
		if begin <= t {
			lo, first = g*disk.Frame, g+1
		} else {
			hi, last = g*disk.Frame, g
		}
	}
	return lo, hi
}

// OpenFrom finds the innermost interval open at t among a row and its parents, all by their number in a lane whose rows
// begin with first.
func (f *Frames) OpenFrom(first uint64, i int, t trace.Time, region trace.RegionID) int {
	for ; i >= 0; i = f.Parent(first + uint64(i)) {
		if row := first + uint64(i); f.End(row) > t && Matches(f.Region(row), region) {
			return i
		}
	}
	return -1
}
