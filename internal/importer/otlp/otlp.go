// Package otlp imports traces of the OpenTelemetry protocol, in each form that is
// found in files: JSON, as one object with resourceSpans or one a line; and protocol
// buffers, as one message, or as many with their length before each, in four bytes
// as the collector's file exporter writes them or as a varint. Described in
// open-telemetry/opentelemetry-proto, with examples/trace.json.
//
// What spans become is told in package span. Beside that:
//
//	service.name          service
//	service.instance.id   instance; else the pod, container, host or process id
//	resource              attributes of the location
//	scope                 attribute of the span, and its version
//	event                 instant;   link: flow link
//	status                attribute, where it is an error or has a text
//	attribute             attribute; lists and maps as their JSON
//
// Times are nanoseconds, written as text or numbers; kinds are numbers or names;
// ids are hexadecimal in either case. Older files (instrumentationLibrarySpans)
// are read too, and what query services wrap around: "batches" of Tempo, "trace" or
// "result" of Tempo's and Jaeger's newer ones.
//
// JSON is read span by span. Of protocol buffers the spans of one resource are in
// memory at a time, or one message where lengths part them.
//
// What it lacks: logs and metrics of the protocol are left out and counted.
package otlp

import (
	"bytes"
	"context"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/jsonstream"
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is OTLP.
var Format = &importer.Format{
	Name:   "otlp",
	Title:  "OpenTelemetry spans (OTLP: JSON, protobuf)",
	Claim:  claim,
	Import: read,
}

// claim takes files of objects with spans of a resource, and of messages with spans.
func claim(s importer.Source) (runs []importer.Run) {
	for _, f := range s.Files {
		head := s.Head(f.Path)
		if framingOf(head) != noFraming || isJSON(head) {
			runs = append(runs, importer.Run{Files: []string{f.Path}})
		}
	}
	return runs
}

func isJSON(head []byte) bool {
	if !bytes.Contains(head, []byte("pans")) && !bytes.Contains(head, []byte("batches")) {
		return false // reading names costs more than looking for these
	}
	k := jsonstream.Keys(head, 2000)
	for _, around := range []string{"", "result.", "trace."} {
		for _, name := range []string{"resourceSpans", "resource_spans", "batches"} {
			name = around + name
			spans := k[name+".scopeSpans"] || k[name+".scope_spans"] || k[name+".instrumentationLibrarySpans"]
			if spans || k[name+".resource"] && !strings.HasSuffix(name, "batches") {
				return true
			}
		}
	}
	return false
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	framing := framingOf(run.Source.Head(run.Files[0]))
	return span.Import(ctx, run, w, func(f *span.Source, out *span.Writer) error {
		c := &converter{out: out}
		if framing != noFraming {
			return newMessages(f, c, framing).all()
		}
		in := span.NewReader(f.Ctx, f, f.Label, out)
		return in.End(objects(in, c), out.Count(), "spans")
	})
}
