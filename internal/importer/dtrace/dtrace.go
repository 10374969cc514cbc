// Package dtrace reads stacks that DTrace and bpftrace count: the output of `@[ustack()] = count()` and the like.
//
// The formats: DTrace prints the frames of a stack from the innermost on, each as module`function+0x1f, and the count
// in a line of its own. bpftrace prints @name[, the frames as function+384, other keys behind the stack, and ]: count;
// of two stacks in one key the second is that of the user.
//
//	file             location (process)
//	keys             process by name, thread by name and number, if bpftrace prints them behind the stack
//	frame            region; its module is the category
//	map              metric
//
// Limits: the files do not give the unit of a map. Maps without a stack, and histograms, are
// counted.
package dtrace

import (
	"bytes"
	"context"
	"io"
	"path"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of both.
var Format = &importer.Format{Name: "dtrace", Title: "stacks of DTrace and bpftrace", Text: true,
	Claim: importer.EachFile(isDTrace, isBpftrace), Import: importer.OneFile(read)}

func isDTrace(head []byte) bool {
	for line := range bytes.Lines(head) {
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) > 0 {
			return dtraceHead.Match(line) && bytes.Contains(head, []byte("`")) || dtraceFrame.Match(line)
		}
	}
	return false
}

// isBpftrace: a map with a stack, below bpftrace's first messages.
func isBpftrace(head []byte) bool {
	if !importer.IsText(head) {
		return false
	}
	for line := range bytes.Lines(head) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '@' {
			return openMap.Match(line)
		} else if len(line) > 0 && !bytes.HasPrefix(line, []byte("Attach")) {
			return false
		}
	}
	return false
}

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := &converter{w: w, label: label, name: path.Base(run.Name), regions: map[string]trace.RegionID{},
		maps: map[string]*stack.Profile{}}
	take := c.dtrace
	if isBpftrace(run.Source.Head(run.Files[0])) {
		take = c.bpftrace
	}
	if err := importer.Lines(ctx, in, label, w, take); err != nil {
		return err
	}
	if len(c.order) == 0 {
		return importer.Malformed(label, "", "holds no stack with a count")
	}
	if len(c.frames) > 0 {
		w.Report(trace.MissingSamples, "a stack without a count (the file may be cut)", 1, label)
	}
	for _, p := range c.order {
		p.Finish()
	}
	return nil
}
