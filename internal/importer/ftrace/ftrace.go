// Package ftrace reads traces of Linux' tracer: trace.dat of trace-cmd (versions 6 and 7), and as text the kernel's
// file `trace`, the output of trace-cmd report and atrace, and the HTML of systrace.
//
// The format of the text: `task-pid (tgid) [cpu] flags time: event: fields`, a line each; the name of a task may hold
// blanks and minus signs. Lines need not be in order of time.
//
//	task                  thread, below its process where the tgid is printed
//	sched_switch, …       states of the task, wake links and rows of processors: package sched
//	marks B and E, S, F   interval of a row "marks" below the task (annotation); from its start to its finish
//	                      for S and F
//	mark C                counter of the process
//	cpu_frequency         counter of a processor
//	funcgraph_exit        interval of a row "kernel" below the task, named by the function (trace.dat)
//	other event           instant of the task; its fields are an attribute
//
// trace.dat holds the pages of the kernel's ring buffer, one set a processor, and describes the fields of its events:
// see package tracepoint. Its times are moved to the wall clock if it says how (trace-cmd record --date).
//
// Not read: the text that the function and function_graph tracers print; lines that fit nothing are counted.
package ftrace

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"context"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of ftrace.
var Format = &importer.Format{Name: "ftrace", Title: "ftrace (trace.dat, trace-cmd report, atrace, systrace HTML)",
	Claim: importer.EachFile(isFtrace, isHTML, isPacked, isData), Import: importAny}

func importAny(ctx context.Context, run importer.Run, w trace.Writer) error {
	if isData(run.Source.Head(run.Files[0])) {
		return readData(ctx, run, w)
	}
	return importer.OneFile(read)(ctx, run, w)
}

// isFtrace: after comments and trace-cmd's first lines, a line of an event.
func isFtrace(head []byte) bool {
	if !importer.IsText(head) {
		return false
	}
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, "\r\n"); about(line) {
			continue
		}
		_, ok := parse(line)
		return ok
	}
	return false
}

// about recognises lines above and between events.
func about(line []byte) bool {
	line = bytes.TrimSpace(line)
	if len(line) == 0 || line[0] == '#' {
		return true
	}
	for _, p := range []string{"version = ", "cpus=", "TRACE:", "trace-cmd version", "CPU ", "CPU:",
		"capturing trace"} {
		if bytes.HasPrefix(line, []byte(p)) {
			return true
		}
	}
	return false
}

// isHTML: the page of systrace, whose text may be behind megabytes of program.
func isHTML(head []byte) bool {
	return bytes.HasPrefix(bytes.ToLower(bytes.TrimSpace(head[:min(len(head), 100)])), []byte("<!doctype html")) &&
		(bytes.Contains(head, []byte(`class="trace-data"`)) || bytes.Contains(head, []byte("Android System Trace")))
}

var packed = []byte("TRACE:\n\x78")

// isPacked: atrace -z.
func isPacked(head []byte) bool { return bytes.HasPrefix(head, packed) }

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	b := bufio.NewReader(in)
	if begin, _ := b.Peek(len(packed)); isPacked(begin) {
		_, _ = b.Discard(len("TRACE:\n"))
		z, err := zlib.NewReader(b)
		if err != nil {
			return importer.Malformed(label, "byte 7", "its zlib data cannot be unpacked: %v", err)
		}
		b = bufio.NewReader(z)
	}
	c := newConverter(w, label, isHTML(run.Source.Head(run.Files[0])))
	err := importer.Lines(ctx, b, label, w, c.line)
	if failed := c.close(); err == nil {
		err = failed
	}
	if err == nil && c.events == 0 {
		return importer.Malformed(label, "", "no line is an event of ftrace")
	}
	return err
}
