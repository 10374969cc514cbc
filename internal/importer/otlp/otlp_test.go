package otlp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// Resources of one service that differ have a row each, with their own attributes; the process id alone tells none apart.
func TestResourcesThatDifferHaveRows(t *testing.T) {
	var resources []string
	for i, facts := range [][3]string{{"v1", "a", "7"}, {"v2", "a", "7"}, {"v1", "a", "8"}, {"v2", "b", "9"}, {"v2", "a", "9"}} {
		resources = append(resources, fmt.Sprintf(`{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"pricing"}},`+
			`{"key":"service.version","value":{"stringValue":%q}},{"key":"cloud.zone","value":{"stringValue":%q}},{"key":"process.runtime","value":{"stringValue":%q}}]},`+
			`"scopeSpans":[{"spans":[{"traceId":"5b8aa5a2d2c872e8321cf37308d69df2","spanId":"051581bf3cb55c%02x","name":"quote","startTimeUnixNano":"1544712660000000000","endTimeUnixNano":"1544712661000000000"}]}]}`,
			facts[0], facts[1], facts[2], i+1))
	}
	file := filepath.Join(t.TempDir(), "x.json")
	if err := os.WriteFile(file, []byte(`{"resourceSpans":[`+strings.Join(resources, ",")+`]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	r := importertest.Import(t, Format, file)
	tree := r.Locations()
	var got []string
	for id := range tree.Len() {
		text := tree.Name[id]
		for _, a := range tree.Attributes[id] {
			if a.Key == "service.version" || a.Key == "cloud.zone" {
				text += " " + a.Value.String()
			}
		}
		got = append(got, text)
	}
	if want := []string{"pricing v1 a", "version=v2 v2 a", "version=v2, zone=b v2 b"}; !slices.Equal(got, want) || r.Info().Intervals != 5 {
		t.Errorf("%q with %d intervals, want %q", got, r.Info().Intervals, want)
	}
}
