// Package fuchsia reads traces in Fuchsia's format (.fxt), which magic-trace and other programs write too.
//
// The format: records of 64-bit words, each with its type and length in the first. Strings and threads are numbered by
// records of their own, for each provider by itself. Described in docs/reference/tracing/trace-format.md of Fuchsia.
//
//	process, thread              process, thread; names by kernel object records
//	duration (begin, end, whole) interval of the thread
//	async begin, end             interval of a row "async" below the process
//	instant, log                 instant; a log has its text as an attribute
//	counter                      counter of the process, one for each argument
//	flow                         link between the points that have its id
//	context switch, wake-up      states of the thread on a row below it, rows of processors: package sched
//	arguments                    attributes
//
// Not read: blobs and objects of user space, which have no time; they are counted.
package fuchsia

import (
	"bytes"
	"context"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is Fuchsia's.
var Format = &importer.Format{Name: "fuchsia", Title: "Fuchsia traces (.fxt: Fuchsia, magic-trace)",
	Claim: importer.EachFile(isTrace), Import: importer.OneFile(read)}

// magic is the first record, in the byte order of all machines that write it.
var magic = []byte{0x10, 0, 4, 0x46, 0x78, 0x54, 0x16, 0}

func isTrace(head []byte) bool { return bytes.HasPrefix(head, magic) }

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	c := newConverter(w)
	r := &reader{in: wire.From(in, 256<<10), to: c, providers: map[uint64]*provider{}}
	r.provider = r.providerOf(0)
	err := r.records(ctx)
	if failed := c.close(); err == nil {
		err = failed
	}
	c.tally.Report(w, label, "byte", reasons)
	if err == nil && c.events == 0 {
		return importer.Malformed(label, "", "holds no events")
	}
	return err
}
