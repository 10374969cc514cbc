package otlp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
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

// One time that cannot be does not refuse the spans that are sound.
func TestOneTimeOutOfRangeCostsOneSpan(t *testing.T) {
	for _, c := range [][2]string{
		{"9223372036854775807", "9223372036854775807"}, {"1544712660000000000", "9223372036854775807"}, {"9000000000000000000", "0"},
	} {
		text := `{"resourceSpans":[{"scopeSpans":[{"spans":[` +
			`{"traceId":"5b8aa5a2d2c872e8321cf37308d69df2","spanId":"051581bf3cb55c13","name":"sound","startTimeUnixNano":"1544712660000000000","endTimeUnixNano":"1544712661000000000"},` +
			`{"traceId":"5b8aa5a2d2c872e8321cf37308d69df2","spanId":"051581bf3cb55c14","name":"wrong","startTimeUnixNano":"` + c[0] + `","endTimeUnixNano":"` + c[1] + `",` +
			`"events":[{"timeUnixNano":"9223372036854775807","name":"late"}]}]}]}]}`
		file := filepath.Join(t.TempDir(), "x.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := importertest.Import(t, Format, file)
		if i := r.Info(); i.Intervals != 2 || i.End != 1e9 || len(i.Report) == 0 {
			t.Errorf("%v: %d intervals, %d ns, report %v", c, i.Intervals, i.End, i.Report)
		}
	}
}
