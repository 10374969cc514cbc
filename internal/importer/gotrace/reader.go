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

// An item is an event on its way from the library to the converter. The name of a
// task that ends is taken out before: the library keeps such names in a list that
// grows while it reads.
type item struct {
	xtrace.Event
	task xtrace.Task
}

// Events are handed over in batches, a few of which are on the way at a time.
const (
	batchSize = 256
	batches   = 4
)

// events hands the events of a trace to do, in order of time. The library reads on
// one goroutine while do converts on another, so that an import takes little longer
// than the reading. Where the trace breaks in the middle, what was sound stays and
// the break is reported.
func events(ctx context.Context, f io.Reader, label string, w trace.Writer, do func(*item)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	inner, stop := context.WithCancel(ctx)
	defer stop()
	in := &input{ctx: inner, r: f}
	full, empty := make(chan []item, batches), make(chan []item, batches+2)
	var err error
	go func() {
		defer close(full)
		err = guard(func() error { return produce(inner, in, full, empty) })
	}()
	count := 0
	failed := guard(func() error {
		for list := range full {
			for i := range list {
				if list[i].Kind() != xtrace.EventSync {
					count++
				}
				do(&list[i])
			}
			select {
			case empty <- list[:0]:
			default:
			}
		}
		return nil
	})
	stop()
	for range full { // until the other goroutine is done with err and the file
	}
	if failed != nil {
		err = failed
	}
	return judge(ctx, err, count, in, label, w)
}

// produce reads events into batches until there are no more.
func produce(ctx context.Context, in *input, full chan<- []item, empty <-chan []item) error {
	r, err := xtrace.NewReader(in)
	if err != nil {
		return err
	}
	for err == nil {
		var list []item
		select {
		case list = <-empty:
		default:
			list = make([]item, 0, batchSize)
		}
		for len(list) < batchSize {
			var e xtrace.Event
			if e, err = r.ReadEvent(); err != nil {
				break
			}
			list = append(list, item{Event: e})
			if e.Kind() == xtrace.EventTaskEnd {
				list[len(list)-1].task = e.Task()
			}
		}
		select {
		case full <- list:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return err
}

// judge says what the way in which a trace ended means.
func judge(ctx context.Context, err error, count int, in *input, label string, w trace.Writer) error {
	var packed *importer.Error
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err == io.EOF && count > 0:
		return nil
	case err == io.EOF:
		return importer.Malformed(label, "", "the trace holds no events")
	case count == 0 && errors.As(in.err, &packed):
		return packed
	case count == 0:
		return importer.Malformed(label, place(in.read), "%s", firstLine(err))
	}
	w.Report(trace.Skipped, "the rest of a trace that breaks off: "+cause(err), 1, label+": "+place(in.read))
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

// cause is what kind of break an error is, without the numbers in it, so that
// reports of several files add up.
func cause(err error) string {
	if errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "EOF") {
		return "it ends early"
	}
	return "its records contradict each other"
}

// An input counts what is read from a file and ends when the context does.
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
