package groups_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/grouping"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/groups"
)

// Six workers, of which rank 4 waits thrice as long, and two writers.
func writers() string {
	var b strings.Builder
	b.WriteString("region solve role=compute\nregion MPI_Wait role=communication\nregion write role=io\n")
	for p := range 8 {
		wait := 20
		if p == 4 {
			wait = 60
		}
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n  0..200 main\n    10..%d solve\n      20..%d MPI_Wait\n", p, p, 110+wait, 20+wait+p%2)
		if p >= 6 {
			b.WriteString("    180..190 write\n")
		}
	}
	return b.String()
}

func TestView(t *testing.T) {
	text := writers()
	viewtest.Run(t, groups.View,
		viewtest.Case{Name: "three groups", Trace: text, Options: map[string][]string{"k": {"3"}}},
		viewtest.Case{Name: "structure", Trace: text, Options: map[string][]string{"similarity": {"structure"}, "closure": {"dynamic"}}},
		viewtest.Case{Name: "all as one", Trace: text, Options: map[string][]string{"k": {"1"}}, Spec: view.Spec{From: "5", To: "190"}},
		viewtest.Case{Name: "one location", Trace: text, Spec: view.Spec{Locations: []string{"rank:0"}}},
		viewtest.Case{Name: "many", NoGolden: true, Reader: func(tb testing.TB) store.Reader {
			return viewtest.Local(tb, func(w trace.Writer) { viewtest.WriteSteps(w, 150, 15000) })
		}},
	)
}

func TestASampleOfManyLocationsIsNoted(t *testing.T) {
	r := viewtest.Local(t, func(w trace.Writer) { viewtest.WriteSteps(w, 1200, 12000) })
	c := viewtest.Case{}
	result := c.Compute(t, groups.View, r)
	if n := strings.Join(result.Notes(), "; "); !strings.Contains(n, "1,000 of 1,200 locations are compared each with each") {
		t.Errorf("notes %q", n)
	}
	if err := viewtest.CheckScene(result.Scene(viewtest.Sizes[4])); err != nil {
		t.Error(err)
	}
	if d := result.Data().(groups.Data); len(d.Order) != 1200 || len(d.Similarity.Values) != 1000 {
		t.Errorf("order of %d, %d compared", len(d.Order), len(d.Similarity.Values))
	}
}

func data(t *testing.T, c viewtest.Case) groups.Data {
	t.Helper()
	return viewtest.Decoded[groups.Data](t, c.Compute(t, groups.View, c.Open(t)))
}

func TestGroupsAndWhatSetsThemApart(t *testing.T) {
	d := data(t, viewtest.Case{Trace: writers(), Options: map[string][]string{"k": {"3"}}})
	if len(d.Groups) != 3 || d.Groups[0].Names != "rank 0–3, 5" || d.Groups[1].Names != "rank 6, 7" || d.Groups[2].Names != "rank 4" {
		t.Fatalf("groups %+v", d.Groups)
	}
	if x := d.Groups[1].Differs[0]; x.Region != "write" || x.Caller != "main" || x.Effect != 1 {
		t.Errorf("%+v", x)
	}
	found := false
	for _, x := range d.Groups[2].Differs {
		found = found || x.Region == "MPI_Wait" && x.Effect > 0
	}
	if !found {
		t.Errorf("rank 4: %+v", d.Groups[2].Differs)
	}
	var said strings.Builder
	for _, g := range d.Groups {
		fmt.Fprintf(&said, "%s\n", g.Names)
		for _, x := range g.Differs {
			fmt.Fprintf(&said, "  %s\n", x.Text)
		}
	}
	viewtest.GoldenText(t, "sentences.txt", said.String())
	if len(d.Partial) != 1 || d.Partial[0].Region != "write" || d.Partial[0].Count != 2 || d.Classes != 2 {
		t.Errorf("partial %+v, %d classes", d.Partial, d.Classes)
	}
	if len(d.Order) != 8 || len(d.Similarity.Values) != 8 {
		t.Errorf("order %v", d.Order)
	}
}

// TestTheStragglerIsAGroupOfItsOwn: rank 5 of a real training job of eight.
func TestTheStragglerIsAGroupOfItsOwn(t *testing.T) {
	r := viewtest.Import(t, "data", "kineto-ddp-8rank")
	c := viewtest.Case{Options: map[string][]string{"rows": {"all"}}}
	d := c.Compute(t, groups.View, r).Data().(groups.Data)
	last := d.Groups[len(d.Groups)-1]
	if len(d.Groups) != 2 || last.Names != "rank 5" || len(last.Differs) == 0 {
		t.Fatalf("%d groups, the last is %s", len(d.Groups), last.Names)
	}
	// By processors it is its GPU alone, beside a thread that alone allocates memory.
	d = (&viewtest.Case{}).Compute(t, groups.View, r).Data().(groups.Data)
	if n := len(d.Groups); n != 4 || d.Groups[2].Names != "rank 5/GPU 0" || d.Groups[3].Names != "rank 7/thread 458 (python3)" {
		t.Errorf("%d groups of processors: %+v", n, d.Groups)
	}
	if x := d.Groups[2].Differs[1]; x.Kind != "time" || x.Inside < 5*x.Outside {
		t.Errorf("%+v", x)
	}
}

