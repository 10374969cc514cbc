package zipkin

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/importertest"
	"github.com/parallax-hpc/parallax/internal/store/storetest"
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
