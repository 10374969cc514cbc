// Package nettrace reads .nettrace files of .NET (dotnet-trace, dotnet-counters, EventPipe): versions 4, 5 and 6.
//
// The format: blocks of events, of the metadata that names and describes them, of stacks as addresses, and of sequence
// points, behind which numbers of stacks count anew. Headers of events hold what differs from the one before. Described
// in NetTraceFormat.md and NetTraceFormat_v5.md of microsoft/perfview.
//
//	thread                       thread, below the process
//	sample (SampleProfiler)      row aside, and its time up to the thread's next sample for its call path; all threads
//	                             are sampled, also those that wait
//	sample in native code        innermost frame "(native code)"
//	MethodLoad, MethodDCEnd, …   name of the method at an address, with its module as category
//	GC, suspension, contention   interval
//	EventCounters                counter of the process
//	other event                  instant "provider/event" of the thread; its fields are an attribute
//
// Activities (pairs of Start and Stop) are instants, since they may end on another thread. Native frames have no names
// in the file.
package nettrace

import (
	"bytes"
	"context"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is .NET's.
var Format = &importer.Format{Name: "nettrace", Title: ".NET traces (.nettrace: dotnet-trace, EventPipe)",
	Claim: importer.EachFile(isTrace), Import: importer.OneFile(read)}

func isTrace(head []byte) bool { return bytes.HasPrefix(head, []byte(magic)) }

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := newConverter(w, run.Name)
	r := &reader{in: wire.From(in, 64<<10), to: c, metadata: map[uint32]*kind{}, threads: map[uint64]thread{},
		last: map[uint64]uint32{}, stacks: map[uint32]int32{}, known: map[string]int32{}}
	err := r.file(ctx)
	if ctx.Err() != nil {
		err = ctx.Err()
	} else if err != nil && c.events > 0 { // what comes before counts
		c.tally.Add(brokenFile, r.in.Offset())
		err = nil
	}
	if failed := c.close(ctx, r.addresses); err == nil {
		err = failed
	}
	c.tally.Report(w, label, "byte", reasons)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return importer.Malformed(label, "", "%v", err)
	case c.events == 0:
		return importer.Malformed(label, "", "holds no events")
	}
	return nil
}
