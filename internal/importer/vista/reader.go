package vista

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostPEs bounds the number of PEs in the first record.
const mostPEs = 1 << 20

// A Record is one line of a trace.
type Record struct {
	Time   int64 // ms
	Clause int64
	PE     int64
	Index  int64
	PPE    int64
	PIndex int64
}

// records reads a file line by line. A line that is no record is counted and
// skipped; a file that ends in the middle of a line loses that line alone.
func records(ctx context.Context, f io.Reader, label string, c *Converter) error {
	s := bufio.NewScanner(f)
	s.Buffer(make([]byte, 64<<10), 1<<20)
	line := 0
	for s.Scan() {
		line++
		if line%4096 == 1 && ctx.Err() != nil {
			return ctx.Err()
		}
		at := fmt.Sprintf("line %d", line)
		n, ok := numbers(s.Text())
		switch {
		case len(n) == 0 && ok:
			continue
		case c.pes == 0:
			if !ok || len(n) != 1 || n[0] < 1 || n[0] > mostPEs {
				return importer.Malformed(label, at,
					"the first record must be the number of processing elements, 1 to %d", mostPEs)
			}
			c.Begin(int(n[0]))
		case !ok || len(n) != 6:
			c.w.Report(trace.MissingIntervals, "lines that are not six whole numbers", 1, label+": "+at)
		default:
			if err := c.Add(Record{n[0], n[1], n[2], n[3], n[4], n[5]}); err != nil {
				c.w.Report(trace.MissingIntervals, "records that "+err.Error(), 1, label+": "+at)
			}
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s: line %d: %w", label, line+1, err)
	}
	if c.count == 0 {
		return importer.Malformed(label, "", "no record follows the number of processing elements")
	}
	return nil
}
