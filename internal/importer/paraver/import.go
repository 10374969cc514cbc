package paraver

import (
	"bytes"
	"context"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func importRun(ctx context.Context, run importer.Run, w trace.Writer) error {
	body := run.Files[0]
	for _, f := range run.Files {
		if isBody(run.Source.Head(f)) {
			body = f
			break
		}
	}
	run.Files = append([]string{body}, run.Files...)
	n, said, err := readNames(ctx, run)
	if err != nil {
		return err
	}
	r, err := run.Open(body)
	if err != nil {
		return err
	}
	defer r.Close()
	l := &lineReader{r: r, buf: make([]byte, 512<<10)}
	first, err := l.next(ctx)
	if err != nil && err != io.EOF {
		return err
	}
	h, bad := parseHeader(string(first))
	if bad != nil {
		return &importer.Error{File: run.Label(body), Place: "line 1",
			Cause: "the header of a Paraver trace is not understood: " + bad.Error(),
			Hint:  "write the trace again, or cut the header out of another one of the same run",
			Kind:  importer.ErrMalformed}
	}
	w.Property("date", h.date)
	c := newConverter(w, h, n)
	for why := range reasonCount { // their lines are of another file
		c.tally.AddN(why, said.Count(why), nowhere)
	}
	if err := c.read(ctx, l, run.Label(body)); err != nil {
		return err
	}
	err = c.finish()
	c.tally.Report(w, run.Label(body), "line", reasons[:])
	return err
}

// readNames reads .pcf and .row. A trace may lack them; one that is damaged is used as
// far as it goes.
func readNames(ctx context.Context, run importer.Run) (*names, tally, error) {
	n := newNames()
	var said tally
	pcf, row := companions(run)
	read := func(file string, f func(context.Context, importer.Run, string) error) error {
		if file == "" {
			return nil
		}
		if err := f(ctx, run, file); err != nil {
			said.Add(badNames, nowhere)
		}
		return ctx.Err()
	}
	if pcf == "" {
		said.Add(noPCF, nowhere)
	}
	if err := read(pcf, n.readPCF); err != nil {
		return nil, said, err
	}
	if err := read(row, n.readRow); err != nil {
		return nil, said, err
	}
	return n, said, nil
}

// read takes the lines of the body.
func (c *converter) read(ctx context.Context, l *lineReader, label string) error {
	for {
		line, err := l.next(ctx)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.line = l.line
		if line = bytes.TrimSpace(line); len(line) > 0 {
			c.record(line)
		}
		c.tally.AddN(longLine, l.long, l.line)
		l.long = 0
		if err == io.EOF {
			return nil
		}
		if err != nil {
			if c.records == 0 {
				return err
			}
			c.w.Report(reasons[damaged].Kind, reasons[damaged].What, 1, err.Error())
			return nil
		}
	}
}
