package timeline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// deepText has two ranks with four levels, and one with one.
func deepText() string {
	var b strings.Builder
	b.WriteString("region main role=compute\nregion step role=compute\nregion solve role=compute\nregion MPI_Send role=communication\n")
	for rank := range 3 {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n  0..10ms main\n", rank, rank)
		for i := range 4 {
			if rank < 2 {
				fmt.Fprintf(&b, "    %dus..%dus step\n      %dus..%dus solve\n        %dus..%dus MPI_Send\n",
					2000*i+100, 2000*i+1900, 2000*i+200, 2000*i+1500, 2000*i+300, 2000*i+900)
			}
		}
	}
	return b.String()
}

var autoDepth = map[string][]string{"depth": {"auto"}}

func TestDepthFollowsTheHeightOfRows(t *testing.T) {
	reader := storetest.Text(t, deepText(), all.Summaries...)
	for _, c := range []struct {
		height, levels int
		clipped        bool
	}{{90, 0, false}, {112, 2, true}, {140, 3, true}, {160, 4, false}, {900, 4, false}} {
		r := computeFor(t, reader, view.Spec{}, autoDepth, scene.Size{Width: 700, Height: c.height})
		if r.levels != c.levels || r.clipped != c.clipped {
			t.Errorf("%d pixels: %d levels, clipped %v; want %d, %v", c.height, r.levels, r.clipped, c.levels, c.clipped)
		}
	}
}

// With too little room the lowest level has what is innermost, so that nothing short of the outermost is lost.
func TestTheLowestLevelShowsTheInnermost(t *testing.T) {
	reader := storetest.Text(t, deepText(), all.Summaries...)
	r := computeFor(t, reader, view.Spec{}, autoDepth, scene.Size{Width: 700, Height: 112})
	list := r.leaves[0].list
	if len(list) != 2 || list[0].level != 0 || list[1].level != -1 {
		t.Fatalf("%+v", list)
	}
	var got []string
	for _, s := range list[1].spans[:5] {
		got = append(got, fmt.Sprint(r.regions[s.region].Name, " ", s.begin/1000, "-", s.end/1000))
	}
	want := []string{"step 100-200", "solve 200-300", "MPI_Send 300-900", "solve 900-1500", "step 1500-1900"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if one := r.leaves[2].list; len(one) != 1 || one[0].level != 0 {
		t.Errorf("a location of one level has %d strips", len(one))
	}
}

// Rows must not change their heights while the window moves.
func TestLevelsStayWhileTheWindowMoves(t *testing.T) {
	reader := storetest.Text(t, deepText(), all.Summaries...)
	for _, spec := range []view.Spec{{}, {From: "8100us", To: "9ms"}, {From: "320us", To: "330us"}} {
		if r := computeFor(t, reader, spec, autoDepth, scene.Size{Width: 700, Height: 400}); r.levels != 4 || r.clipped {
			t.Errorf("%+v: %d levels", spec, r.levels)
		}
	}
}

func TestGoroutinesAreRowsByFunctionTheBusiestFirst(t *testing.T) {
	var b strings.Builder
	b.WriteString("region run role=compute\nregion wait role=idle\nlocation group goroutines\n")
	for f := range 30 {
		fmt.Fprintf(&b, "  location group \"pkg.f%d\"\n", f)
		for g := range 3 {
			fmt.Fprintf(&b, "    location goroutine \"goroutine %d\"\n      0..%d run\n      500..900 wait\n", 10*f+g, 10+(f*7)%30)
		}
	}
	b.WriteString("location processor \"P 0\"\n  0..900 run\n")
	reader := storetest.Text(t, b.String(), all.Summaries...)
	r := computeFor(t, reader, view.Spec{}, map[string][]string{"only": {"kind:goroutine"}}, scene.Size{Width: 700, Height: 200})
	last := r.rows[len(r.rows)-1]
	if len(r.rows) > 16 || !strings.HasSuffix(last.label, " functions") {
		t.Fatalf("%d rows, the last is %q", len(r.rows), last.label)
	}
	sum, before := 0, trace.Time(1<<62)
	for i, w := range r.rows {
		if w.kind == header {
			continue
		}
		sum += w.count
		var busy trace.Time
		for b := range r.groups[i].bins {
			busy += r.groups[i].time[b*trace.RoleCount+int(trace.RoleCompute)]
		}
		if i+1 < len(r.rows) && busy > before {
			t.Errorf("%s is busy for %d, the row before for %d", w.label, busy, before)
		}
		before = busy
	}
	if sum != 90 {
		t.Errorf("rows stand for %d goroutines, want 90", sum)
	}
}
