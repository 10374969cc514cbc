package treemap_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/treemap"
)

// profileText is machines as a profile: work and wait of nine processes, in
// multiples of a unit.
func profileText(unit float64) string {
	var b strings.Builder
	b.WriteString("metric time unit=ns default\nmetric size unit=bytes\nmetric instructions\n")
	work := []float64{80, 80, 80, 80, 10, 80, 40, 40, 40}
	for m := range 3 {
		fmt.Fprintf(&b, "location machine m%d\n", m+1)
		for p := range 3 {
			fmt.Fprintf(&b, "  location process p%d rank=%d\n", p+1, 3*m+p)
		}
	}
	for i, w := range work {
		at := fmt.Sprintf("m%d/p%d", i/3+1, i%3+1)
		fmt.Fprintf(&b, "profile %s work time calls=1 incl=%g excl=%g\n", at, 100*unit, w*unit)
		fmt.Fprintf(&b, "profile %s \"work => wait\" time calls=1 incl=%g excl=%g\n", at, (100-w)*unit, (100-w)*unit)
		fmt.Fprintf(&b, "profile %s work size calls=1 incl=%g excl=%g\n", at, w*1024, w*1024)
		fmt.Fprintf(&b, "profile %s work instructions calls=1 incl=%g excl=%g\n", at, w*1e12, w*1e12)
	}
	return b.String()
}

// TestALongProfileKeepsItsThresholds: ten hours a process in nanoseconds have the
// thresholds and cuts of the trace that lasts a hundred.
func TestALongProfileKeepsItsThresholds(t *testing.T) {
	want := data(t, viewtest.Case{Trace: machines})
	long := profileText(3.6e11)
	if got := data(t, viewtest.Case{Trace: long}); len(got.Thresholds) != len(want.Thresholds) {
		t.Fatalf("thresholds %v, want %v", got.Thresholds, want.Thresholds)
	} else {
		for k, p := range want.Thresholds {
			if math.Abs(got.Thresholds[k]-p) > 1e-9 {
				t.Errorf("threshold %v, want %v", got.Thresholds[k], p)
			}
		}
	}
	for _, p := range []string{"0", "0.02", "0.1", "0.3", "0.5", "0.7", "0.9", "0.99", "1"} {
		options := map[string][]string{"p": {p}}
		a, b := paths(data(t, viewtest.Case{Trace: machines, Options: options})),
			paths(data(t, viewtest.Case{Trace: long, Options: options}))
		if a != b {
			t.Errorf("p = %s: parts %q, want %q", p, b, a)
		}
	}
	// The paper's units are seconds here too, and instructions of about what a location has.
	for _, c := range []struct {
		unit   float64
		metric string
	}{{1e7, "exclusive"}, {1, "instructions"}, {1, "size"}} {
		d := data(t,
			viewtest.Case{Trace: profileText(c.unit),
				Options: map[string][]string{"scale": {"paper"}, "metric": {c.metric}}})
		if len(d.Thresholds) < 1 {
			t.Fatalf("%s: thresholds %v", c.metric, d.Thresholds)
		}
		for _, p := range d.Thresholds {
			if p < 0.001 || p > 0.95 {
				t.Errorf("%s: a threshold at p = %v is out of reach", c.metric, p)
			}
		}
	}
}

func TestMetricsAreWhatTheirNameSays(t *testing.T) {
	c := viewtest.Case{Trace: profileText(1e9)}
	for metric, want := range map[string]string{"exclusive": "530000000000 370000000000",
		"inclusive": "900000000000 370000000000", "calls": "9 9", "size": "542720 0",
		"time:inclusive": "900000000000 370000000000"} {
		c.Options = map[string][]string{"metric": {metric}, "p": {"1"}, "values": {"regions"}}
		d := data(t, c)
		if got := fmt.Sprintf("%.0f %.0f", d.Parts[0].Values["work"], d.Parts[0].Values["wait"]); got != want {
			t.Errorf("%s: %s, want %s", metric, got, want)
		}
	}
	r := c.Open(t)
	for _, text := range []string{"nonsense", "time:largest"} {
		values, err := view.NewValues(treemap.View, map[string][]string{"metric": {text}})
		if err != nil {
			t.Fatal(err)
		}
		sel, err := view.Spec{}.Resolve(r)
		if err != nil {
			t.Fatal(err)
		}
		_,
			err = treemap.View.Compute(context.Background(),
			&view.Request{Runs: []view.Run{{Store: r}}, Selection: sel, Values: values})
		if err == nil ||
			!strings.Contains(err.Error(),
				"exclusive, inclusive, calls, time, size or instructions") {
			t.Errorf("--metric %s: %v", text, err)
		}
	}
}

// TestFactsOfAProfileHaveItsUnit: bytes are not written as times.
func TestFactsOfAProfileHaveItsUnit(t *testing.T) {
	c := viewtest.Case{Trace: profileText(1e9), Options: map[string][]string{"metric": {"size"}, "p": {"1"}}}
	result := c.Compute(t, treemap.View, c.Open(t))
	s := result.Scene(scene.Size{Width: 640, Height: 400})
	f, ok, _ := view.PickAt(result, s, 300, 200)
	if text := fmt.Sprint(f.Lines); !ok || !strings.Contains(text, "530 KiB") {
		t.Errorf("facts %v", text)
	}
	if u := result.Table().Columns[3].Unit; u != "bytes" {
		t.Errorf("the column's unit is %q", u)
	}
}
