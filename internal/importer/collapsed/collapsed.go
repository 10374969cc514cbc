// Package collapsed imports collapsed (folded) stacks, the text that flame graphs
// are made from: a line for each stack, frames from the outermost to the innermost
// with semicolons between, and a count. Written by stackcollapse-*.pl, py-spy,
// async-profiler, bpftrace, rbspy, inferno and many more; described in
// brendangregg/FlameGraph.
//
//	file                  location (process)
//	frame name-PID/TID    location (process, thread) if it is the first frame, as by stackcollapse-perf.pl --tid
//	frames P1;T2          process and thread, as Austin writes them at the root; its frames are file:function:line
//	other frame           region; endings such as _[k] (kernel) or _[j] (compiled at run time) are its category
//	line                  call path; its count is exclusive, and inclusive on the paths above
//
// Limits: the files do not give the unit of the counts, so they are taken for samples. Austin's are microseconds, or
// bytes in its memory mode; of its full mode the first number is read. Differential stacks with two counts a line are
// not read.
package collapsed

import (
	"bytes"
	"context"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is the collapsed stack.
var Format = &importer.Format{
	Name:   "collapsed",
	Title:  "collapsed stacks (flame graphs, py-spy, async-profiler, Austin)",
	Text:   true,
	Claim:  importer.EachFile(claimed),
	Import: importer.OneFile(read),
}

// claimed takes text whose first lines all are stacks, most of them of several
// frames: prose and tables of numbers are not.
func claimed(head []byte) bool {
	if bytes.IndexByte(head, '\n') < 0 && len(head) < shortestCut {
		head = append(head[:len(head):len(head)], '\n') // one line, and whole
	}
	return isCollapsed(head)
}

// shortestCut is the shortest head that may be cut: shorter ones are whole files.
const shortestCut = 1 << 10

func isCollapsed(head []byte) bool {
	if !importer.IsText(head) {
		return false
	}
	lines := bytes.Split(head, []byte("\n"))
	if len(lines) < 2 {
		return false
	}
	stacks, deep := 0, 0
	for _, l := range lines[:len(lines)-1] { // the last may be cut
		if len(bytes.TrimSpace(l)) == 0 || l[0] == '#' {
			continue
		}
		frames, _, ok := parse(l)
		if !ok || bytes.IndexByte(l, 0) >= 0 || bytes.HasPrefix(frames, []byte(`"`)) {
			return false
		}
		stacks++
		if bytes.IndexByte(frames, ';') > 0 {
			deep++
		}
	}
	return deep > 0 && 2*deep >= stacks
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	return lines(ctx, in, label, newConverter(w, run.Name))
}
