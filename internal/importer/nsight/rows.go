package nsight

import (
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A place is the location of a record in the tables' own numbers.
type place struct {
	kind    placeKind
	process int64
	a, b, c int64
}

type placeKind uint8

const (
	onThread   placeKind = iota // globalTid
	onStream                    // device, context, stream
	onDevice                    // device: waits for it, counters
	onOverhead                  // process
	onCPU                       // number
)

// A row is a location with its stream.
type row = importer.Row

// rows are the open streams of one side of a file; one goroutine uses them.
type rows struct {
	importer.Rows
	byPlace map[place]*row
	last    place
	lastRow *row
}

func newRows(w trace.Writer) *rows {
	return &rows{Rows: importer.NewRows(w), byPlace: map[place]*row{}}
}

// Tables are in no order of time, and ranges of different kinds may cross.
var streamOptions = trace.StreamOptions{Unordered: true, ByName: true}

// row finds the row of a place; locate defines its location the first time.
func (r *rows) row(p place, locate func() trace.LocationID) *row {
	if r.lastRow != nil && r.last == p {
		return r.lastRow
	}
	found, ok := r.byPlace[p]
	if !ok {
		found = r.At(locate(), streamOptions)
		r.byPlace[p] = found
	}
	r.last, r.lastRow = p, found
	return found
}
