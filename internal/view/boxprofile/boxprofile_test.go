package boxprofile_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/boxprofile"
)

// Four ranks that send and receive from two callers; rank 3 waits long, rank 0
// alone prints. Times in µs.
func pingPong() string {
	var b strings.Builder
	b.WriteString("region main role=compute\nregion solve role=compute category=HPL\nregion MPI_Send role=communication category=MPI\nregion MPI_Recv role=communication category=MPI\nregion HPL_fprintf role=io category=HPL\n")
	for rank := range 4 {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n  0..2ms main\n", rank, rank)
		if rank == 0 {
			b.WriteString("    1us..3us HPL_fprintf\n")
		}
		fmt.Fprintf(&b, "    100us..1900us solve\n")
		for i := range 12 {
			at := 110 + 100*i
			fmt.Fprintf(&b, "      %dus..%dus MPI_Send\n", at, at+5+i%3)
			fmt.Fprintf(&b, "      %dus..%dus MPI_Recv\n", at+20, at+22+i*i%(7+rank)+20*(rank/3))
		}
		b.WriteString("    1910us..1915us MPI_Send\n")
	}
	return b.String()
}

const profileText = `
region main role=compute
region MPI_Send role=communication
location process "rank 0" rank=0
location process "rank 1" rank=1
location process "rank 2" rank=2
metric time unit=ns default
profile "rank 0" "main" time calls=1 incl=100 excl=60
profile "rank 0" "main => MPI_Send" time calls=4 incl=40 excl=40
profile "rank 1" "main" time calls=1 incl=100 excl=80
profile "rank 1" "main => MPI_Send" time calls=2 incl=20 excl=20
profile "rank 2" "main" time calls=1 incl=90 excl=90
`

func TestView(t *testing.T) {
	text := pingPong()
	viewtest.Run(t, boxprofile.View,
		viewtest.Case{Name: "four ranks", Trace: text},
		viewtest.Case{Name: "inclusive linear most called", Trace: text, Options: map[string][]string{"metric": {"inclusive"}, "value-scale": {"linear"}, "order": {"calls"}, "top": {"2"}}},
		viewtest.Case{Name: "one caller", Trace: text, Options: map[string][]string{"caller": {"main"}, "hide": {"solve"}}},
		viewtest.Case{Name: "over locations", Trace: text, Options: map[string][]string{"over": {"locations"}}},
		viewtest.Case{Name: "categories in a window", Trace: text, Spec: view.Spec{From: "200us", To: "900us", Locations: []string{"rank:0-1"}}, Options: map[string][]string{"by": {"categories"}}},
		viewtest.Case{Name: "many", NoGolden: true, Reader: func(tb testing.TB) store.Reader {
			return viewtest.Local(tb, func(w trace.Writer) { viewtest.WriteSteps(w, 300, 30000) })
		}},
	)
}

func data(t *testing.T, c viewtest.Case) boxprofile.Data {
	t.Helper()
	return viewtest.Decoded[boxprofile.Data](t, c.Compute(t, boxprofile.View, c.Open(t)))
}

func find(d boxprofile.Data, region, path string) *boxprofile.Row {
	for i := range d.Rows {
		if d.Rows[i].Region == region && d.Rows[i].Path == path {
			return &d.Rows[i]
		}
	}
	return nil
}

func TestCallsByHand(t *testing.T) {
	text := pingPong()
	d := data(t, viewtest.Case{Trace: text})
	if x := find(d, "MPI_Send", "rank 1"); x == nil || x.Count != 13 || x.Total != 77000 || *x.Min != 5000 || *x.Max != 7000 || *x.Q50 != 6000 || !x.Exact {
		t.Errorf("%+v", x)
	}
	if find(d, "HPL_fprintf", "rank 0") == nil || find(d, "HPL_fprintf", "rank 2") != nil {
		t.Error("HPL_fprintf is called on rank 0 alone")
	}
	// MPI_Recv takes 20 µs longer on rank 3, and what it takes longer solve has less.
	if d.Regions[0].Region != "MPI_Recv" && d.Regions[0].Region != "solve" {
		t.Errorf("the region that differs most is %s", d.Regions[0].Region)
	}
	d = data(t, viewtest.Case{Trace: text, Options: map[string][]string{"caller": {"main"}}})
	if x := find(d, "MPI_Send", "rank 1"); x == nil || x.Count != 1 || *x.Q02 != 5000 || *x.Q98 != 5000 || *x.SD != 0 {
		t.Errorf("from main: %+v", x)
	}
	d = data(t, viewtest.Case{Trace: text, Options: map[string][]string{"path": {"main;solve"}, "metric": {"inclusive"}}})
	if x := find(d, "MPI_Send", "rank 1"); x == nil || x.Count != 12 {
		t.Errorf("along main;solve: %+v", x)
	}
}

