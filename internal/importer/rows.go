package importer

import (
	"errors"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Process is a process of which only the name is known.
func Process(name string) trace.Location { return Below(trace.NoLocation, trace.KindProcess, name) }

// Below is a location of that name below another.
func Below(parent trace.LocationID, kind trace.Kind, name string) trace.Location {
	return trace.Location{Parent: parent, Kind: kind, Name: name, Rank: trace.NoRank}
}

// A Row is a location with its stream.
type Row struct {
	At     trace.LocationID
	Stream trace.Stream
}

// Rows are the open rows of a reader: one row for a location, by whatever names a format leads to it.
type Rows struct {
	w     trace.Writer
	at    map[trace.LocationID]*Row
	order []*Row
}

// NewRows writes to w.
func NewRows(w trace.Writer) Rows { return Rows{w: w, at: map[trace.LocationID]*Row{}} }

// Open finds the row of a location, which it defines.
func (r *Rows) Open(l trace.Location, o trace.StreamOptions) *Row { return r.At(r.w.Location(l), o) }

// At finds the row of a location; its stream is opened the first time.
func (r *Rows) At(id trace.LocationID, o trace.StreamOptions) *Row {
	row, ok := r.at[id]
	if !ok {
		row = &Row{id, r.w.Stream(id, o)}
		r.at[id] = row
		r.order = append(r.order, row)
	}
	return row
}

// Close ends all streams, in the order in which they were opened.
func (r *Rows) Close() error {
	var errs []error
	for _, row := range r.order {
		errs = append(errs, row.Stream.Close())
	}
	clear(r.at)
	r.order = nil
	return errors.Join(errs...)
}
