package scatter_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/scatter"
)

const ranks = `
region solve role=compute
region exchange role=communication
region MPI_Barrier role=communication
location process "rank 0" rank=0 node=1
  0..60 solve
  60..90 exchange
  90..100 MPI_Barrier
location process "rank 1" rank=1 node=1
  0..50 solve
  50..70 exchange
  70..100 MPI_Barrier
location process "rank 2" rank=2 node=2
  0..20 solve
  20..50 exchange
  50..100 MPI_Barrier
location process "rank 3" rank=3
  0..10 solve
  10..100 MPI_Barrier
`

const flat = `
region main role=compute
region work role=compute
location process r0 rank=0
location process r1 rank=1
metric TIME unit=ns default
metric FLOPS
profile r0 main TIME calls=1 incl=100 excl=40 flat
profile r0 main FLOPS calls=1 incl=7000 excl=7000 flat
profile r1 main TIME calls=1 incl=100 excl=80 flat
profile r1 work TIME calls=3 incl=20 excl=20 flat
`

func events(texts ...string) map[string][]string {
	set := map[string][]string{}
	for k, text := range texts {
		if text != "" {
			set[fmt.Sprintf("event%d", k)] = []string{text}
		}
	}
	return set
}

func TestView(t *testing.T) {
	viewtest.Run(t, scatter.View,
		viewtest.Case{Name: "of its choice", Trace: ranks},
		viewtest.Case{Name: "plane", Trace: ranks, Spec: view.Spec{From: "0", To: "80"}, Options: events("solve", "MPI_Barrier:inclusive", "", "rank")},
		viewtest.Case{Name: "space", Trace: ranks, Options: events("solve", "MPI_Barrier", "exchange", "*:calls")},
		viewtest.Case{Name: "profile", Trace: flat, Options: events("main:FLOPS", "main:TIME")},
	)
}

func data(t *testing.T, c viewtest.Case) scatter.Data {
	t.Helper()
	return viewtest.Decoded[scatter.Data](t, c.Compute(t, scatter.View, c.Open(t)))
}

func TestPointsCarryWhatIsMeasured(t *testing.T) {
	d := data(t, viewtest.Case{Trace: ranks, Options: events("solve", "MPI_Barrier", "exchange:calls", "metadata:node")})
	if p := d.Points[2]; *p.X != 20 || *p.Y != 50 || *p.Z != 1 || *p.Color != 2 || p.Path != "rank 2" || !p.Placed {
		t.Errorf("%+v", p)
	}
	if p := d.Points[3]; *p.Z != 0 || p.Color != nil || !p.Placed {
		t.Errorf("%+v", p)
	}
	if len(d.Axes) != 4 || d.Axes[1].Min != 10 || d.Axes[1].Max != 90 || d.Unplaced != 0 {
		t.Errorf("%+v", d.Axes)
	}
}

// r = Σ(x-35)(y-45) / √(Σ(x-35)²·Σ(y-45)²) with x 60, 50, 20, 10 and y 10, 30, 50, 90.
func TestCorrelationIsThatOfPearson(t *testing.T) {
	d := data(t, viewtest.Case{Trace: ranks, Options: events("solve", "MPI_Barrier")})
	want := (25.0*-35 + 15*-15 + -15*5 + -25*45) / math.Sqrt((25*25+15*15+15*15+25*25)*(35*35+15*15+5*5+45*45))
	if math.Abs(*d.Correlations[0]-want) > 1e-12 || d.Correlations[1] != nil {
		t.Errorf("%v, want %v", *d.Correlations[0], want)
	}
}

func TestAConstantNumberMakesAFlatAxis(t *testing.T) {
	c := viewtest.Case{Trace: ranks, Options: events("solve:calls", "MPI_Barrier", "rank")}
	if d := data(t, c); d.Unplaced != 0 || d.Correlations[0] != nil || *d.Correlations[2] < 0.9 {
		t.Errorf("%d unplaced, %v", d.Unplaced, d.Correlations)
	}
}

