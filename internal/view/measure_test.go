package view_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const measured = `
region main role=compute
region "Box::solve" role=compute
location process r0 rank=0 node=7
  location thread t0
location process r1 rank=1
metric TIME unit=ns default
metric CYC
profile r0/t0 main TIME calls=1 incl=100 excl=40
profile r0/t0 "main => Box::solve" TIME calls=3 incl=60 excl=60
profile r0/t0 main CYC calls=1 incl=1000 excl=400
profile r1 main TIME calls=1 incl=90 excl=90
`

func measure(t *testing.T, s store.Reader, texts ...string) ([]view.Measure, error) {
	t.Helper()
	q := &view.Request{Runs: []view.Run{{Store: s}}, Selection: trace.Selection{End: s.Info().End}}
	return view.MeasureAll(t.Context(), q, []trace.LocationID{1, 2}, texts)
}

func TestMeasuresAreNumbersOfLocations(t *testing.T) {
	s := storetest.Text(t, measured)
	for text, want := range map[string]string{
		"main":                 "[40 90] ns",
		"main:exclusive":       "[40 90] ns",
		"main:inclusive":       "[100 90] ns",
		"main:calls":           "[1 1] count",
		"main:CYC":             "[400 0] ",
		"main:CYC:inclusive":   "[1000 0] ",
		"*:calls":              "[4 1] count",
		"Box::solve":           "[60 0] ns",
		"Box::solve:calls":     "[3 0] count",
		"role:compute":         "[100 90] ns",
		"metadata:NODE":        "[7 NaN] ",
		"rank":                 "[0 1] count",
		"re:^Box.*:inclusive$": "",
	} {
		m, err := measure(t, s, text)
		if want == "" {
			if err == nil {
				t.Errorf("%s is understood as %v", text, m[0].Label)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", text, err)
		} else if got := fmt.Sprintf("%v %s", m[0].Values, m[0].Unit); got != want {
			t.Errorf("%s gives %s, want %s", text, got, want)
		}
	}
}

func TestUnknownMeasuresListTheValidOnes(t *testing.T) {
	s := storetest.Text(t, measured)
	for text, want := range map[string]string{"nobody": "matches none of 2 regions", "main:flops": "TIME or CYC", "counter:x": "the source has none"} {
		if _, err := measure(t, s, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestMeasuresOfATraceFollowItsWindow(t *testing.T) {
	s := storetest.Text(t, `
region a role=compute
location process top
  location process p
    0..100 a
  location process q
    50..60 a
`)
	q := &view.Request{Runs: []view.Run{{Store: s}}, Selection: trace.Selection{Begin: 40, End: 55}}
	m, err := view.MeasureAll(t.Context(), q, []trace.LocationID{1, 2}, []string{"a", "a:calls"})
	if err != nil || fmt.Sprint(m[0].Values, m[1].Values) != "[15 5] [0 1]" {
		t.Errorf("%v %v", m, err)
	}
}

func TestMinimaAndRatesAreNotAddedUp(t *testing.T) {
	for how, want := range map[trace.Join]float64{trace.JoinSum: 12, trace.JoinMin: 2, trace.JoinMax: 7, trace.JoinMean: 4} {
		var j runfacts.Joined
		if j.Value(how) != 0 {
			t.Errorf("%q of nothing is %v", how, j.Value(how))
		}
		for _, v := range []float64{3, 7, 2} {
			j.Add(how, v)
		}
		if j.Value(how) != want || math.IsNaN(want) {
			t.Errorf("%q of 3, 7, 2 is %v, want %v", how, j.Value(how), want)
		}
	}
}