// TestCallsBelongToTheWindowInWhichTheyBegin at their full duration.
func TestCallsBelongToTheWindowInWhichTheyBegin(t *testing.T) {
	d := data(t, viewtest.Case{Trace: pingPong(), Spec: view.Spec{From: "112us", To: "312us", Locations: []string{"rank:0"}}})
	if x := find(d, "MPI_Send", "rank 0"); x == nil || x.Count != 2 || x.Total != 13000 {
		t.Errorf("%+v", x)
	}
	// main is open all the time, and innermost never: solve is.
	if x := find(d, "main", "rank 0"); x == nil || x.Count != 0 || x.Cut != 1 || x.CutTime != 0 || d.Overlap != 3 {
		t.Errorf("%d calls overlap the begin, want main, solve and MPI_Send", d.Overlap)
	}
}

// What Figure 11 is read for: counts that differ between processes, and a whisker far to the right of its box.
func TestCountsAndFarWhiskersAreRead(t *testing.T) {
	text := ""
	for rank, calls := range []int{10, 60} {
		text += fmt.Sprintf("location process \"rank %d\" rank=%d\n  0..10ms main\n", rank, rank)
		for i := range calls {
			length := 2
			if i%20 == 19 {
				length = 80
			}
			text += fmt.Sprintf("    %dus..%dus MPI_Recv\n", 100*i, 100*i+length)
		}
	}
	d := data(t, viewtest.Case{Trace: text})
	few, many := find(d, "MPI_Recv", "rank 0"), find(d, "MPI_Recv", "rank 1")
	if few == nil || many == nil || few.Count != 10 || many.Count != 60 || *few.Q98 != 2000 || *many.Q75 != 2000 || *many.Q98 != 80000 {
		t.Errorf("%+v, %+v", few, many)
	}
}

func TestOverLocationsIsOneBoxARegion(t *testing.T) {
	for name, c := range map[string]viewtest.Case{
		"asked for": {Trace: profileText, Options: map[string][]string{"over": {"locations"}}},
		"a profile": {Trace: profileText},
	} {
		d := data(t, c)
		x := find(d, "MPI_Send", "")
		if len(d.Rows) != 2 || x == nil || x.Location != nil || x.Count != 2 || x.Total != 60 || *x.Q50 != 30 || *x.Min != 20 || math.Abs(*x.SD-10) > 1e-12 {
			t.Errorf("%s: %+v", name, d.Rows)
		}
	}
	d := data(t, viewtest.Case{Trace: profileText, Options: map[string][]string{"metric": {"calls"}}})
	if x := find(d, "MPI_Send", ""); x == nil || *x.Q50 != 3 || d.Unit != "count" {
		t.Errorf("%+v", x)
	}
}

func TestManyLocationsAreDrawnAsGroupsAndSaidSo(t *testing.T) {
	c := viewtest.Case{Reader: func(tb testing.TB) store.Reader {
		return viewtest.Local(tb, func(w trace.Writer) { viewtest.WriteSteps(w, 200, 40000) })
	}}
	r := c.Open(t)
	result := c.Compute(t, boxprofile.View, r)
	if n := result.Notes(); len(n) == 0 || !strings.Contains(n[0], "too many") {
		t.Errorf("notes %q", n)
	}
	d := result.Data().(boxprofile.Data)
	members, calls := 0, map[string]float64{}
	for _, g := range d.Groups {
		members += len(g.Members)
		for _, b := range g.Boxes {
			calls[b.Region] += b.Count
		}
	}
	for _, x := range d.Rows {
		calls[x.Region] -= x.Count
	}
	for region, n := range calls {
		if n != 0 {
			t.Errorf("groups have %v more calls of %s than locations", n, region)
		}
	}
	if members != 200 {
		t.Errorf("%d members", members)
	}
}

func TestWrongOptionsListTheValidValues(t *testing.T) {
	c := viewtest.Case{Trace: pingPong()}
	for want, options := range map[string]map[string][]string{
		"want exclusive, inclusive or calls": {"metric": {"cycles"}},
		"matches no region":                  {"caller": {"nobody"}},
		"want differs, calls":                {"order": {"upside-down"}},
		"use --over locations":               {"metric": {"calls"}, "over": {"calls"}},
	} {
		at := c
		at.Options = options
		if _, err := boxprofile.View.Compute(t.Context(), at.Request(t, boxprofile.View, at.Open(t))); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: error %v, want %q", options, err, want)
		}
	}
}
