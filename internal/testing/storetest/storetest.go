// Package storetest holds the one suite that every store passes, the reference store it is compared with, and a
// slow store that shows which views ask too often.
//
//	Text     a reader of a trace written as text, for the tests of views
//	Memory   the reference: answers computed straight from the definitions
//	Run      the suite: hand-made cases, and random traces against the reference
//	Slow     a reader that takes its time and counts its calls
//
// The reference makes the choices that the contract in packages trace and store leaves open, and the suite requires
// them of every store:
//
//   - Lanes. A stream that only enters and leaves, by the rule of call stacks, has
//     one lane and its stack is the nesting. Otherwise intervals are considered by
//     begin, the longer first, then in order of arrival; each goes to the lowest
//     lane where it nests in the innermost open interval or where nothing is open.
//     An interval that ends at t is not open at t.
//   - The end. Info.End is the last time stamp. A window that reaches it also
//     holds the records at the very end (an instant, a sample, an empty
//     interval), so that the whole trace loses nothing.
//   - Intervals. The rows handed out are those that begin in the window. The Open
//     chain of a batch is the parents of its first row; in the first batch of a lane
//     also the intervals open at the window's begin. A batch without rows comes if
//     there are only these.
//   - Depth is 0 at the top; Info.Depth counts levels, so it is one more.
//   - Links belong to a window when one of their ends is at one of its locations
//     and their time meets it; links without time belong to every window.
//   - Groups gives whole bins: they are not clipped to the range asked for.
package storetest

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Text returns a reader of a trace written in the language of package tracetest.
func Text(tb testing.TB, text string, summaries ...trace.Summary) store.Reader {
	tb.Helper()
	m := NewMemory(summaries...)
	tracetest.Write(tb, m, text)
	return m.Reader()
}
