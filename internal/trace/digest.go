package trace

// A Digest condenses the calls of each lane into one record that a store keeps
// next to the intervals, written at import and rebuilt when its version changes. A
// Summary is cut by time on a grid; a Digest cuts its lanes as it likes.
type Digest interface {
	Name() string
	// Version changes whenever the bytes of a record mean something else.
	Version() int
	// Builder returns a builder for the use of one goroutine; regions is how many
	// there are.
	Builder(regions int) DigestBuilder
}

// A DigestBuilder makes records, one lane after the other.
type DigestBuilder interface {
	// Build appends the record of a lane to dst; c holds all its rows. If it appends nothing, none is stored, and
	// queries read the rows.
	Build(dst []byte, c *Columns) []byte
}

// A SparseBuilder is a DigestBuilder that makes no record of lanes with fewer rows than Least: it need not be asked.
type SparseBuilder interface{ Least() int }

// A DigestedLane is the calls of one lane that begin in a window: rows [Lo, Hi).
type DigestedLane struct {
	Location LocationID
	Lane     int
	Lanes    int // of the location; 0 if that is not known
	Lo, Hi   int
	// Record is of all rows of the lane; nil where none is kept.
	Record []byte
	// Open are the intervals that began before the window and reach into it, Left
	// those that end after it; both outermost first, each with all that is around
	// it. Those of Left with Row < Lo began before.
	Open, Left []OpenInterval
	// OpenTime returns for each of Open how long it is innermost in the window.
	OpenTime func() ([]Time, error)
	// Callers is as that of Columns.
	Callers func(into []RegionID, row int) []RegionID
	// Read yields rows [lo, hi) in batches, as a store does; when they begin may be left out.
	Read func(lo, hi int, f func(*Columns) error) error
}
