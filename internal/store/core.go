package store

import "github.com/parallax-hpc/parallax/internal/trace"

// A Core finds the time range that holds nearly all of a trace. A few intervals far from all others (a clock that was
// set, a record of the boot) stretch the span of time until the rest is a line at its edge; they are kept, and the
// core is the time range to show first.
//
// It keeps a table of so many equal bins, so that adding is O(1).
type Core struct {
	end  trace.Time
	bins [coreBins]CoreBin
}

// A CoreBin is the records that begin in a part of the time.
type CoreBin struct {
	rows       int64
	begin, end trace.Time // of the intervals that begin in it
}

const (
	coreBins = 1024
	// The core holds all but one record in mostOutside, and takes at most a part in longestCore of the time. Records
	// nearer to it than nearCore of its length, or a part in coreGap of the time, belong to it.
	mostOutside = 100
	longestCore = 10
	nearCore    = 1
	coreGap     = 50
)

// NewCore returns the Core of a trace [0, end).
func NewCore(end trace.Time) *Core { return &Core{end: end} }

// Add takes an interval; of an instant or a sample both ends are its time.
func (c *Core) Add(begin, end trace.Time) {
	if c.end <= 0 {
		return
	}
	b := &c.bins[min(int(float64(begin)/float64(c.end)*coreBins), coreBins-1)]
	if b.rows++; b.rows == 1 {
		b.begin, b.end = begin, end
		return
	}
	b.begin, b.end = min(b.begin, begin), max(b.end, end)
}

// Bins returns all there is of a Core but the end of the trace; it can be kept and set again.
func (c *Core) Bins() []CoreBin { return c.bins[:] }

// Join adds what another Core has seen.
func (c *Core) Join(other *Core) {
	for i := range c.bins {
		b, x := &c.bins[i], &other.bins[i]
		switch {
		case x.rows == 0:
		case b.rows == 0:
			*b = *x
		default:
			b.rows, b.begin, b.end = b.rows+x.rows, min(b.begin, x.begin), max(b.end, x.end)
		}
	}
}

// Find returns the time that holds nearly all records, where that is a small part of the
// whole, and how many are outside; else false.
func (c *Core) Find() (begin, end trace.Time, outside int64, ok bool) {
	begin, end, inside, total := c.grow()
	if inside == total || (total-inside)*mostOutside > total || !c.small(begin, end) {
		return 0, 0, 0, false
	}
	return begin, end, total - inside, true
}

// May reports whether a core is possible, from some of the records.
func (c *Core) May() bool {
	begin, end, inside, total := c.grow()
	return (total-inside)*mostOutside <= 2*total && c.small(begin, end)
}

func (c *Core) small(begin, end trace.Time) bool { return end-begin <= c.end/longestCore }

// grow begins with the bin that has the most records and takes in all that is near.
// Each round takes one at least, so it is O(bins²) at worst.
func (c *Core) grow() (begin, end trace.Time, inside, total int64) {
	most := 0
	for i := range c.bins {
		total += c.bins[i].rows
		if c.bins[i].rows > c.bins[most].rows {
			most = i
		}
	}
	begin, end, inside = c.bins[most].begin, c.bins[most].end, c.bins[most].rows
	var in [coreBins]bool
	in[most] = true
	for grown := true; grown; {
		grown = false
		near := max((end-begin)*nearCore, c.end/coreGap)
		for i := range c.bins {
			if b := &c.bins[i]; b.rows > 0 && !in[i] && b.begin-end <= near && begin-b.end <= near {
				in[i], grown = true, true
				begin, end, inside = min(begin, b.begin), max(end, b.end), inside+b.rows
			}
		}
	}
	return begin, end, inside, total
}

// OutsideCore is the report of a store on records that are not in the core.
const OutsideCore = "records far in time from all others, kept, but outside the first view (--from 0 --to 100% shows " +
	"all)"
