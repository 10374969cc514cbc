// Package perfscript imports the text that perf script prints of samples with call
// stacks: for each sample a line that says who, when and what, the frames from the
// innermost on, and an empty line. Described in perf-script(1); which fields there
// are depends on its options and version.
//
//	comm, pid, tid      location (process, thread); with one number it is the thread, and its process is known by name
//	symbol, object      region and its category; C++ and Rust names are made readable, the written one is an attribute
//	stack               call path
//	event               metric: its periods added up, where they are printed, and its samples
//	sample              also an instant of its thread, named by its innermost frame; the CPU is an attribute
//
// Periods of cpu-clock and task-clock are nanoseconds, so they are times.
//
// What it lacks: offsets and addresses of frames are dropped, so that samples in
// one function add up. Records that are no samples (mmap, comm, switch), and lines
// of fields that are not known, are counted.
package perfscript

import (
	"bytes"
	"context"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is the text of perf script.
var Format = &importer.Format{
	Name:   "perf",
	Title:  "perf script text (Linux perf)",
	Text:   true,
	Claim:  importer.EachFile(isScript),
	Import: importer.OneFile(read),
}

// isScript: after comments, the line of a sample and a frame below it.
func isScript(head []byte) bool {
	if !importer.IsText(head) {
		return false
	}
	sample := false
	for line := range bytes.Lines(head) {
		line = bytes.TrimRight(line, "\r\n")
		switch {
		case len(bytes.TrimSpace(line)) == 0 || line[0] == '#':
		case sample:
			_, _, ok := parseFrame(line)
			return ok && (line[0] == '\t' || line[0] == ' ')
		default:
			if _, ok := parseSample(line); !ok {
				return false
			}
			sample = true
		}
	}
	return false
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := newConverter(w)
	err := script(ctx, in, label, c)
	if failed := c.close(); err == nil {
		err = failed
	}
	return err
}
