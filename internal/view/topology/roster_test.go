package topology_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/topology"
)

// cyclic has ranks dealt to hosts one by one, as many launchers do: the tree has
// host0 with ranks 0, 4, 8, 12.
func cyclic(hosts, ranks int) string {
	var b strings.Builder
	for h := range hosts {
		fmt.Fprintf(&b, "location machine host%d\n", h)
		for r := h; r < ranks; r += hosts {
			fmt.Fprintf(&b, "  location process \"rank %d\" rank=%d\n    0..%d solve\n", r, r, r+1)
		}
	}
	return b.String()
}

func points(t *testing.T, c viewtest.Case) []topology.Point {
	t.Helper()
	return c.Compute(t, topology.View, c.Open(t)).Data().(topology.Data).Points
}

func layoutOf(lines string) []string {
	return []string{"strict:t\nBEGIN_VIZ=t\n" + lines + "\nEND_VIZ"}
}

func TestRanksAreThoseOfTheRunWhereverTheyLie(t *testing.T) {
	c := viewtest.Case{Trace: cyclic(4, 16), Options: map[string][]string{"layout": layoutOf("x=rank\ny=index\nz=maxRank*1000+lastRank"), "event0": {"solve"}}}
	seen := 0
	for _, p := range points(t, c) {
		rank := int(*p.Color) - 1 // its time says who it is
		position := rank%4*4 + rank/4
		if float64(*p.X) != float64(rank) || *p.Rank != rank || int(float64(*p.Y)) != position || p.Index != position || float64(*p.Z) != 16015 {
			t.Errorf("rank %d is placed at %v, %v, %v; in the twin it is rank %d, index %d", rank, float64(*p.X), float64(*p.Y), float64(*p.Z), *p.Rank, p.Index)
		}
		seen++
	}
	if seen != 16 {
		t.Errorf("%d points of 16", seen)
	}
	for _, layout := range []string{"fill:4x4x1", "plane"} {
		c.Options["layout"] = []string{layout}
		for _, p := range points(t, c) {
			if rank := int(*p.Color) - 1; int(float64(*p.X)) != rank%4 || int(float64(*p.Y)) != rank/4 {
				t.Errorf("%s: rank %d lies at %v, %v: not in order of rank", layout, rank, float64(*p.X), float64(*p.Y))
			}
		}
	}
}

// What is said of a rank does not depend on who else is looked at.
func TestASelectionMovesNothing(t *testing.T) {
	for name, layout := range map[string][]string{
		"rank": layoutOf("x=rank\ny=index\nz=slot"), "count": layoutOf("x=rank/maxRank\ny=rank/count\nz=rand()"), "block": {"block"}, "sphere": {"sphere"}, "fill": {"fill:3x3x3"},
		"values": layoutOf("x=event0.val-event0.min\ny=event0.mean\nz=event0.max"), "cube": layoutOf("restrictDim=1\nx=event0.val\ny=rank\nz=index"),
		"several": layoutOf("restrictDim=0\nx0=rank\ny0=0\nz0=0\nx1=rank\ny1=event1.val\nz1=1"),
	} {
		c := viewtest.Case{Trace: cyclic(3, 20), Options: map[string][]string{"layout": layout}}
		all := map[[2]uint32][3]float64{}
		for _, p := range points(t, c) {
			all[[2]uint32{uint32(p.Location), uint32(p.Point)}] = [3]float64{float64(*p.X), float64(*p.Y), float64(*p.Z)}
		}
		c.Spec = view.Spec{Locations: []string{"rank:8-13"}}
		some := points(t, c)
		for _, p := range some {
			if got := [3]float64{float64(*p.X), float64(*p.Y), float64(*p.Z)}; got != all[[2]uint32{uint32(p.Location), uint32(p.Point)}] || *p.Rank < 8 || *p.Rank > 13 {
				t.Errorf("%s: rank %d moves to %v from %v when fewer are selected", name, *p.Rank, got, all[[2]uint32{uint32(p.Location), uint32(p.Point)}])
			}
		}
		if want := 6 * len(all) / 20; len(some) != want {
			t.Errorf("%s: %d points of the selection, want %d", name, len(some), want)
		}
	}
}

