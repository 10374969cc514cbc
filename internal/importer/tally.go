package importer

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostReasons bounds how many reasons a format of lines has.
const mostReasons = 96

// A LineTally counts, for a format of lines, why something is not kept as it
// stands. The first line of each reason is kept. Its zero value is ready.
type LineTally[R ~uint8] struct {
	count, first [mostReasons]int64
}

// Add counts one.
func (t *LineTally[R]) Add(why R, line int64) { t.AddN(why, 1, line) }

// Count is how many there are of a reason.
func (t *LineTally[R]) Count(why R) int64 { return t.count[why] }

// AddN counts n of one reason; a line of 0 is no place.
func (t *LineTally[R]) AddN(why R, n, line int64) {
	if n == 0 {
		return
	}
	if t.count[why] == 0 || line > 0 && line < t.first[why] {
		t.first[why] = line
	}
	t.count[why] += n
}

// Take adds what a block counted, whose lines begin after base.
func (t *LineTally[R]) Take(b *LineTally[R], base int64) {
	for why, n := range b.count {
		t.AddN(R(why), n, base+b.first[why])
	}
}

// Report hands over what was counted in a file, in the words of say, and starts anew.
func (t *LineTally[R]) Report(w trace.Writer, label string, say func(R) (trace.ReportKind, string)) {
	for why, n := range t.count {
		if n == 0 {
			continue
		}
		example := label
		if t.first[why] > 0 {
			example = fmt.Sprintf("%s: line %d", label, t.first[why])
		}
		kind, what := say(R(why))
		w.Report(kind, what, n, example)
	}
	*t = LineTally[R]{}
}
