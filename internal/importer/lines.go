package importer

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// longestLine bounds a line of Lines: names of templates are long.
const longestLine = 1 << 20

// Lines passes the lines of a text to take, numbered from 1 and without their ends, until the text ends; each is valid
// until the next. Longer lines than a megabyte are left out, and a text that breaks off is read up to there; both are
// reported. If nothing could be read, that is the error.
func Lines(ctx context.Context, in io.Reader, label string, w trace.Writer, take func(n int, line []byte)) error {
	r := bufio.NewReaderSize(in, 256<<10)
	var long []byte
	for n := 1; ; {
		if n%4096 == 1 && ctx.Err() != nil {
			return ctx.Err()
		}
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if len(long) <= longestLine {
				long = append(long, part...)
			}
			continue
		}
		if len(long) > 0 {
			part = append(long, part...)
			long = long[:0]
		}
		switch {
		case len(part) > longestLine:
			w.Report(trace.MissingEvents, "lines longer than a megabyte", 1, fmt.Sprintf("%s: line %d", label, n))
		case len(part) > 0:
			take(n, bytes.TrimRight(part, "\r\n"))
		}
		if err == nil {
			n++
			continue
		}
		var known *Error
		if err != io.EOF && n == 1 && errors.As(err, &known) {
			return known
		}
		if err != io.EOF {
			w.Report(trace.MissingRest, "files that break off, read up to there", 1,
				fmt.Sprintf("%s: line %d", label, n))
		}
		return ctx.Err()
	}
}