// Threads share a rank: what goes by rank says so, what goes by slot tells them apart.
func TestThreadsOfARankHaveTheirOwnPlaces(t *testing.T) {
	const threads = `
location process "rank 1" rank=1
  location thread a context=2 thread=5
    0..10 solve
  location thread b context=2 thread=9
    0..20 solve
location process "rank 0" rank=0
  location thread c
    0..30 solve
location thread lost
  0..40 solve
`
	c := viewtest.Case{Trace: threads, Options: map[string][]string{"layout": layoutOf("x=slot\ny=thread\nz=context"), "event0": {"solve"}}}
	var got []string
	for _, p := range points(t, c) {
		got = append(got, fmt.Sprintf("%v: %v %v %v", *p.Color, float64(*p.X), float64(*p.Y), float64(*p.Z)))
	}
	if s := strings.Join(got, ", "); s != "30: 0 0 0, 10: 1 5 2, 20: 2 9 2, 40: 3 0 0" {
		t.Error(s)
	}
	c.Options["layout"] = layoutOf("x=rank\ny=0\nz=maxRank")
	c.Options["numbering"] = []string{"processes"}
	r := c.Compute(t, topology.View, c.Open(t))
	d := r.Data().(topology.Data)
	if d.Unplaced != 1 || d.Points[3].Rank != nil || float64(*d.Points[1].X) != 1 || float64(*d.Points[2].X) != 1 || float64(*d.Points[0].Z) != 2 {
		t.Errorf("%+v", d)
	}
	if notes := strings.Join(r.Notes(), "; "); !strings.Contains(notes, "1 locations have the rank of another") || !strings.Contains(notes, "1 locations have no rank") {
		t.Errorf("notes are %q", notes)
	}
	delete(c.Options, "numbering")
	c.Trace = strings.NewReplacer(" context=2 thread=5", "", " context=2 thread=9", "").Replace(threads)
	c.Options["layout"] = layoutOf("x=thread\ny=node\nz=0")
	if p := points(t, c); float64(*p[1].X) != 0 || float64(*p[2].X) != 1 || float64(*p[2].Y) != 1 {
		t.Errorf("without numbers of its own the second thread of rank 1 is %v of %v", float64(*p[2].X), float64(*p[2].Y))
	}
}

// The paper's layouts know no number but rank, and are applied to each thread: 32 threads
// of 4 ranks have 32 places.
func TestLayoutsOfRanksPlaceEachThread(t *testing.T) {
	var b strings.Builder
	for rank := range 4 {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n", rank, rank)
		for thread := range 8 {
			fmt.Fprintf(&b, "  location thread t%d\n    0..%d solve\n", thread, 10+rank*8+thread)
		}
	}
	for text, want := range map[string]struct {
		numbering string
		places    int
		note      string
	}{
		"x=mod(rank,8)\ny=floor(rank/8)\nz=maxRank-32":                            {"auto", 32, "rank numbers all 32 locations"},
		"x=rank\ny=lastRank-31\nz=0":                                              {"auto", 32, "--numbering processes"},
		"x=rank\ny=thread\nz=maxRank-4":                                           {"auto", 32, ""},
		"x=rank\ny=0\nz=maxRank-4":                                                {"processes", 4, "28 locations have the rank of another"},
		"x=slot\ny=rank\nz=maxRank-4":                                             {"auto", 32, ""},
		"x=rank\ny=thread\nz=maxRank-32":                                          {"threads", 32, "rank numbers all 32 locations"},
		"rootRanks=sqrt(maxRank-16)\nx=mod(rank,rootRanks)\ny=floor(rank/4)\nz=0": {"auto", 32, "maxRank is their number"},
	} {
		c := viewtest.Case{Trace: b.String(), Options: map[string][]string{"layout": layoutOf(text), "numbering": {want.numbering}}}
		r := c.Compute(t, topology.View, c.Open(t))
		places := map[[3]float64]bool{}
		for _, p := range r.Data().(topology.Data).Points {
			if places[[3]float64{float64(*p.X), float64(*p.Y), float64(*p.Z)}] = true; strings.Contains(text, "z=maxRank") && float64(*p.Z) != 0 || *p.Rank > 3 {
				t.Errorf("%s: %+v", text, p)
			}
		}
		if notes := strings.Join(r.Notes(), "; "); len(places) != want.places || !strings.Contains(notes, want.note) || want.note == "" && strings.Contains(notes, "rank") {
			t.Errorf("%s: %d places, want %d; notes %q", text, len(places), want.places, notes)
		}
	}
}

