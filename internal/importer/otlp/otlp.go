// Package otlp imports traces of the OpenTelemetry protocol, in each form that is
// found in files: JSON, as one object with resourceSpans or one a line; and protocol
// buffers, as one message, or as many with their length before each, in four bytes
// as the collector's file exporter writes them or as a varint. Described in
// open-telemetry/opentelemetry-proto, with examples/trace.json.
//
// Package span describes how spans are written. next to that:
//
//	service.name          service
//	service.instance.id   instance; else the pod, container, host or process id
//	resource              attributes of the location; resources of one instance that differ have a row each
//	scope                 attribute of the span, and its version
//	event                 instant;   link: flow link
//	status                attribute, where it is an error or has a text
//	attribute             attribute; lists and maps as their JSON
//
// Times are nanoseconds, written as text or numbers; kinds are numbers or names;
// ids are hexadecimal in either case. Older files (instrumentationLibrarySpans) are
// read too, and the wrappers of query services: "batches" of Tempo, "trace" or
// "result" of Tempo's and Jaeger's newer ones.
//
// The files of a log that `parallax receive` writes, spans-00000001.otlp and so on, are one run;
// any others are with --join.
//
// JSON is read span by span. With protocol buffers the spans of one resource are
// in memory at a time, or one message if lengths separate them.
//
// Limits: logs and metrics of the protocol are left out and counted.
package otlp

import (
	"bytes"
	"context"
	"path"
	"regexp"
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
	Joins:  true,
}

// logName is how the files of one log are called that `parallax receive` writes.
var logName = regexp.MustCompile(`^spans-[0-9]{8,}\.otlp$`)

// claim takes files of objects with spans of a resource, and of messages with spans. The files
// of one log are one run.
func claim(s importer.Source) []importer.Run {
	return importer.Together(s, func(file string, head []byte) (log string, claimed bool) {
		if logName.MatchString(path.Base(file)) {
			log = path.Dir(file)
		}
		return log, framing(s, file) != noFraming || isJSON(head)
	})
}

// framing is how messages are in a file; those of a log are told by its name too, since its
// first message may begin with resources that have no spans.
func framing(s importer.Source, name string) framingKind {
	head := s.Head(name)
	if how := framingOf(head); how != noFraming {
		return how
	}
	if logName.MatchString(path.Base(name)) && len(head) > 4 && head[0] < largestMessage>>24 {
		return fourBytes
	}
	return noFraming
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
	return span.Import(ctx, run, w, func(f *span.Source, out *span.Writer) error {
		c := &converter{out: out}
		if how := framing(run.Source, f.Path); how != noFraming {
			return newMessages(f, c, how).all()
		}
		in := span.NewReader(f.Ctx, f, f.Label, out)
		return in.End(objects(in, c), out.Count(), "spans")
	})
}
