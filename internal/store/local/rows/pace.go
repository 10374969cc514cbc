package rows

import (
	"time"

	"github.com/parallax-hpc/parallax/internal/spool"
)

// Passes over all rows map them and give their pages back as they go, so that the rows
// do not look like memory in use: jobs of few rows as a whole, the others by and by.

// Pace counts rows that a pass has read. Every paceRows rows the system is told
// that their pages are done with, so that a pass over all rows does not look like
// memory in use.
func (r *Table) Pace(rows int) {
	if n := r.paced.Add(int64(rows)); n > paceRows && r.paced.CompareAndSwap(n, 0) {
		r.ReleaseRows()
	}
}

const (
	paceRows = 1 << 20
	// wholeRows is the number of rows that are mapped as one, and given back as one.
	WholeRows = 1 << 19
)

func (r *Table) ReleaseRows() {
	for _, m := range r.RowMaps {
		m.Release(0, int64(len(m.Bytes)))
	}
	for _, m := range r.Packed {
		m.Release(0, int64(len(m.Bytes)))
	}
	r.releaseSpread()
}

// EachRowMap yields the bytes of rows [a, b) in each column.
func (r *Table) EachRowMap(a, b uint64, f func(m *spool.Mapping, from, to int64)) {
	if a == b {
		return
	}
	for _, m := range r.RowMaps {
		width := int64(len(m.Bytes) / len(r.C.Begin))
		f(m, int64(a)*width, int64(b)*width)
	}
}

// PaceByTime does the same for passes that do not say how far they are, until stop is called. Pages still in use come
// back from the system's cache.
func (r *Table) PaceByTime() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(paceTime)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.ReleaseRows()
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

const paceTime = 25 * time.Millisecond
