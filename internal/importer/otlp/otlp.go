// Package otlp imports traces in the JSON of the OpenTelemetry protocol: one
// object with resourceSpans, or one a line as the collector's file exporter writes
// them. Described in open-telemetry/opentelemetry-proto, with examples/trace.json.
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
// are read too.
//
// What it lacks: logs and metrics of the protocol are left out and counted, and
// its binary form is not read.
package otlp

import (
	"context"
	"io"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/span"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is the JSON of OTLP.
var Format = &importer.Format{
	Name:   "otlp",
	Title:  "OpenTelemetry spans (OTLP JSON)",
	Claim:  claim,
	Import: read,
}

// claim takes files of objects with spans of a resource.
func claim(s importer.Source) (runs []importer.Run) {
	for _, f := range s.Files {
		k := span.Keys(s.Head(f.Path), 2000)
		for _, name := range []string{"resourceSpans", "resource_spans"} {
			if k[name] && (k[name+".scopeSpans"] || k[name+".scope_spans"] || k[name+".instrumentationLibrarySpans"] || k[name+".resource"]) {
				runs = append(runs, importer.Run{Files: []string{f.Path}})
				break
			}
		}
	}
	return runs
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	path := run.Files[0]
	f, err := run.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	out := span.NewWriter(w, run.Label(path))
	in := span.NewReader(ctx, f, run.Label(path), w)
	for err == nil { // one object after the other
		err = object(in, out)
	}
	if err == io.EOF {
		err = nil
	}
	err = in.End(err, out.Count())
	if failed := out.Finish(); err == nil {
		err = failed
	}
	return err
}
