// Package zipkin imports traces in Zipkin's JSON of version 2, as its server and
// its page export them: a list of spans, or a list of such lists. Described in
// openzipkin/zipkin-api, zipkin2-api.yaml.
//
// Package span describes how spans are written. next to that:
//
//	localEndpoint   service; its address and port are the instance
//	annotation      instant
//	shared span     two spans of one id, the caller's and the callee's: the second is a child of the first
//	debug           attribute
//	remoteEndpoint  attribute "remote": the other side may have no span of its own
//
// Times are microseconds of each host's own clock. Spans of a callee that begin
// before their caller's are counted as a sign of clocks that disagree.
//
// Several files are one run with --join: a service of one name is one.
//
// Limits: halves of a span that one host sent in several parts are not put
// together, and version 1 of the format (binaryAnnotations) is not read.
package zipkin

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is Zipkin's JSON.
var Format = &importer.Format{
	Name:   "zipkin",
	Title:  "Zipkin spans (JSON v2)",
	Text:   true,
	Claim:  importer.EachFile(hasSpans),
	Import: read,
	Joins:  true,
}

// hasSpans recognises a list of objects that have ids of a span and
// of a trace, and something that only version 2 has.
func hasSpans(head []byte) bool {
	if firstByte(head) != '[' {
		return false
	}
	k := jsonstream.Keys(head, 2000)
	return k["traceId"] && k["id"] && (k["localEndpoint"] || k["kind"] || k["timestamp"] || k["tags"]) &&
		!k["binaryAnnotations"] && !k["ph"]
}

// firstByte is the first byte that is no white space, 0 for none.
func firstByte(head []byte) byte {
	for _, b := range head {
		if b != ' ' && b != '\n' && b != '\r' && b != '\t' {
			return b
		}
	}
	return 0
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	return span.Import(ctx, run, w, func(f *span.Source, out *span.Writer) error {
		in := span.NewReader(f.Ctx, f, f.Label, out)
		return in.End(spans(in, out), out.Count(), "spans")
	})
}
