package landscape_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/landscape"
)

const ranks = `
region solve role=compute
region exchange role=communication
region MPI_Barrier role=communication
location process "rank 0" rank=0
  0..60 solve
  60..90 exchange
  90..100 MPI_Barrier
location process "rank 1" rank=1
  0..50 solve
  50..70 exchange
  70..100 MPI_Barrier
location process "rank 2" rank=2
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
profile r0 main TIME calls=1 incl=100 excl=40 flat
profile r1 main TIME calls=1 incl=100 excl=80 flat
profile r1 work TIME calls=3 incl=20 excl=20 flat
`

func TestView(t *testing.T) {
	viewtest.Run(t, landscape.View,
		viewtest.Case{Name: "mesh", Trace: ranks},
		viewtest.Case{Name: "bars", Trace: ranks, Options: map[string][]string{"shape": {"bars"}, "order": {"name"}, "value-scale": {"log"}, "camera": {"60,35,1"}}},
		viewtest.Case{Name: "window", Trace: ranks, Spec: view.Spec{From: "0", To: "55", Regions: []string{"MPI_*", "solve"}}, Options: map[string][]string{"metric": {"inclusive"}}},
		viewtest.Case{Name: "profile", Trace: flat},
	)
}

func TestEveryDrawnValueIsInTheJSON(t *testing.T) {
	c := viewtest.Case{Trace: ranks}
	b, err := json.Marshal(c.Compute(t, landscape.View, c.Open(t)).Data())
	if err != nil {
		t.Fatal(err)
	}
	var d landscape.Data
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range d.Points {
		got = append(got, fmt.Sprintf("%s %d %v", p.Region, p.Location, p.Value))
	}
	want := "MPI_Barrier 0 10,MPI_Barrier 1 30,MPI_Barrier 2 50,MPI_Barrier 3 90,solve 0 60,solve 1 50,solve 2 20,solve 3 10,exchange 0 30,exchange 1 20,exchange 2 30"
	if strings.Join(got, ",") != want {
		t.Errorf("%v", got)
	}
	if r := d.Regions[0]; r.Name != "MPI_Barrier" || r.Value != 180 || r.Mean != 45 {
		t.Errorf("%+v", r)
	}
}

// Least and greatest are the values themselves, to the last bit.
func TestLeastAndGreatestAreExact(t *testing.T) {
	const v = 123456789.123456789 // no float32
	r := viewtest.Local(t, func(w trace.Writer) {
		metric := w.Metric(trace.Metric{Name: "TIME", Unit: "ns", Default: true})
		path := w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: "solve"}), Flat: true})
		for rank := range 3 {
			at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank), Rank: rank})
			w.Profile(trace.ProfileRow{Location: at, Path: path, Metric: metric, Calls: 1, Inclusive: v * float64(rank+1), Exclusive: v * float64(rank+1)})
		}
	})
	c := viewtest.Case{}
	for i, p := range c.Compute(t, landscape.View, r).Data().(landscape.Data).Points {
		if want := v * float64(i+1); p.Min != want || p.Max != want || p.Value != want {
			t.Errorf("rank %d: %v … %v, value %v; want %v", i, p.Min, p.Max, p.Value, want)
		}
	}
}

// A place that stands for hundreds of locations still shows the odd one, and
// choosing it selects them.
func TestTheOddLocationIsNotHiddenAmongMany(t *testing.T) {
	const n, odd = 100_000, 54_321
	r := viewtest.Local(t, func(w trace.Writer) {
		metric := w.Metric(trace.Metric{Name: "TIME", Unit: "ns", Default: true})
		var paths []trace.CallPathID
		for k := range 20 {
			paths = append(paths, w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: fmt.Sprint("region ", k)}), Flat: true}))
		}
		for rank := range n {
			at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank), Rank: rank})
			for k, p := range paths {
				v := float64(1000 - 10*k)
				if rank == odd && k == 3 {
					v = 5000
				}
				w.Profile(trace.ProfileRow{Location: at, Path: p, Metric: metric, Calls: 1, Inclusive: v, Exclusive: v})
			}
		}
	})
	c := viewtest.Case{Size: scene.Size{Width: 900, Height: 600}}
	result := c.Compute(t, landscape.View, r)
	s := result.Scene(c.Size)
	if err := viewtest.CheckScene(s); err != nil {
		t.Error(err)
	}
	space := s.Layers[0].Marks[0].(*scene.Space)
	at := slices.Index(space.Value, slices.Max(space.Value))
	fact, ok, _ := view.FactOf(result, scene.Item{Of: 1, A: int32(at)})
	if !ok || fact.Title != "region 3" || !slices.Contains(fact.Locations, odd) || fact.Lines[1].Exact != "5000" || fact.Count != int64(len(fact.Locations)) {
		t.Errorf("%v %s %+v of %d", ok, fact.Title, fact.Lines, len(fact.Locations))
	}
	if rows := len(result.Table().Rows); rows > 1<<20 || rows < 100_000 {
		t.Errorf("the table has %d rows", rows)
	}
	if notes := strings.Join(result.Notes(), " "); !strings.Contains(notes, "too many for one table") {
		t.Errorf("notes are %q", notes)
	}
}

func TestWrongOptionsSayWhatFits(t *testing.T) {
	for want, options := range map[string]map[string][]string{
		"value, sd or name": {"order": {"colour"}},
		"azimuth":           {"camera": {"left"}},
	} {
		c := viewtest.Case{Trace: ranks, Options: options}
		_, err := landscape.View.Compute(t.Context(), c.Request(t, landscape.View, c.Open(t)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", options, err)
		}
	}
}
