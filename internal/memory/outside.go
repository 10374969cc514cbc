package memory

import (
	"math"
	"sync/atomic"
)

// Outside is memory that is not the runtime's, since its owner takes it of the system: columns of stores that are
// unpacked. It counts against the budget like everything else.
type Outside struct{ n atomic.Int64 }

var (
	outside     atomic.Int64
	mostOutside atomic.Int64
	mostAtAll   atomic.Int64 // the budget that Limit has told of
)

func init() {
	mostOutside.Store(math.MaxInt64)
	mostAtAll.Store(math.MaxInt64)
}

// Add counts bytes that were taken, or returned if negative.
func (o *Outside) Add(bytes int64) {
	o.n.Add(bytes)
	outside.Add(bytes)
}

// Clear takes note that all was given back.
func (o *Outside) Clear() { outside.Add(-o.n.Swap(0)) }

// Load is how many bytes these are.
func (o *Outside) Load() int64 { return o.n.Load() }

// TooMuchOutside reports whether the program holds more outside the runtime's memory than most, or than times the
// budget's part for unused memory there.
func TooMuchOutside(most, times int64) bool {
	limit := mostOutside.Load()
	return outside.Load() > most || outside.Load()/times > limit
}
