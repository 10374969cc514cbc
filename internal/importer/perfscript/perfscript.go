// Package perfscript imports perf.data files, and the text that perf script prints of samples with call stacks: for
// each sample a line with thread, time and event, the frames from the innermost on, and an empty line; without call
// chains, one line a sample. simpleperf's report_sample.py writes the same. Described in perf-script(1); which fields
// there are depends on its options and version.
//
//	comm, pid, tid      location (process, thread); with one number it is the thread, and its process is known by name
//	symbol, object      region and its category; C++ and Rust names are made readable, the written one is an attribute
//	stack               call path
//	event               metric: its periods added up, where they are printed, and its samples
//	trace point         instant named by the event, with its fields as an attribute
//	sched:sched_switch  states of threads, wake links and rows of processors: package sched
//	sample              also an instant of its thread, named by its innermost frame; the CPU is an attribute
//
// Periods of cpu-clock and task-clock are nanoseconds, so they are times.
//
// perf.data itself is read too: events, periods, times, threads and stacks. It holds no names of functions, so its
// frames are the objects (programs, libraries, the kernel) that addresses are in; the text of perf script has
// functions. Compressed files and those written into a pipe are read. Fields of trace points are an attribute, as in
// the text: the file describes them (package tracepoint).
//
// Limits: offsets and addresses of frames are dropped, so that samples in one
// function add up. Records that are no samples (mmap, comm, switch), and lines of
// fields that are not known, are counted.
package perfscript

import (
	"bytes"
	"context"
	"io"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of perf script's text, and of perf.data.
var Format = &importer.Format{
	Name:   "perf",
	Title:  "perf script text, perf.data (Linux perf)",
	Claim:  importer.EachFile(isScript, isData),
	Import: importAny,
}

func importAny(ctx context.Context, run importer.Run, w trace.Writer) error {
	if isData(run.Source.Head(run.Files[0])) {
		return readData(ctx, run, w)
	}
	return importer.OneFile(read)(ctx, run, w)
}

// isScript: after comments, the line of a sample that has a frame behind or below it, or is a trace point with its
// time. A line with only a name and a number needs an indented frame below.
func isScript(head []byte) bool {
	if !importer.IsText(head) {
		return false
	}
	kind, samples := otherLine, 0
	for line := range bytes.Lines(head) {
		whole := bytes.HasSuffix(line, []byte("\n"))
		line = bytes.TrimRight(line, "\r\n")
		if len(bytes.TrimSpace(line)) == 0 || line[0] == '#' {
			continue
		}
		if kind != otherLine && kind != recordLine && !maybeSample(line) {
			name, _, ok := parseFrame(line)
			return ok && !numbers(name) && (kind == sampleLine || line[0] == '\t' || line[0] == ' ')
		}
		s, now := parseLine(line)
		if name, _, ok := parseFrame([]byte(s.rest)); now == sampleLine && ok &&
			!numbers(name) {
			return true
		}
		switch kind = now; {
		case kind == otherLine:
			return !whole && samples > 0
		case kind == sampleLine && !s.timed && s.event == "": // nothing but numbers
			return false
		case kind == recordLine || kind == sampleLine && s.timed:
			samples++
		}
	}
	return samples > 0
}

// numbers distinguishes a line of a table from a frame.
func numbers(text string) bool { return strings.Trim(text, "0123456789. \t") == "" }

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := newConverter(w)
	err := script(ctx, in, label, c)
	if failed := c.close(); err == nil {
		err = failed
	}
	return err
}
