package chrometrace

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
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
		if got := w.Reported["skipped "+reasons[systemRecords].What]; got != c.want {
			t.Errorf("%s: %d records of the system, want %d: %v", c.name, got, c.want, w.Reported)
		}
	}
}

// A block that was never written is full of zeros: what it cuts is counted, and no
// record is taken for the end of the text of another.
func TestZerosInTheFileSwallowNothingInSilence(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"traceEvents":[`)
	const n = 40
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"ph":"X","ts":%d,"dur":2,"pid":1,"tid":1,"name":"function %d"}`, i*10, i)
	}
	b.WriteString("]}")
	for at := 20; at < b.Len()-140; at += 7 {
		data := []byte(b.String())
		clear(data[at : at+100])
		s, err := importer.NewSourceFS("x", fstest.MapFS{"x.json": {Data: data}})
		if err != nil {
			t.Fatal(err)
		}
		w := importertest.NewCount()
		if err := importer.ClaimAs(Format, s)[0].Import(t.Context(), w); err != nil {
			t.Fatal(err)
		}
		if w.Intervals < n-3 || len(w.Reported) == 0 {
			t.Errorf("zeros from byte %d on: %d of %d intervals, report %v", at, w.Intervals, n, w.Reported)
		}
		for _, r := range w.Regions {
			if strings.Contains(r.Name, "\x00") {
				t.Errorf("zeros from byte %d on: region %q", at, r.Name)
			}
		}
	}
}

// A list whose first record is longer than the head of a file is known all the same.
func TestAFirstRecordLongerThanTheHeadIsFound(t *testing.T) {
	long := `[{"name":"a","args":{"source":"` + strings.Repeat("x", 70<<10) + `"},"ph":"X","ts":1,"dur":1,"pid":1,"tid":1}]`
	for text, want := range map[string]int{long: 1, `[{"source":"` + strings.Repeat("x", 70<<10) + `"}]`: 0, `[` + strings.Repeat("1,", 50<<10) + `1]`: 0} {
		s, err := importer.NewSourceFS("x", fstest.MapFS{"x": {Data: []byte(text)}})
		if err != nil {
			t.Fatal(err)
		}
		if got := len(Format.Claim(s)); got != want {
			t.Errorf("%.40s…: %d runs, want %d", text, got, want)
		}
	}
}
