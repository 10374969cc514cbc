package zipkin

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestFormat(t *testing.T) {
	importertest.Run(t, Format, []importertest.Case{
		{Path: "odd.json"},
		{Path: "skew.json"},
		{Path: "yelp.json"},
		{Path: "messaging-kafka.json"},
	})
}

func FuzzReader(f *testing.F) {
	importertest.Fuzz(f, Format, "x.json", "testdata/odd.json", "testdata/skew.json")
}

// 1,041 spans in one trace, of which 175 have no duration.
func TestEverySpanOfALargeTraceIsKept(t *testing.T) {
	r := importertest.Import(t, Format, importertest.Shared(t, "public/zipkin/smartthings/smartthings-mobile-web-install.json"))
	if i := r.Info(); i.Intervals != 1041 || i.Properties["traces"] != "1" {
		t.Errorf("%d spans in %s traces, want 1041 in 1", i.Intervals, i.Properties["traces"])
	}
	report := importertest.Report(r.Info().Report)
	for what, want := range map[string]int64{
		"guessed spans without duration: drawn as empty":                   175,
		"guessed spans without time: they begin with their parent":         84,
		"guessed spans whose parent is not in the source: taken for roots": 0,
	} {
		if report[what] != want {
			t.Errorf("%s: %d, want %d", what, report[what], want)
		}
	}
	for _, x := range r.Regions() { // 120 are called a line feed
		if strings.TrimSpace(x.Name) == "" {
			t.Errorf("a region is called %q, which nobody can see", x.Name)
		}
	}
	services := 0
	for _, k := range r.Locations().Kind {
		if k == "service" {
			services++
		}
	}
	if services != 16 {
		t.Errorf("%d services, want 16", services)
	}
}

// Endpoints come in turns, more of them than are remembered: each span is at its own.
func TestEverySpanIsAtItsOwnAddress(t *testing.T) {
	var b strings.Builder
	for i := range 3000 {
		k := i * 7 % 200
		fmt.Fprintf(&b, `,{"traceId":"a","id":"%016x","name":"at %d","timestamp":%d,"duration":1,"localEndpoint":{"serviceName":"s%d","ipv4":"10.0.%d.%d","port":%d}}`, i+1, k, 1000+i, k/40, k/16, k%16, 8000+k%3)
	}
	m := storetest.NewMemory()
	s, err := importer.NewSourceFS("x", fstest.MapFS{"x.json": {Data: []byte("[" + b.String()[1:] + "]")}})
	if err != nil {
		t.Fatal(err)
	}
	if err := importer.ClaimAs(Format, s)[0].Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	r := m.Reader()
	tree := r.Locations()
	var seen atomic.Int64 // locations come side by side
	err = r.Intervals(t.Context(), store.Window{End: r.Info().End + 1}, func(c *trace.Columns) error {
		for _, region := range c.Region {
			k, err := strconv.Atoi(strings.TrimPrefix(r.Regions()[region].Name, "at "))
			if want := fmt.Sprintf("10.0.%d.%d:%d", k/16, k%16, 8000+k%3); err != nil || tree.Name[c.Location] != want || tree.Name[tree.Parent[c.Location]] != fmt.Sprint("s", k/40) {
				t.Errorf("a span of %s is at %s", want, tree.Path(c.Location))
			}
			seen.Add(1)
		}
		return nil
	})
	if err != nil || seen.Load() != 3000 {
		t.Errorf("%d spans, %v", seen.Load(), err)
	}
}

// skew.json is Zipkin's own sample of a callee whose clock is behind. Asked to, the
// reader moves it so that the call lies within its caller's.
func TestClocksAreFittedWhenAsked(t *testing.T) {
	s, err := importer.NewSource("testdata/skew.json")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	run := importer.ClaimAs(Format, s)[0]
	run.Options.Align = "messages"
	m := storetest.NewMemory()
	if err := run.Import(t.Context(), m); err != nil {
		t.Fatal(err)
	}
	r := m.Reader()
	report := importertest.Report(r.Info().Report)
	if n := report["repaired instances whose clocks were moved, as asked by --align"]; n != 1 {
		t.Errorf("%d clocks moved, want 1: %v", n, report)
	}
	for what := range report {
		if strings.Contains(what, "clocks disagree") {
			t.Errorf("still reported: %s", what)
		}
	}
	if r.Info().Properties["clock alignment"] == "" {
		t.Error("the alignment is not among the properties")
	}
}
