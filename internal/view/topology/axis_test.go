package topology_test

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/topology"
)

// Ticks are in the unit of what the axis shows, whatever the layout made of the numbers:
// "80 M" beside 80.6 ms helps nobody.
func TestAxesHaveTheUnitOfTheirValues(t *testing.T) {
	const spread = `
location process "rank 0" rank=0
  0..10000000 solve
location process "rank 1" rank=1
  0..40000000 solve
location process "rank 2" rank=2
  0..80000000 solve
`
	labels := func(lines string, a int) string {
		c := viewtest.Case{Trace: spread, Options: map[string][]string{"layout": layoutOf(lines), "event0": {"solve"}}}
		m := spaceOf(t, c.Compute(t, topology.View, c.Open(t)).Scene(scene.Size{Width: 600, Height: 400}))
		var out []string
		for _, x := range m.Axes[a].Ticks {
			out = append(out, x.Label)
			if x.At < m.Axes[a].Begin-1e-9 || x.At > m.Axes[a].End+1e-9 {
				t.Errorf("%s: the tick %s lies at %v, outside of %v … %v", lines, x.Label, x.At, m.Axes[a].Begin, m.Axes[a].End)
			}
		}
		return strings.Join(out, " ")
	}
	for lines, want := range map[string]string{
		"x=event0.val\ny=0\nz=0":                                         "20 ms 40 ms 60 ms 80 ms",
		"restrictDim=1\nx=event0.val\ny=rank\nz=0":                       "20 ms 40 ms 60 ms 80 ms",
		"x=(event0.val-event0.min)/(event0.max-event0.min)\ny=rank\nz=0": "20 ms 40 ms 60 ms 80 ms",
		"x=100-event0.val/1e6\ny=rank\nz=0":                              "80 ms 60 ms 40 ms 20 ms",
		"x=sqrt(event0.val)\ny=rank\nz=0":                                "4,000 6,000 8,000", // no line: numbers, of no unit
	} {
		got := labels(lines, 0)
		if strings.Contains(want, "ms 40") || strings.Contains(want, "ms 60") {
			for _, tick := range strings.Fields("20 40 60 80") {
				if !strings.Contains(got, tick+" ms") {
					t.Errorf("%q: ticks are %q, want %q", lines, got, want)
				}
			}
		} else if strings.Contains(got, "ms") || strings.Contains(got, "M") || got == "" {
			t.Errorf("%q: ticks are %q, want numbers", lines, got)
		}
	}
	if got := labels("restrictDim=0\nx=event0.val\ny=rank*1000\nz=0", 1); !strings.Contains(got, "1,000") && !strings.Contains(got, "1 k") && !strings.Contains(got, "1000") {
		t.Errorf("an axis brought to length 1 has the ticks %q, want those of the layout", got)
	}
}

// The picture says what each event stands for, and who says so.
func TestThePictureSaysWhatIsBound(t *testing.T) {
	layout := "text:a\nBEGIN_VIZ=a\nx=event0.val\ny=event1.val\nz=event2.val\nEND_VIZ\nBEGIN_UI=a\nevent0=MPI_Barrier:exclusive\nevent0.name=waiting\nEND_UI\n"
	c := viewtest.Case{Trace: ranks, Options: map[string][]string{"layout": {layout}, "event1": {"solve:calls"}}}
	r := c.Compute(t, topology.View, c.Open(t))
	var got []string
	for _, x := range r.Scene(scene.Size{Width: 400, Height: 300}).Terms {
		got = append(got, strings.Join([]string{x.Name, x.Text, x.Label, x.By}, "|"))
	}
	want := "event0|MPI_Barrier:exclusive|waiting|layout, event1|solve:calls|solve, calls|user, event2|MPI_Barrier:exclusive|MPI_Barrier, exclusive time|, " +
		"layout|rows|rows 2 × 2 (38.9 %)|, layout|hilbert|Hilbert curve 2 × 2 (0.4 %)|"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("terms are\n%s, want\n%s", s, want)
	}
	if e := r.Data().(topology.Data).Events; len(e) != 3 || e[0].By != "layout" || *e[0].Min != 10 || *e[0].Max != 90 {
		t.Errorf("%+v", e)
	}
}

const neighboursSend = `
location process "rank 0" rank=0
  0..10 solve
location process "rank 1" rank=1
  0..10 solve
location process "rank 2" rank=2
  0..10 solve
link message 1 "rank 0" -> 2 "rank 1" size=100
link message 3 "rank 1" -> 4 "rank 0" size=300
link message 5 "rank 1" -> 6 "rank 2" size=100
`

// What two locations send each other is one line, both ways together.
func TestTrafficRunsBetweenNeighbours(t *testing.T) {
	c := viewtest.Case{Trace: neighboursSend, Options: map[string][]string{"layout": {"plane"}, "traffic": {"shown"}}}
	s := c.Compute(t, topology.View, c.Open(t)).Scene(scene.Size{Width: 400, Height: 300})
	m := spaceOf(t, s)
	if len(m.Links.From) != 2 || m.Links.From[1] != 0 || m.Links.To[1] != 1 || m.Links.Fill[1] != scene.Ramp("viridis", 1) || m.Links.Fill[0] != scene.Ramp("viridis", 0.25) {
		t.Errorf("links are %+v", m.Links)
	}
	if len(s.Legend) != 2 || s.Legend[1].RampHigh != "400 B" {
		t.Errorf("the legend is %+v", s.Legend)
	}
	c.Trace, c.Options["key"] = ranks, []string{"hidden"}
	r := c.Compute(t, topology.View, c.Open(t))
	if s := r.Scene(scene.Size{Width: 400, Height: 300}); len(s.Legend) != 0 || !strings.Contains(strings.Join(s.Notes, "; "), "no traffic to draw") {
		t.Errorf("legend %v, notes %q", s.Legend, s.Notes)
	}
}
