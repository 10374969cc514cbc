package topology_test

import (
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view/topology"
)

// rich has what an event can be bound to: metrics, atomic events, metadata; counters are in timed.
const rich = `
region solve role=compute
region MPI_Barrier role=communication
location machine n0 slot=3
  location process p0 rank=0
  location process p1 rank=1 slot=7
location machine n1 slot=4
  location process p2 rank=2
metric time unit=ns default
metric flops
metric size unit=bytes
profile n0/p0 solve time calls=1 incl=90 excl=90
profile n0/p0 solve flops calls=1 incl=7 excl=5
profile n0/p1 solve time calls=2 incl=70 excl=70
profile n0/p1 solve flops calls=2 incl=8 excl=6
profile n1/p2 solve time calls=3 incl=50 excl=50
profile n1/p2 MPI_Barrier time calls=1 incl=40 excl=40
atomic n0/p0 - size count=2 min=1 max=3 mean=2 sumsq=10
atomic n0/p1 solve size count=2 min=4 max=6 mean=5 sumsq=52
atomic n0/p1 MPI_Barrier size count=6 min=1 max=2 mean=1 sumsq=7
`

const timed = `
location process "rank 0" rank=0
  counter power unit=W
  0..100 solve
  10 power=5
  60 power=7
location process "rank 1" rank=1
  counter power unit=W
  0..100 solve
  10 power=2
`

func colours(t *testing.T, trace string, options map[string][]string) []float64 {
	t.Helper()
	c := viewtest.Case{Trace: trace, Options: options}
	d := c.Compute(t, topology.View, c.Open(t)).Data().(topology.Data)
	out := []float64{}
	for _, p := range d.Points {
		v := -1.0
		if p.Color != nil {
			v = *p.Color
		}
		out = append(out, v)
	}
	return out
}

func TestAnEventIsBoundToWhatItsTextNames(t *testing.T) {
	for _, c := range []struct {
		trace, text string
		want        []float64 // -1: undefined
	}{
		{rich, "solve:exclusive", []float64{90, 70, 50}},
		{rich, "*:exclusive", []float64{90, 70, 90}},
		{rich, "solve:calls", []float64{1, 2, 3}},
		{rich, "solve:flops", []float64{5, 6, 0}},
		{rich, "solve:flops:inclusive", []float64{7, 8, 0}},
		{rich, "role:communication", []float64{0, 0, 40}},
		{rich, "metadata:slot", []float64{3, 7, 4}},
		{rich, "atomic:size:mean", []float64{2, 2, -1}},
		{rich, "atomic:size:count", []float64{2, 8, 0}},
		{rich, "atomic:size:min", []float64{1, 1, -1}},
		{rich, "atomic:size", []float64{2, 2, -1}},
		{timed, "counter:power:mean", []float64{6, 2}},
		{timed, "counter:power:max", []float64{7, 2}},
		{timed, "counter:power:last", []float64{7, 2}},
	} {
		t.Run(c.text, func(t *testing.T) {
			got := colours(t, c.trace, map[string][]string{"event0": {c.text}})
			if len(got) != len(c.want) {
				t.Fatalf("%d locations, want %d", len(got), len(c.want))
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("location %d has %v, want %v", i, got[i], c.want[i])
				}
			}
		})
	}
}

func TestAnEventThatCannotBeBoundSaysWhatThereIs(t *testing.T) {
	for text, want := range map[string]string{
		"metadata:height":    "slot",
		"atomic:nothing:min": "no atomic event",
		"counter:heat":       "no counter",
		"nobody:calls":       "nobody",
		"solve:nothing":      "flops",
	} {
		c := viewtest.Case{Trace: rich, Options: map[string][]string{"event1": {text}}}
		_, err := topology.View.Compute(t.Context(), c.Request(t, topology.View, c.Open(t)))
		if err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "event1") {
			t.Errorf("%s: error %v, want one that names event1 and %q", text, err, want)
		}
	}
}

func TestEventsThatALayoutUsesAreBoundToTheLargestRegions(t *testing.T) {
	c := viewtest.Case{Trace: rich, Options: map[string][]string{"layout": {"scatter"}}}
	r := c.Compute(t, topology.View, c.Open(t))
	notes := strings.Join(r.Notes(), "; ")
	for _, want := range []string{"event0 is bound to solve", "event1 is bound to MPI_Barrier"} {
		if !strings.Contains(notes, want) {
			t.Errorf("notes %q do not say %q", notes, want)
		}
	}
}

func TestAFileSaysHowItsPictureBegins(t *testing.T) {
	const text = "text:\nBEGIN_VIZ=a\nx=rank\ny=0\nz=0\nEND_VIZ\nBEGIN_UI=a\nevent0=solve:calls\nevent0.name=visits\nshape=spheres\nmin=2\ncamera=0,90,2\nEND_UI\n"
	c := viewtest.Case{Trace: rich, Options: map[string][]string{"layout": {text}}}
	s := c.Compute(t, topology.View, c.Open(t)).Scene(c.Request(t, topology.View, c.Open(t)).Size)
	m := spaceOf(t, s)
	if s.Legend[0].Label != "visits" || m.Form != 1 || m.Camera.Elevation != 90 || m.Camera.Zoom != 2 || !m.Filter.Ranged || m.Filter.Min != 2 {
		t.Errorf("legend %q, form %d, camera %+v, filter %+v", s.Legend[0].Label, m.Form, m.Camera, m.Filter)
	}
	c.Options["event0"], c.Options["shape"] = []string{"solve:exclusive"}, []string{"bars"}
	if m := spaceOf(t, c.Compute(t, topology.View, c.Open(t)).Scene(c.Request(t, topology.View, c.Open(t)).Size)); m.Form != 2 || m.High != 90 {
		t.Errorf("form %d and values up to %v, want what the user set", m.Form, m.High)
	}
}

func TestEveryExampleIsALayout(t *testing.T) {
	for _, e := range topology.View.Examples {
		for _, way := range []string{e.Name, "strict:" + e.Name + "\n" + e.Text, "text:\n" + e.Text} {
			c := viewtest.Case{Trace: ranks, Options: map[string][]string{"layout": {way}, "event0": {"solve"}, "event1": {"solve"}, "event2": {"solve"}, "event3": {"solve"}}}
			if _, err := topology.View.Compute(t.Context(), c.Request(t, topology.View, c.Open(t))); err != nil && !strings.Contains(err.Error(), "coord") {
				t.Errorf("%s: %v", e.Name, err)
			}
		}
		if e.Note == "" {
			t.Errorf("%s has no note", e.Name)
		}
	}
}
