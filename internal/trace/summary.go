package trace

// Columns are intervals of one lane of one location as parallel slices, in
// preorder: by begin, parents before children. They view the store's memory and
// are valid only during the call that yields them.
type Columns struct {
	Location LocationID
	Lane     int
	// First is the row number of index 0 within the lane, so that Parent[i]-First
	// is the index of the parent where it is in the slice.
	First     int
	Begin     []Time
	Duration  []Time
	Exclusive []Time
	Region    []RegionID
	Parent    []int32 // row within the lane, -1 at the top
	Depth     []uint16
	// Open are the rows open at the first Begin that are not in the slice:
	// the chain of parents, outermost first. Nil where First is 0.
	Open []OpenInterval
	// Follow is how many rows of the lane the same question yields after these, or 0 if that is not known:
	// who keeps all of them can make room at once.
	Follow int
	// Callers appends the regions of those around a row at the top of the lane (of the
	// slice or of Open) whose caller is in another lane, or at another location, outermost first; nothing where
	// it has none. Nil where the lane has no such rows. See StreamOptions.ByParent.
	Callers func(into []RegionID, row int) []RegionID
}

// Len returns the number of rows.
func (c *Columns) Len() int { return len(c.Begin) }

// End of row i.
func (c *Columns) End(i int) Time { return c.Begin[i] + c.Duration[i] }

// An OpenInterval is an interval that began before a stretch of rows.
type OpenInterval struct {
	Row    int
	Begin  Time
	End    Time
	Region RegionID
}

// A Segment is a time range in which one interval of a lane is innermost.
// The segments of a lane partition its time; NoRegion means nothing is open.
type Segment struct {
	Begin, End Time
	Region     RegionID
	Row        int // -1 with NoRegion
	// Role is the role that counts: annotations are transparent, so under one it
	// is that of the nearest interval around it that is not an annotation;
	// RoleAnnotation if there is none, RoleNone where nothing is open.
	Role Role
}

// A Block is the encoded summary of a stretch of one lane.
type Block []byte

// A Stretch is the input of a Summary: the time range [Begin, End) of one lane, with the rows that begin in it and the
// innermost segments that tile it exactly. Stretches that follow each other partition both rows and time, so that
// summaries of calls (rows) and of time (segments) both merge without loss.
type Stretch struct {
	Begin, End Time
	Rows       Columns
	Segments   []Segment
}

// A Summary is a mergeable digest of a stretch of a lane. Kernels implement it; a
// store keeps it in a summary tree over the time of each lane, see store.Reader. Merge
// is associative, and a and b are neighbours in time, a first.
type Summary interface {
	Name() string
	// Version changes whenever the bytes of a block mean something else: a
	// stored section of another version is rebuilt from the intervals.
	Version() int
	// Build appends the block of s to dst. regions is indexed by RegionID.
	Build(dst Block, s *Stretch, regions []Region) Block
	// Merge appends the block of a and b together to dst.
	Merge(dst Block, a, b Block) Block
}

// A Condenser is a Summary that merges more than is kept: Build and Merge make long blocks, which exist only while a
// summary tree is built, and the store keeps and yields the condensed form of each. So a block of few bytes can hold
// results that need many, such as which of a thousand regions has the most time.
type Condenser interface {
	Summary
	// Condense appends to dst the stored form of a long block.
	Condense(dst, long Block) Block
}

// A Selection is the part of a run that views show: a time range, a set of locations, a set of regions. It is the same
// for the page, the command line and the HTTP API.
type Selection struct {
	Begin, End Time
	// Locations in order, inner nodes standing for all below; nil for all.
	Locations []LocationID
	// Regions in order; nil for all.
	Regions []RegionID
}
