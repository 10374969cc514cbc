package importer

import (
	"io"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Ending reads a text of lines and watches whether the last one has its end. Programs that write such a text end
// every line, so one without an end is cut, and its last number may lack digits.
type Ending struct {
	r    io.Reader
	last byte
}

// WatchEnd returns a reader of the same text.
func WatchEnd(r io.Reader) *Ending { return &Ending{r: r, last: '\n'} }

func (e *Ending) Read(b []byte) (int, error) {
	n, err := e.r.Read(b)
	if n > 0 {
		e.last = b[n-1]
	}
	return n, err
}

// Report says that the text ends within a line.
func (e *Ending) Report(w trace.Writer, label string) {
	if e.last != '\n' {
		w.Report(trace.Guessed, EndsWithinALine, 1, label)
	}
}

// EndsWithinALine is how a report says that a text was cut.
const EndsWithinALine = "texts that end within a line, which may be cut off"
