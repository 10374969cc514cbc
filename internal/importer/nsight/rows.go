package nsight

import (
	"errors"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A place is what the tables say of where a record belongs.
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

// A row is a location with its open stream.
type row struct {
	location trace.LocationID
	stream   trace.Stream
}

// rows are the open streams of one side of a file; one goroutine uses them.
type rows struct {
	w       trace.Writer
	byPlace map[place]*row
	at      map[trace.LocationID]*row
	last    place
	lastRow *row
}

func newRows(w trace.Writer) *rows {
	return &rows{w: w, byPlace: map[place]*row{}, at: map[trace.LocationID]*row{}}
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
		id := locate()
		if found, ok = r.at[id]; !ok {
			found = &row{id, r.w.Stream(id, streamOptions)}
			r.at[id] = found
		}
		r.byPlace[p] = found
	}
	r.last, r.lastRow = p, found
	return found
}

func (r *rows) close() error {
	var errs []error
	for _, x := range r.at {
		errs = append(errs, x.stream.Close())
	}
	return errors.Join(errs...)
}