// Every point of a location counts: where it lies, whether it is shown, its value.
func TestSeveralPointsOfALocationCountEach(t *testing.T) {
	c := viewtest.Case{Trace: many(4), Options: map[string][]string{
		"layout": layoutOf("x0=rank\ny0=0\nz0=0\ncolor0=rank\nx1=if(rank<2,1/0,rank)\ny1=1\nz1=0\ncolor1=10+rank"), "min": {"2"}, "max": {"12"},
	}}
	r := c.Compute(t, topology.View, c.Open(t))
	d := r.Data().(topology.Data)
	var visible []string
	for _, p := range d.Points {
		visible = append(visible, fmt.Sprintf("%d.%d:%v", *p.Rank, p.Point, p.Visible))
	}
	// Shown are the values 2 … 12: of the first points 2 and 3, of the second 12.
	if s := strings.Join(visible, " "); s != "0.0:false 1.0:false 2.0:true 3.0:true 0.1:false 1.1:false 2.1:true 3.1:false" {
		t.Error(s)
	}
	if d.Unplaced != 2 || *d.Mean != (0+1+2+3+12+13)/6.0 {
		t.Errorf("%d unplaced, mean %v; want 2 and %v", d.Unplaced, *d.Mean, 31/6.0)
	}
	if mean, n := spaceOf(t, r.Scene(scene.Size{Width: 400, Height: 300})).Mean(); n != 6 || mean != float64(*d.Mean) {
		t.Errorf("the picture has %d points of mean %v", n, mean)
	}
}

func TestMetadataIsFoundWhereverItIsKept(t *testing.T) {
	const text = `
property "CPU Cores" 16
property "CPU Type" fast
location machine n0 slots=3
  location process p0 rank=0 bytes=7
    0..10 solve
  location process p1 rank=1
    0..10 solve
`
	c := viewtest.Case{Trace: text, Options: map[string][]string{"layout": layoutOf("x=metadata(cpu cores)\ny=metadata(slots)\nz=metadata(bytes)")}}
	r := c.Compute(t, topology.View, c.Open(t))
	d := r.Data().(topology.Data)
	if float64(*d.Points[0].X) != 16 || float64(*d.Points[1].X) != 16 || float64(*d.Points[1].Y) != 3 || float64(*d.Points[0].Z) != 7 || float64(*d.Points[1].Z) != 0 {
		t.Errorf("%+v", d.Points)
	}
	if notes := strings.Join(r.Notes(), "; "); !strings.Contains(notes, `1 of 2 locations have no number under the metadata "bytes"`) || strings.Contains(notes, "CPU") {
		t.Errorf("notes are %q", notes)
	}
	c.Options["layout"] = layoutOf("x=metadata(Cores)\ny=metadata(CPU Type)\nz=0")
	r = c.Compute(t, topology.View, c.Open(t))
	if notes := strings.Join(r.Notes(), "; "); !strings.Contains(notes, `no metadata is called "Cores", it counts as 0; there are CPU Cores, bytes, slots`) || !strings.Contains(notes, `"CPU Type" is no number, such as "fast"`) {
		t.Errorf("notes are %q", notes)
	}
	c.Options = map[string][]string{"event0": {"metadata:CPU Cores"}}
	if v := colours(t, text, c.Options); v[0] != 16 || v[1] != 16 {
		t.Errorf("bound to the run's metadata: %v", v)
	}
	c.Options["event0"] = []string{"metadata:Cores"}
	if _, err := topology.View.Compute(t.Context(), c.Request(t, topology.View, c.Open(t))); err == nil || !strings.Contains(err.Error(), "there are CPU Cores") {
		t.Errorf("an unknown key is bound: %v", err)
	}
}
