package jaeger

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
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

// A trace of more spans than are held until their processes are known has its processes all the same, wherever
// they stand.
func TestProcessesAreFoundHoweverManySpansComeBefore(t *testing.T) {
	for _, spans := range []int{10, mostHeld, mostHeld + 7} {
		data := string(generate(spans))
		at := strings.LastIndex(data, `,"processes":`)
		processes := data[at+1 : len(data)-len(`}]}`)]
		before := strings.Replace(data[:at], `"spans":`, processes+`,"spans":`, 1) + `}]}`
		second := strings.TrimSuffix(data, `]}`) + `,{"traceID":"b","spans":[{"traceID":"b","spanID":"1","operationName":"last","startTime":1700000000000000,"duration":5,"processID":"p1"}],"processes":{"p1":{"serviceName":"another"}}}]}`
		for _, c := range []struct {
			what, text string
			spans      int64
			services   int
		}{{"after", data, int64(spans), min(spans, 40)}, {"before", before, int64(spans), min(spans, 40)}, {"after, and a second trace", second, int64(spans) + 1, min(spans, 40) + 1}} {
			s, err := importer.NewSourceFS("sample", fstest.MapFS{"x.json": {Data: []byte(c.text)}})
			if err != nil {
				t.Fatal(err)
			}
			w := importertest.NewCount()
			if err := importer.ClaimAs(Format, s)[0].Import(t.Context(), w); err != nil {
				t.Fatal(err)
			}
			services := map[string]bool{}
			for _, l := range w.Locations {
				if l.Kind == "service" {
					services[l.Name] = true
				}
			}
			if w.Intervals != c.spans || len(services) != c.services || len(w.Reported) > 0 {
				t.Errorf("%d spans, processes %s: %d of %d services, want %d; reported %v", spans, c.what, w.Intervals, len(services), c.services, w.Reported)
			}
		}
	}
}
