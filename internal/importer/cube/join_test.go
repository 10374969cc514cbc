package cube

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestMinimaMaximaAndRatesSayThatTheyDoNotAddUp(t *testing.T) {
	r := importertest.Import(t, Format, filepath.Join("testdata", "values.cubex"))
	want := map[string]trace.Join{"MINDOUBLE": trace.JoinMin, "MAXDOUBLE": trace.JoinMax, "RATE": trace.JoinMean}
	for _, m := range r.Metrics() {
		if m.Join != want[m.Name] {
			t.Errorf("%s joins by %q, want %q", m.Name, m.Join, want[m.Name])
		}
	}
	kripke := importertest.Import(t, Format, filepath.Join("testdata", "kripke.cubex"))
	for _, m := range kripke.Metrics() {
		if want := map[string]trace.Join{"min_time": trace.JoinMin, "max_time": trace.JoinMax}[m.Name]; m.Join != want {
			t.Errorf("%s joins by %q, want %q", m.Name, m.Join, want)
		}
	}
}

func TestOnlyLinearExpressionsAddUp(t *testing.T) {
	lookup := func(string) (*definition, bool) { return &definition{}, true }
	for text, want := range map[string]bool{
		"metric::a() + metric::b()":                 true,
		"-(metric::a() - 2*metric::b())/4":          true,
		"metric::a()*(1+2)":                         true,
		"metric::a() / metric::b()":                 false,
		"metric::a() * metric::b()":                 false,
		"metric::a() + 1":                           false,
		"100*metric::a()/(metric::a()+metric::b())": false,
		"2 / metric::a()":                           false,
	} {
		e, err := parseExpression(text, lookup)
		if err != nil {
			t.Fatal(err)
		}
		if e.linear() != want {
			t.Errorf("%s is linear: %v", text, !want)
		}
	}
}

func TestUnevaluatedMetricsAreReported(t *testing.T) {
	said := func(path, what string) int64 {
		for _, e := range importertest.Import(t, Format, path).Info().Report {
			if strings.Contains(e.What, what) {
				return e.Count
			}
		}
		return 0
	}
	if n := said(filepath.Join("testdata", "values.cubex"), "SCALE_FUNC"); n != 1 {
		t.Errorf("%d metrics of functions are reported", n)
	}
	file := filepath.Join(importertest.Shared(t, "public/cubex/hwcounters-128ranks"), "L3_DCA_negative.cubex")
	if n := said(file, "remapping.spec"); n < 50 {
		t.Errorf("%d programs of remapping.spec are reported", n)
	}
}
