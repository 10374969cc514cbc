package local

import (
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A linkRecord is a link on its way through a spool. Rows are found at the end.
type linkRecord struct {
	fromTime, toTime         trace.Time
	size, tag, count         int64
	fromLocation, toLocation trace.LocationID
	fromRegion, toRegion     trace.RegionID
	fromNumber, toNumber     uint32
	communicator             trace.CommunicatorID
	kind                     trace.LinkKind
}

// set fills every field by itself: a value made first and copied then waits for its own
// stores, and took twice as long.
func (r *linkRecord) set(l *trace.Link) {
	r.fromTime, r.toTime = l.From.Time, l.To.Time
	r.size, r.tag, r.count = l.Size, l.Tag, l.Count
	r.fromLocation, r.toLocation = l.From.Location, l.To.Location
	r.fromRegion, r.toRegion = l.From.Region, l.To.Region
	r.fromNumber, r.toNumber = l.From.Number, l.To.Number
	r.communicator, r.kind = l.Communicator, l.Kind
}

// Link implements trace.Writer.
func (w *Writer) Link(l trace.Link) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.link(&l)
}

// Links implements trace.LinkTaker.
func (w *Writer) Links(list []trace.Link) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	for i := range list {
		w.link(&list[i])
	}
}

func (w *Writer) link(l *trace.Link) {
	to := w.links
	if l.Untimed {
		to = w.untimed
	} else {
		w.looseLinks = w.looseLinks || l.From.Number == 0 || l.To.Number == 0
		w.linkSpan.see(l.From.Time)
		w.linkSpan.see(l.To.Time)
		if l.Kind == trace.LinkSpawn && l.From.Location == l.To.Location && l.From.Number > 0 && l.To.Number > 0 {
			w.relate(l.To.Location, l.To.Number, l.From.Number)
		}
	}
	r, err := to.next()
	if err != nil {
		w.failRow(err)
		return
	}
	r.set(l)
}

// Profile implements trace.Writer.
func (w *Writer) Profile(r trace.ProfileRow) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.failRow(w.profile.Add(r))
}

// Atomic implements trace.Writer.
func (w *Writer) Atomic(r trace.AtomicRow) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.failRow(w.atomics.Add(r))
}

// Moments implements trace.Writer.
func (w *Writer) Moments(r trace.MomentRow) {
	w.rowMu.Lock()
	defer w.rowMu.Unlock()
	w.linkSpan.see(r.Begin)
	w.linkSpan.see(r.End)
	w.failRow(w.moments.Add(r))
}

// failRow keeps the first failure: these methods give no error, Finish does.
func (w *Writer) failRow(err error) {
	if err != nil && w.rowErr == nil {
		w.rowErr = err
	}
}
