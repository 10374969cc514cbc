package span

import (
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A queue takes spans from their reader to their writer. Reading text and putting spans into a store cost about the
// same, and neither needs the other: so they run side by side, a batch at a time. Reports keep their place among
// the spans, so that a report is the same however goroutines run.
type queue struct {
	filling *batch
	full    chan *batch // nil while all is in the first batch
	free    chan *batch
	ended   chan struct{}
	caught  parallel.Caught
}

// A few batches of some hundred spans: enough to smooth uneven speeds, little memory.
const (
	batchSpans = 256
	batches    = 4
)

// A batch is spans with copies of their lists: readers use their own lists again.
type batch struct {
	spans      []Span
	reports    []reported
	attributes []trace.Attribute
	events     []Event
	references []Reference
}

// reported is something to count, before the span of that number.
type reported struct {
	before        int
	kind          trace.ReportKind
	what, example string
}

// clear drops the spans read, so that no memory is held for them.
func (b *batch) clear() {
	clear(b.spans)
	clear(b.reports)
	clear(b.attributes)
	clear(b.events)
	clear(b.references)
	*b = batch{b.spans[:0], b.reports[:0], b.attributes[:0], b.events[:0], b.references[:0]}
}

// add copies a span. Lists that grow leave those that were cut from them where they are.
func (b *batch) add(s *Span) {
	b.spans = append(b.spans, *s)
	to := &b.spans[len(b.spans)-1]
	to.Tags = b.copyOf(s.Tags)
	from := len(b.events)
	b.events = append(b.events, s.Events...)
	to.Events = b.events[from:len(b.events):len(b.events)]
	for i := range to.Events {
		to.Events[i].Tags = b.copyOf(to.Events[i].Tags)
	}
	from = len(b.references)
	b.references = append(b.references, s.References...)
	to.References = b.references[from:len(b.references):len(b.references)]
}

func (b *batch) copyOf(list []trace.Attribute) []trace.Attribute {
	from := len(b.attributes)
	b.attributes = append(b.attributes, list...)
	return b.attributes[from:len(b.attributes):len(b.attributes)]
}

// batch is the one to fill, which has room.
func (q *queue) batch() *batch {
	if q.filling == nil {
		q.filling = &batch{}
	}
	return q.filling
}

// send passes the batch on to the goroutine that writes, which it begins.
func (q *queue) send(write func(*batch)) {
	if q.full == nil {
		q.full, q.free, q.ended = make(chan *batch, batches), make(chan *batch, batches), make(chan struct{})
		for range batches - 1 {
			q.free <- &batch{}
		}
		go q.run(write, q.full, q.free, q.ended)
	}
	q.full <- q.filling
	q.filling = <-q.free
}

// run writes batches. After a panic it takes the rest and does nothing with it, so that the reader comes to its end.
func (q *queue) run(write func(*batch), full <-chan *batch, free chan<- *batch, ended chan<- struct{}) {
	defer close(ended)
	failed := false
	for b := range full {
		if !failed {
			failed = q.caught.Do(func() error { write(b); return nil }) != nil
		}
		b.clear()
		free <- b
	}
}

// drain ends when all is written. A panic of the goroutine becomes one of the caller.
func (q *queue) drain(write func(*batch)) {
	last := q.filling
	q.filling = nil
	q.end()
	q.caught.Pass()
	if last != nil {
		write(last)
	}
}

// end waits for the goroutine, if there is one.
func (q *queue) end() {
	if q.full != nil {
		close(q.full)
		<-q.ended
		q.full = nil
	}
}
