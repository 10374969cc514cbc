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

// events hands the events of a trace to do, in order of time. Where the trace
// breaks in the middle, what was sound stays and the break is reported.
func events(ctx context.Context, f io.Reader, label string, w trace.Writer, do func(*xtrace.Event)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	in := &input{ctx: ctx, r: f}
	count := 0
	err := guard(func() error {
		r, err := xtrace.NewReader(in)
		if err != nil {
			return err
		}
		var e xtrace.Event // one for all: it escapes
		for {
			if count%4096 == 0 && ctx.Err() != nil {
				return ctx.Err()
			}
			if e, err = r.ReadEvent(); err != nil {
				return err
			}
			if e.Kind() != xtrace.EventSync {
				count++
			}
			do(&e)
		}
	})
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
