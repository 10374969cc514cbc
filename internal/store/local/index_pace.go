package local

import "time"

// Passes over all rows map them and give their pages back as they go, so that the rows
// do not look like memory in use: jobs of few rows as a whole, the others by and by.

// pace counts rows that a pass has read. Every paceRows rows the system is told
// that their pages are done with, so that a pass over all rows does not look like
// memory in use.
func (r *Reader) pace(rows int) {
	if n := r.paced.Add(int64(rows)); n > paceRows && r.paced.CompareAndSwap(n, 0) {
		r.releaseRows()
	}
}

const (
	paceRows = 1 << 20
	// wholeRows is how many rows are mapped as one, and given back as one.
	wholeRows = 1 << 19
)

func (r *Reader) releaseRows() {
	for _, m := range r.rowMaps {
		m.release(0, int64(len(m.bytes)))
	}
}

// eachRowMap hands out the bytes of rows [a, b) in each column.
func (r *Reader) eachRowMap(a, b uint64, f func(m *mapping, from, to int64)) {
	if a == b {
		return
	}
	for _, m := range r.rowMaps {
		width := int64(len(m.bytes) / len(r.c.begin))
		f(m, int64(a)*width, int64(b)*width)
	}
}

// paceByTime does the same for passes that do not say how far they are, until stop
// is called. What is still in use comes back from the system's cache.
func (r *Reader) paceByTime() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(paceTime)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				r.releaseRows()
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
