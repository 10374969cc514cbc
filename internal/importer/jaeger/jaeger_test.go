package jaeger

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer/importertest"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "odd.json"},
		{Path: "logs.json"},
		{Path: "testTrace.json"},
		{Path: "otlp2jaeger-out.json"},
		{Path: "otlp2jaeger-multi-out.json"},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.json", "testdata/odd.json", "testdata/testTrace.json")
}

func TestSamplesHoldWhatIsKnownOfThem(t *testing.T) {
	for file, want := range map[string]struct {
		spans    int64
		services int
	}{
		"testTrace.json":             {4, 2},
		"otlp2jaeger-out.json":       {2, 1},
		"oltp2jaeger-multi-out.json": {4, 1},
	} {
		r := importertest.Import(t, Format, importertest.Shared(t, "public/jaeger/ui-fixtures/"+file))
		services := 0
		for _, k := range r.Locations().Kind {
			if k == "service" {
				services++
			}
		}
		if i := r.Info(); i.Intervals != want.spans || services != want.services {
			t.Errorf("%s: %d spans of %d services, want %d of %d", file, i.Intervals, services, want.spans, want.services)
		}
	}
}
