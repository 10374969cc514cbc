package timeline

import (
	"sort"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A laneScan decides some bins of one lane from its rows. It finds the rows of a bin by
// search and the intervals open at its begin by the chain of parents, so that rows of
// other bins are not touched: O(log rows + depth) per bin and O(1) per row in it.
type laneScan struct {
	strip   *strip
	lane    int
	bins    []int64
	next    int // of bins
	cells   *cells
	walker  share.Walker
	regions []trace.Region
	window  store.Window

	inside bool                 // the walker is in bins[next]
	open   []trace.OpenInterval // chain of the last row seen, outermost first
}

func newLaneScan(in *input, g grid, s *strip, bins []int64) *laneScan {
	return &laneScan{strip: s, lane: max(0, s.lane), bins: bins, cells: newCells(g, &in.rule), regions: in.regions}
}

// start begins a window that follows the one before.
func (l *laneScan) start(w store.Window) {
	l.window, l.open = w, l.open[:0]
}

// rows takes the next batch.
func (l *laneScan) rows(c *trace.Columns) {
	l.cells.opened(c.Open, c.Lane)
	if len(l.open) == 0 {
		l.open = append(l.open, c.Open...)
	}
	for i := 0; l.next < len(l.bins); {
		begin, end := l.bin()
		if begin >= l.window.End {
			break
		}
		if !l.inside {
			first := i + sort.Search(len(c.Begin)-i, func(k int) bool { return c.Begin[i+k] >= begin })
			if first == len(c.Begin) && first > 0 {
				break // more rows may come before it
			}
			if first > 0 {
				l.chain(c, first-1)
			}
			i = first
			l.enter(begin)
		}
		for ; i < len(c.Begin) && c.Begin[i] < end; i++ {
			l.cells.advance(&l.walker, c.Begin[i], l.lane)
			l.cells.row(c.Begin[i], c.Duration[i], c.Region[i], c.First+i, l.lane)
			l.walker.Push(c.End(i), c.Region[i], c.First+i)
		}
		if i == len(c.Begin) {
			break // it may go on in the next batch
		}
		l.leave(end)
	}
	if n := len(c.Begin); n > 0 {
		l.chain(c, n-1)
	}
}

// finish ends the window: the rest of it holds no more rows.
func (l *laneScan) finish() {
	for l.next < len(l.bins) {
		begin, end := l.bin()
		if begin >= l.window.End {
			return
		}
		if !l.inside {
			l.enter(begin)
		}
		l.leave(end)
	}
}

// bin returns the time of the bin that is next, as far as it is in the window.
func (l *laneScan) bin() (begin, end trace.Time) {
	g := &l.cells.grid
	return max(g.binBegin(l.bins[l.next]), g.begin), min(g.binBegin(l.bins[l.next]+1), g.end)
}

// enter opens the intervals that the chain has open at the begin of a bin.
func (l *laneScan) enter(begin trace.Time) {
	l.walker.Start(begin, l.regions)
	l.walker.Open(&trace.Columns{})
	for _, o := range l.open {
		if o.Begin < begin && o.End > begin {
			l.walker.Push(o.End, o.Region, o.Row)
		}
	}
	l.inside = true
}

func (l *laneScan) leave(end trace.Time) {
	l.cells.advance(&l.walker, end, l.lane)
	l.inside = false
	l.next++
}

// chain makes open the chain of row i: its parents, and itself. Parents that are
// not in the batch are parents of its first row too, so that the batch has them.
func (l *laneScan) chain(c *trace.Columns, i int) {
	outside := -1 // the last row before the batch that belongs to the chain
	n := 0
	for at := i; ; n++ {
		parent := int(c.Parent[at])
		if parent < c.First {
			outside = parent
			break
		}
		at = parent - c.First
	}
	l.open = l.open[:0]
	for _, o := range c.Open {
		if o.Row <= outside {
			l.open = append(l.open, o)
		}
	}
	first := len(l.open)
	for range n + 1 {
		l.open = append(l.open, trace.OpenInterval{})
	}
	for at, k := i, first+n; k >= first; k-- {
		l.open[k] = trace.OpenInterval{Row: c.First + at, Begin: c.Begin[at], End: c.End(at), Region: c.Region[at]}
		at = int(c.Parent[at]) - c.First
	}
}