// TestLinpackShowsItsGrid: on a 4 × 4 grid of ranks the diagonal solves, and
// reductions differ in who adds and who compares.
func TestLinpackShowsItsGrid(t *testing.T) {
	r := viewtest.Import(t, "data", "otf2-hpl16-deep-a")
	c := viewtest.Case{}
	d := c.Compute(t, groups.View, r).Data().(groups.Data)
	for region, want := range map[string]int{"HPL_dtrsv": 4, "HPL_max": 10, "HPL_sum": 12} {
		found := false
		for _, p := range d.Regions {
			found = found || p.Region == region && p.Count == want && len(p.Members) == want
		}
		if !found {
			t.Errorf("%s is called on %d of 16 ranks; regions: %+v", region, want, d.Regions)
		}
		// Each group calls it or does not, and together they are the ranks that do.
		members := 0
		for _, g := range d.Groups {
			calls, lacks := slices.Contains(g.Calls, region), slices.Contains(g.Lacks, region)
			if calls == lacks {
				t.Errorf("group of %s is of two minds about %s", g.Names, region)
			}
			if calls {
				members += len(g.Members)
			}
		}
		if members != want || len(d.Groups) < 3 {
			t.Errorf("%d ranks in the groups that call %s, want %d; %d groups", members, region, want, len(d.Groups))
		}
	}
}

// TestOtherViewsOrderByTheSameGroups: --arrange groups, with the same options, is the
// partition that this view shows.
func TestOtherViewsOrderByTheSameGroups(t *testing.T) {
	for _, run := range []string{"kineto-ddp-8rank", "otf2-hpl16-deep-a"} {
		r := viewtest.Import(t, "data", run)
		for arrange, options := range map[string]map[string][]string{
			"groups":                     {},
			"groups:k=3,similarity=time": {"k": {"3"}, "similarity": {"time"}},
			"groups:time=10%..60%":       {},
		} {
			options["rows"] = []string{"all"} // as other views have them
			c := viewtest.Case{Options: options}
			if strings.Contains(arrange, "time=") {
				c.Spec.From, c.Spec.To = "10%", "60%"
			}
			want := [][]trace.LocationID{}
			for _, g := range c.Compute(t, groups.View, r).Data().(groups.Data).Groups {
				want = append(want, g.Members)
			}
			other := viewtest.Case{Options: map[string][]string{"arrange": {arrange}}}
			arranged, err := other.Request(t, &view.View{Options: view.Use("arrange")}, r).Arrange(t.Context(), grouping.Order)
			if err != nil {
				t.Fatal(err)
			}
			a := arranged.Arrangement()
			got := [][]trace.LocationID{}
			for _, g := range a.Groups {
				members := slices.Clone(g.Members)
				slices.Sort(members)
				got = append(got, members)
			}
			if !slices.EqualFunc(got, want, slices.Equal) {
				t.Errorf("%s, %s: groups %v, want %v", run, arrange, got, want)
			}
		}
	}
}

// TestGoroutinesAreGroupedByKind: those of a server under test run a few dozen
// functions, and the processors are unlike all of them.
func TestGoroutinesAreGroupedByKind(t *testing.T) {
	r := viewtest.Import(t, "data", "go-nethttp", "nethttp.trace")
	c := viewtest.Case{Options: map[string][]string{"rows": {"all"}}}
	d := c.Compute(t, groups.View, r).Data().(groups.Data)
	var names []string
	for _, g := range d.Groups {
		names = append(names, g.Names)
	}
	if len(d.Groups) < 20 || !slices.Contains(names, "P 0–15") || !slices.Contains(names, "goroutine 1") {
		t.Errorf("%d groups: %q; want the processors and main.main on their own", len(d.Groups), names)
	}
	if f := d.Groups[0].Function; f != "net/http.(*connReader).backgroundRead" {
		t.Errorf("the largest group runs %q", f)
	}
	for _, g := range d.Groups[:5] {
		if len(g.Differs) == 0 || g.Differs[0].Kind != "calls" || g.Differs[0].Effect < 0.99 {
			t.Errorf("group of %d, %s: nothing that it alone does", len(g.Members), g.Names)
		}
	}
}

// A call path that only another metric has, as TAU's sizes of messages, does not hide the
// totals of regions.
func TestTotalsOfAProfileAreGroupedWhereAnotherMetricHasPaths(t *testing.T) {
	c := viewtest.Case{Trace: `
region main role=compute
region MPI_Send role=communication
location process r0 rank=0
location process r1 rank=1
metric TIME unit=ns default
metric "Message size" unit=bytes
profile r0 main TIME calls=1 incl=100 excl=40 flat
profile r0 MPI_Send TIME calls=6 incl=60 excl=60 flat
profile r1 main TIME calls=1 incl=100 excl=100 flat
profile r0 MPI_Send "Message size" calls=6 incl=60 excl=60
`}
	d := c.Compute(t, groups.View, c.Open(t)).Data().(groups.Data)
	if n := len(d.Groups); n == 0 {
		t.Error(d)
	}
}
