package gotrace

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	xtrace "golang.org/x/exp/trace"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A batch is events on their way from the library to the converter. The names of
// tasks that end are taken out before: the library keeps such names in a list that
// grows while it reads.
type batch struct {
	events []xtrace.Event
	kinds  []xtrace.EventKind // of events: to ask one copies it, which costs least while it is near
	ended  []xtrace.Task      // of the events that end a task, in order
}

// Events are handed over in batches, some of which go round: large enough that
// handing over costs nothing, and enough of them that the library can go ahead and
// read the next generation while the last one is converted.
const (
	batchSize   = 1024
	firstBatch  = 128 // the first is small, so that the other side begins at once
	fewBatches  = 4
	mostBatches = 16
)

// batchesFor is how many batches may go round. They are made as they are needed, and
// a small trace should not pay for much more room than its own.
func batchesFor(size int64) int { return int(min(fewBatches+size>>18, mostBatches)) }

// events passes the events of a trace to do, batch by batch, in order of time. The
// library reads on one goroutine while do converts on another, so that an import
// takes little longer than the reading. If the trace breaks in the middle, the
// events before the break stay and the break is reported.
func events(ctx context.Context, f io.Reader, size int64, label string, w trace.Writer, do func(*batch)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	in := &input{ctx: inner, r: f}
	batches := batchesFor(size)
	full, empty := make(chan *batch, batches), make(chan *batch, batches)
	var err error
	go func() {
		defer close(full)
		err = guard(func() error { return produce(inner, in, full, empty) })
	}()
	some := false // event that is more than a mark of the library
	failed := guard(func() error {
		for b := range full {
			for i := 0; i < len(b.events) && !some; i++ {
				some = b.kinds[i] != xtrace.EventSync
			}
			do(b)
			empty <- b
		}
		return nil
	})
	stop()
	for range full { // until the other goroutine is done with err and the file
	}
	if failed != nil {
		err = failed
	}
	return judge(ctx, err, some, in, label, w)
}

// produce reads events into batches until there are no more.
func produce(ctx context.Context, in *input, full chan<- *batch, empty <-chan *batch) error {
	r, err := xtrace.NewReader(in)
	if err != nil {
		return err
	}
	for made, size := 0, firstBatch; err == nil; {
		var b *batch
		select {
		case b = <-empty:
		default:
			if made < cap(full) {
				b = &batch{events: make([]xtrace.Event, size), kinds: make([]xtrace.EventKind, size)}
				made, size = made+1, batchSize
				break
			}
			select {
			case b = <-empty:
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		err = b.fill(r)
		full <- b // has room for all there are
	}
	return err
}

// fill reads the next events, in place of those that the batch held.
func (b *batch) fill(r *xtrace.Reader) (err error) {
	b.events, b.ended = b.events[:cap(b.events)], b.ended[:0]
	for i := range b.events {
		e := &b.events[i]
		if *e, err = r.ReadEvent(); err != nil {
			b.events = b.events[:i]
			return err
		}
		if b.kinds[i] = e.Kind(); b.kinds[i] == xtrace.EventTaskEnd {
			b.ended = append(b.ended, e.Task())
		}
	}
	return nil
}

// judge decides whether the end of a trace is an error.
func judge(ctx context.Context, err error, some bool, in *input, label string, w trace.Writer) error {
	var packed *importer.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == io.EOF && some:
		return nil
	case err == io.EOF:
		return importer.Malformed(label, "", "the trace holds no events")
	case !some && errors.As(in.err, &packed):
		return packed
	case !some:
		return importer.Malformed(label, place(in.read), "%s", firstLine(err))
	}
	w.Report(trace.MissingRest, "the rest of a trace that breaks off ("+cause(err)+")", 1, label+": "+place(in.read))
	return nil
}

func place(read int64) string { return fmt.Sprintf("before byte %d", read) }

// guard turns a panic of the library, which trusts its input here and there, into
// an error.
func guard(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("inconsistent trace: %v", p)
		}
	}()
	return f()
}

// firstLine shortens an error: the library appends its whole state to some.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return strings.TrimRight(line, ": ")
}

// cause is the kind of break of an error, without the numbers in it, so that
// reports of several files add up.
func cause(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "EOF") {
		return "it ends early"
	}
	return "its records contradict each other"
}

// An input counts the bytes read from a file and ends when the context does.
type input struct {
	ctx  context.Context
	r    io.Reader
	read int64
	err  error
}

func (i *input) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	n, err := i.r.Read(p)
	i.read += int64(n)
	if err != nil && err != io.EOF {
		i.err = err
	}
	return n, err
}
