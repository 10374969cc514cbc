package otf2

import (
	"github.com/parallax-hpc/parallax/internal/importer/otf2/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A linkWriter hands links to the trace, a batch at a time and on a goroutine of its
// own: halves find each other meanwhile.
type linkWriter struct {
	parts [match.Parts][]trace.Link
	full  chan []trace.Link
	free  chan []trace.Link
	done  chan struct{}
}

const (
	linkBatch   = 512 // links
	linkBatches = match.Parts + 3
)

func startLinks(w trace.Writer) *linkWriter {
	l := &linkWriter{full: make(chan []trace.Link, linkBatches), free: make(chan []trace.Link, linkBatches), done: make(chan struct{})}
	for range linkBatches {
		l.free <- nil
	}
	go func() {
		defer close(l.done)
		for batch := range l.full {
			trace.AddLinks(w, batch)
			l.free <- batch[:0]
		}
	}()
	return l
}

// setEnd fills every field by itself: a value that is made and then copied takes longer.
func setEnd(e *match.End, to *trace.End, places []place) {
	to.Location, to.Time, to.Region, to.Number = places[e.At].id, e.Time, e.Call.Region, e.Call.Number
}

// next gives the link of a part to fill: it may hold what was in it before, where this
// reader sets every field, and zero elsewhere. One goroutine at a time asks for a part.
func (l *linkWriter) next(part int) *trace.Link {
	batch := l.parts[part]
	if len(batch) == cap(batch) {
		if len(batch) > 0 {
			l.full <- batch
		}
		if batch = <-l.free; batch == nil {
			batch = make([]trace.Link, 0, linkBatch)
		}
	}
	batch = batch[:len(batch)+1]
	l.parts[part] = batch
	return &batch[len(batch)-1]
}

// finish gives the rest and waits until the trace has everything.
func (l *linkWriter) finish() {
	for _, batch := range l.parts {
		if len(batch) > 0 {
			l.full <- batch
		}
	}
	close(l.full)
	<-l.done
}
