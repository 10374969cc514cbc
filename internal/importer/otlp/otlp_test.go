package otlp

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer/importertest"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "odd.json", Anywhere: true}, // it may end after any object
		{Path: "trace.json"},
		{Path: "otlp2jaeger-in.json"},
		{Path: "lines.txt", Anywhere: true},
		{Path: "rich.json"},
		{Path: "rich.pb", Anywhere: true},   // may end after any resource
		{Path: "framed.pb", Anywhere: true}, // or message
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.json", "testdata/odd.json", "testdata/lines.txt", "testdata/rich.json", "testdata/rich.pb", "testdata/framed.pb")
}

// The same four spans as one object and as a line each, and the two that Jaeger's
// translation of them has.
func TestSamplesHoldWhatIsKnownOfThem(t *testing.T) {
	for file, spans := range map[string]int64{
		"jaeger/ui-fixtures/otlp2jaeger-multi-in-combined.json": 4,
		"jaeger/ui-fixtures/otlp2jaeger-multi-in.json.txt":      4,
		"jaeger/ui-fixtures/otlp2jaeger-in.json":                2,
		"jaeger/ui-fixtures/otlp2jaeger-in-error.json":          1,
		"otlp/proto-examples/trace.json":                        1,
	} {
		r := importertest.Import(t, Format, importertest.Shared(t, "public/"+file))
		if i := r.Info(); i.Intervals != spans || i.Properties["traces"] != "1" {
			t.Errorf("%s: %d spans in %s traces, want %d in 1", file, i.Intervals, i.Properties["traces"], spans)
		}
	}
}
