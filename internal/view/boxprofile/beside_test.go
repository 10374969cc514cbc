package boxprofile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/boxprofile"
)

func TestTwoRunsHaveABoxEachOfAllTheirCalls(t *testing.T) {
	before := "location process a rank=0\n  0..10 f\n  20..30 f\n  40..45 g\nlocation process b rank=1\n  0..40 f\n"
	after := "region h\nlocation process a rank=0\n  0..20 f\n  30..50 f\n  50..53 h\nlocation process b rank=1\n  0..60 f\n"
	c := viewtest.Case{Trace: before, Others: []string{after}}
	d := c.Compute(t, boxprofile.View, c.Open(t)).Data().(boxprofile.Data)
	var got []string
	for _, x := range d.Rows {
		got = append(got, fmt.Sprintf("%s %s %v calls, median %v", x.Region, x.Run, x.Count, *x.Q50))
	}
	want := "f test 3 calls, median 10, f test2 3 calls, median 20, g test 1 calls, median 5, h test2 1 calls, median 3"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("boxes\n%s\nwant\n%s", text, want)
	}
	if d.Regions[0].Region != "f" || d.Regions[0].Differs != 20 {
		t.Errorf("the region that differs most is %+v: f takes 60 ns and 100 ns, so 20 would have to move", d.Regions[0])
	}
}

func TestTwoRunsOverLocations(t *testing.T) {
	run := func(a, b int) string {
		return fmt.Sprintf("location process a rank=0\n  0..%d f\nlocation process b rank=1\n  0..%d f\n", a, b)
	}
	c := viewtest.Case{Trace: run(10, 20), Others: []string{run(30, 50)}, Options: map[string][]string{"over": {"locations"}}}
	d := c.Compute(t, boxprofile.View, c.Open(t)).Data().(boxprofile.Data)
	if len(d.Rows) != 2 || *d.Rows[0].Q50 != 15 || *d.Rows[1].Q50 != 40 || d.Rows[1].Run != "test2" || d.Rows[1].Total != 80 {
		t.Errorf("medians over locations: %+v", d.Rows)
	}
}
