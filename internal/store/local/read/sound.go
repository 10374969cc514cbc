package read

import (
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/store/local/disk"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Rows are handed to code that looks up their ids, so these must exist: checksums prove that a store is as it was
// written, not that it was written correctly. An invalid id ends the query, as damage does.

// sound ends the query where a column holds numbers from n on.
func sound[T ~uint8 | ~uint32](column string, list []T, n int) {
	if !below(list, n) {
		panic(disk.Damage(column))
	}
}

// soundOr is sound where one number stands for none.
func soundOr[T ~uint32](column string, list []T, n int, none T) {
	if !belowOr(list, n, none) {
		panic(disk.Damage(column))
	}
}

// soundLinks looks at both ends of links.
func (r links) soundLinks(table string, l *store.LinkColumns) {
	sound(table+".from_location", l.FromLocation, r.Len())
	sound(table+".to_location", l.ToLocation, r.Len())
	if len(r.C.CommunicatorName) == 0 { // the first of none, as who writes no communicators may leave it
		for i, c := range l.Communicator {
			if c == 0 {
				l.Communicator[i] = trace.NoCommunicator
			}
		}
	}
	soundOr(table+".communicator", l.Communicator, len(r.C.CommunicatorName), trace.NoCommunicator)
}
