// Package jaeger imports traces in the JSON of Jaeger's page and query service: an
// object whose data is a trace or a list of traces, each with its spans and
// processes. Described by jaegertracing/jaeger, model/json.
//
// Package span describes how spans are written. next to that:
//
//	process         service; its host name, address or instance id is the instance
//	tag span.kind   kind
//	CHILD_OF        the parent; further ones, and references to other traces, are flow links
//	FOLLOWS_FROM    the parent if there is no other, else a flow link
//	log             instant, named by its field event or message
//	warnings        attribute
//
// Times are microseconds of each host's own clock, as the collector left them.
//
// Spans name a process that the file describes after them, so those of a trace are held until then. A file that has
// a trace of more than 16,384 spans is read twice: for the processes, and for the spans.
//
// Several files are one run with --join: a service of one name is one.
package jaeger

import (
	"bytes"
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is Jaeger's JSON.
var Format = &importer.Format{
	Name:   "jaeger",
	Title:  "Jaeger spans (JSON)",
	Text:   true,
	Claim:  importer.EachFile(hasSpans),
	Import: read,
	Joins:  true,
}

// hasSpans recognises spans with Jaeger's names, with or without "data" around.
func hasSpans(head []byte) bool {
	if !bytes.Contains(head, []byte("operationName")) {
		return false // reading names costs more than looking for this one
	}
	k := jsonstream.Keys(head, 4000)
	return slices.ContainsFunc([]string{"", "data."}, func(in string) bool {
		return k[in+"spans.traceID"] && k[in+"spans.spanID"] && k[in+"spans.operationName"]
	})
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	return span.Import(ctx, run, w, func(s *span.Source, out *span.Writer) error {
		f := &file{source: s, out: out, in: span.NewReader(s.Ctx, s, s.Label, out), converter: converter{out: out}}
		return f.in.End(f.all(), out.Count(), "spans")
	})
}
