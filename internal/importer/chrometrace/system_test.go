package chrometrace

import (
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/importertest"
)

// What the system recorded beside a trace is not read, but nothing goes in silence.
func TestRecordsOfTheSystemAreCounted(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       int64
	}{
		{"fuchsia", `{"systemTraceEvents":{"type":"fuchsia","events":[{"ph":"p","pid":1,"name":"a"},{"ph":"k","ts":5,"out":{"tid":1},"in":{"tid":2}},{"ph":"t"}]},"traceEvents":[{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"a"}]}`, 3},
		{"android", `{"traceEvents":[{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"a"}],"systemTraceEvents":"# tracer: nop\na-1 [000] 1.0: sched_switch\n"}`, 2},
		{"none", `{"traceEvents":[{"ph":"X","ts":1,"dur":2,"pid":1,"tid":1,"name":"a"}]}`, 0},
	} {
		s, err := importer.NewSourceFS("x", fstest.MapFS{"x.json": {Data: []byte(c.text)}})
		if err != nil {
			t.Fatal(err)
		}
		w := importertest.NewCount()
		if err := importer.ClaimAs(Format, s)[0].Import(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		if got := w.Reported["skipped "+reasons[systemRecords].what]; got != c.want {
			t.Errorf("%s: %d records of the system, want %d: %v", c.name, got, c.want, w.Reported)
		}
	}
}
