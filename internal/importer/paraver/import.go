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
		return &importer.Error{File: run.Label(body), Place: "line 1", Cause: "the header of a Paraver trace is not understood: " + bad.Error(),
			Hint: "write the trace again, or cut the header out of another one of the same run", Kind: importer.ErrMalformed}
	}
	w.Property("date", h.date)
	c := newConverter(w, h, n)
	for why := range reasonCount { // their lines are of another file
		c.tally.AddN(why, said.Count(why), 0)
	}
	if err := c.read(ctx, l, run.Label(body)); err != nil {
		return err
	}
	err = c.finish()
	c.tally.Report(w, run.Label(body), say)
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
			said.Add(badNames, 0)
		}
		return ctx.Err()
	}
	if pcf == "" {
		said.Add(noPCF, 0)
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
			c.w.Report(reasons[damaged].kind, reasons[damaged].what, 1, err.Error())
			return nil
		}
	}
}

// longest is how long a line may be: headers of large machines are.
const longest = 64 << 20

// A lineReader hands out lines without copying them.
type lineReader struct {
	r          io.Reader
	buf        []byte
	begin, end int // what is read and not yet handed out
	line       int64
	long       int64 // lines that were too long
	err        error
}

// next gives the next line, without its end; with the last one comes io.EOF or what
// ended the file. The context is asked once a buffer.
func (l *lineReader) next(ctx context.Context) ([]byte, error) {
	for from := l.begin; ; {
		if i := bytes.IndexByte(l.buf[from:l.end], '\n'); i >= 0 {
			line := l.buf[l.begin : from+i]
			l.begin = from + i + 1
			l.line++
			return line, nil
		}
		if l.err != nil {
			line := l.buf[l.begin:l.end]
			l.begin = l.end
			l.line++
			return line, l.err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from = l.fill()
	}
}

// fill reads more, and gives where to look on for the end of a line.
func (l *lineReader) fill() int {
	have := copy(l.buf, l.buf[l.begin:l.end])
	l.begin, l.end = 0, have
	if have == len(l.buf) {
		if len(l.buf) >= longest {
			return l.drop()
		}
		l.buf = append(l.buf, make([]byte, len(l.buf))...)
	}
	n, err := io.ReadAtLeast(l.r, l.buf[have:], 1)
	l.end += n
	l.err = err
	return have
}

// drop passes over a line that is too long: what is read of it is forgotten, and so
// is the rest when its end comes, as a line of its own that begins nowhere.
func (l *lineReader) drop() int {
	l.long++
	for {
		n, err := l.r.Read(l.buf)
		if i := bytes.IndexByte(l.buf[:n], '\n'); i >= 0 {
			l.begin, l.end, l.err = i+1, n, err
			l.line++
			return l.begin
		}
		if err != nil {
			l.begin, l.end, l.err = 0, 0, err
			return 0
		}
	}
}