func TestLocationsWithoutANumberAreCounted(t *testing.T) {
	c := viewtest.Case{Trace: ranks, Options: events("solve", "metadata:node")}
	if d := data(t, c); d.Unplaced != 1 || d.Points[3].Placed {
		t.Errorf("%+v", d.Points)
	}
}

func TestUnknownNumbersAreErrors(t *testing.T) {
	for text, want := range map[string]string{"nobody": "matches none", "solve:flops": "want exclusive", "counter:heat": "no such counter"} {
		c := viewtest.Case{Trace: ranks, Options: events(text, "solve")}
		_, err := scatter.View.Compute(t.Context(), c.Request(t, scatter.View, c.Open(t)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// Two clouds and one location on its own: joined points keep all three apart, and
// none is lost.
func TestAHundredThousandLocationsAreJoinedByPlace(t *testing.T) {
	const n, odd = 100_000, 4_711
	r := viewtest.Local(t, func(w trace.Writer) {
		metric := w.Metric(trace.Metric{Name: "TIME", Unit: "ns", Default: true})
		var paths [3]trace.CallPathID
		for k := range paths {
			paths[k] = w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: string(rune('a' + k))}), Flat: true})
		}
		for rank := range n {
			at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank), Rank: rank})
			v := [3]float64{float64(rank % 97), float64(rank % 89), 10}
			if rank%2 == 1 {
				v = [3]float64{900 + float64(rank%31), 900 + float64(rank%37), 20}
			}
			if rank == odd {
				v = [3]float64{0, 1000, 30}
			}
			for k, p := range paths {
				w.Profile(trace.ProfileRow{Location: at, Path: p, Metric: metric, Calls: 1, Inclusive: v[k], Exclusive: v[k]})
			}
		}
	})
	for _, third := range []string{"", "c"} {
		c := viewtest.Case{Size: scene.Size{Width: 900, Height: 600}, Options: events("a", "b", third)}
		result := c.Compute(t, scatter.View, r)
		s := result.Scene(c.Size)
		if err := viewtest.CheckScene(s); err != nil {
			t.Error(err)
		}
		all, alone := 0, false
		for i := 0; ; i++ {
			it, ok := s.ItemOf(i)
			if !ok {
				break
			}
			f, _, _ := view.FactOf(result, it)
			all += max(int(f.Count), len(f.Locations))
			alone = alone || len(f.Locations) == 1 && f.Locations[0] == odd
		}
		if all != n || !alone || s.Marks() > 20000 {
			t.Errorf("%d locations in %d marks, the odd one alone: %v", all, s.Marks(), alone)
		}
	}
}

// A region of the first run that the second does not have is 0 there: it must not be another region.
func TestASecondRunHasTheAxesOfTheFirst(t *testing.T) {
	second := strings.ReplaceAll(strings.ReplaceAll(ranks, "exchange", "sort"), "MPI_Barrier", "MPI_Bcast")
	a, b := storetest.Text(t, ranks, all.Summaries...), storetest.Text(t, second, all.Summaries...)
	values, err := view.NewValues(scatter.View, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := view.Ask(t.Context(), scatter.View, &view.Request{Values: values, Selection: trace.Selection{End: 100},
		Runs: []view.Run{{Name: "a", Store: a}, {Name: "b", Store: b}}, Size: scene.Size{Width: 900, Height: 500}})
	if err != nil {
		t.Fatal(err)
	}
	d := r.Data().(scatter.PairData)
	for k, m := range d.Axes {
		if o := d.With.Axes[k]; o.Measure == "" || o.Unit != m.Unit || o.Min != m.Min || o.Max != m.Max {
			t.Errorf("axis %+v is %+v in the second run", m, o)
		}
	}
	for _, p := range d.With.Points {
		if *p.X != 0 {
			t.Errorf("a region that the second run does not have is %v on %s", *p.X, p.Path)
		}
	}
}
