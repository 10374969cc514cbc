package runfacts

import (
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Kinds numbers the kinds of locations that may be compared: GPUs with their streams 1, and all others, which are
// hosts, 0.
func Kinds(t *store.Tree, ids []trace.LocationID) []int32 {
	out := make([]int32, len(ids))
	for i, id := range ids {
		if k := t.Kind[id]; k == trace.KindDevice || k == trace.KindStream {
			out[i] = 1
		}
	}
	return out
}
