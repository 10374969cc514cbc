package profile_test

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/profile"
)

const ranks = `
region main role=compute
region work role=compute
region MPI_Wait role=communication
location machine m
  location process r0 rank=0
    0..100 main
      10..50 work
        20..30 work
      60..90 MPI_Wait
  location process r1 rank=1
    0..100 main
      10..80 work
      80..90 MPI_Wait
  location process r2 rank=2
    0..100 main
`

const flat = `
region main role=compute
region MPI_Send role=communication
region work role=compute
location process r0 rank=0
location process r1 rank=1
metric TIME unit=ns default
metric CYC
profile r0 main TIME calls=1 incl=100 excl=40 flat
profile r0 main CYC calls=1 incl=1000 excl=400 flat
profile r0 MPI_Send TIME calls=6 incl=60 excl=60 flat
profile r0 "main => MPI_Send" TIME calls=6 incl=60 excl=60
profile r1 main TIME calls=1 incl=100 excl=80 flat
profile r1 work TIME calls=3 incl=20 excl=20 flat
`

const paths = `
region a role=compute
region b role=compute
location process r0 rank=0
location process r1 rank=1
metric TIME unit=ns default
profile r0 a TIME calls=1 incl=100 excl=10
profile r0 "a => b" TIME calls=2 incl=90 excl=50
profile r0 "a => b => a" TIME calls=4 incl=40 excl=30
profile r0 "a => b => a => b" TIME calls=8 incl=10 excl=10
`

func TestView(t *testing.T) {
	viewtest.Run(t, profile.View,
		viewtest.Case{Name: "trace", Trace: ranks},
		viewtest.Case{Name: "window of one", Trace: ranks, Spec: view.Spec{From: "20", To: "70", Locations: []string{"r0"}}},
		viewtest.Case{Name: "inclusive by name", Trace: ranks, Options: map[string][]string{"metric": {"inclusive"}, "order": {"name"}, "palette": {"cividis"}}},
		viewtest.Case{Name: "calls", Trace: ranks, Spec: view.Spec{Regions: []string{"work", "MPI_*"}}, Options: map[string][]string{"metric": {"calls"}}},
		viewtest.Case{Name: "flat profile", Trace: flat},
		viewtest.Case{Name: "path profile", Trace: paths, Options: map[string][]string{"top": {"1"}}},
	)
}

func data(t *testing.T, c viewtest.Case) (map[string]profile.Row, profile.Data) {
	t.Helper()
	b, err := json.Marshal(c.Compute(t, profile.View, c.Open(t)).Data())
	if err != nil {
		t.Fatal(err)
	}
	var d profile.Data
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	rows := map[string]profile.Row{}
	for _, r := range d.Rows {
		rows[r.Region] = r
	}
	return rows, d
}

func TestRecursionCountsOnceAndMissingLocationsCountAsNothing(t *testing.T) {
	rows, d := data(t, viewtest.Case{Trace: ranks})
	work := rows["work"]
	if counted(work.Calls) != 3 || work.Inclusive != 110 || work.Exclusive != 110 || d.Total != 300 {
		t.Errorf("work %+v of %v", work, d.Total)
	}
	if work.Min != 0 || work.Max != 70 || work.Mean != 110.0/3 || math.Abs(work.SD-math.Sqrt((40*40+70*70)/3.0-work.Mean*work.Mean)) > 1e-9 {
		t.Errorf("work over locations %+v", work)
	}
	if rows["main"].Share+work.Share+rows["MPI_Wait"].Share != 1 {
		t.Errorf("shares %v", rows)
	}
}

func TestTimesAreClippedAndCallsCountWhereTheyBegin(t *testing.T) {
	rows, _ := data(t, viewtest.Case{Trace: ranks, Spec: view.Spec{From: "25", To: "70", Locations: []string{"r0"}}})
	if w := rows["work"]; counted(w.Calls) != 0 || w.Inclusive != 25 || w.Exclusive != 25 {
		t.Errorf("work %+v", w)
	}
	if w := rows["MPI_Wait"]; counted(w.Calls) != 1 || w.Exclusive != 10 {
		t.Errorf("MPI_Wait %+v", w)
	}
}

func TestFlatRowsAndCallPathsAreNeverAdded(t *testing.T) {
	rows, d := data(t, viewtest.Case{Trace: flat})
	if s := rows["MPI_Send"]; counted(s.Calls) != 6 || s.Exclusive != 60 || s.Share != 0.3 || d.Total != 200 {
		t.Errorf("MPI_Send %+v of %v", s, d.Total)
	}
	rows, d = data(t, viewtest.Case{Trace: flat, Options: map[string][]string{"metric": {"CYC:inclusive"}}})
	if len(rows) != 1 || rows["main"].Max != 1000 || d.Metric != "CYC:inclusive" {
		t.Errorf("%+v", d)
	}
}

func TestInclusiveTimeCountsRecursionOnce(t *testing.T) {
	rows, _ := data(t, viewtest.Case{Trace: paths})
	if a, b := rows["a"], rows["b"]; a.Inclusive != 100 || a.Exclusive != 40 || counted(a.Calls) != 5 || b.Inclusive != 90 || b.Exclusive != 60 {
		t.Errorf("a %+v, b %+v", a, b)
	}
}

func TestUnknownMetricsAndOrdersSayWhatThereIs(t *testing.T) {
	open := func(tb testing.TB) store.Reader { return storetest.Text(tb, flat) }
	for option, want := range map[string]string{"metric": "TIME or CYC", "order": "imbalance"} {
		c := viewtest.Case{Reader: open, Options: map[string][]string{option: {"nonsense"}}}
		_, err := profile.View.Compute(t.Context(), c.Request(t, profile.View, c.Open(t)))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("--%s: %v", option, err)
		}
	}
}

// A column of the strip that stands for many locations shows the odd one.
func TestTheOddLocationIsNotHiddenAmongMany(t *testing.T) {
	r := viewtest.Local(t, func(w trace.Writer) {
		metric := w.Metric(trace.Metric{Name: "TIME", Unit: "ns", Default: true})
		path := w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: "work"}), Flat: true})
		for rank := range 5000 {
			at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank), Rank: rank})
			v := 100.0
			if rank == 3210 {
				v = 777
			}
			w.Profile(trace.ProfileRow{Location: at, Path: path, Metric: metric, Calls: 1, Inclusive: v, Exclusive: v})
		}
	})
	c := viewtest.Case{Size: scene.Size{Width: 1000, Height: 100}}
	result := c.Compute(t, profile.View, r)
	s := result.Scene(c.Size)
	strip := s.Frames[1]
	found := 0
	for x := strip.X; x < strip.X+strip.W; x++ {
		f, ok, _ := view.PickAt(result, s, float64(x), float64(strip.Y)+5)
		if ok && f.Lines[1].Exact == "777" {
			found++
			if !slices.Contains(f.Locations, 3210) {
				t.Errorf("the slow rank is not among the locations at %v", x)
			}
		}
	}
	if found == 0 {
		t.Error("the slow rank is nowhere to be seen")
	}
}

func TestMinimaMaximaAndRatesAreNotAddedUpOverLocations(t *testing.T) {
	for how, want := range map[trace.Join][3]float64{ // value, mean, least
		trace.JoinSum: {12, 3, 0}, trace.JoinMin: {2, 4, 2}, trace.JoinMax: {7, 4, 2}, trace.JoinMean: {4, 4, 2},
	} {
		r := viewtest.Local(t, func(w trace.Writer) {
			w.Metric(trace.Metric{Name: "TIME", Unit: "ns", Default: true})
			metric := w.Metric(trace.Metric{Name: "X", Join: how})
			path := w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: "work"})})
			other := w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: "other"})})
			for rank, v := range []float64{3, 7, 2, 0} {
				at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", rank), Rank: rank})
				w.Profile(trace.ProfileRow{Location: at, Path: other, Metric: metric, Calls: 1, Inclusive: 1, Exclusive: 1})
				if v > 0 {
					w.Profile(trace.ProfileRow{Location: at, Path: path, Metric: metric, Calls: 1, Inclusive: v, Exclusive: v})
				}
			}
		})
		c := viewtest.Case{Options: map[string][]string{"metric": {"X"}}}
		result := c.Compute(t, profile.View, r)
		for _, x := range result.Data().(profile.Data).Rows {
			if x.Region == "work" && (x.Exclusive != want[0] || x.Inclusive != want[0] || x.Mean != want[1] || x.Min != want[2] || x.Max != 7) {
				t.Errorf("%q: %+v, want %v", how, x, want)
			}
			if how != trace.JoinSum && x.Share != 0 {
				t.Errorf("%q has a share of %v", how, x.Share)
			}
		}
		if s := strings.Join(result.Notes(), " "); strings.Contains(s, "not added up") != (how != trace.JoinSum) {
			t.Errorf("%q: notes are %q", how, s)
		}
	}
}

func TestStripsAreOrderedByGroups(t *testing.T) {
	c := viewtest.Case{Trace: `
region solve role=compute
region io role=io
location process r0 rank=0
  0..100 solve
location process r1 rank=1
  0..40 io
location process r2 rank=2
  0..90 solve
location process r3 rank=3
  0..30 io
`, Options: map[string][]string{"arrange": {"groups"}}}
	result := c.Compute(t, profile.View, c.Open(t))
	s := result.Scene(scene.Size{Width: 900, Height: 360})
	f := s.Frames[1]
	for k, want := range []struct{ path, solve string }{{"r0", "100"}, {"r2", "90"}, {"r1", "0"}, {"r3", "0"}} {
		fact, ok, _ := view.PickAt(result, s, float64(f.X+f.W*(float32(k)+0.5)/4), float64(f.YScale.Rows[0].From+4))
		of := map[string]view.FactLine{}
		for _, l := range fact.Lines {
			of[l.Label] = l
		}
		if !ok || fact.Title != "solve" || of["location"].Value != want.path || of["here"].Exact != want.solve {
			t.Errorf("column %d is %s: %+v, want %s with %s", k, fact.Title, fact.Lines, want.path, want.solve)
		}
	}
}

// Rows of samples have no number of calls: null in JSON, an empty cell in the table.
func TestSamplesHaveNoCalls(t *testing.T) {
	c := viewtest.Case{Trace: "region solve role=compute\nlocation process p\nmetric cpu unit=ns default\nprofile p solve cpu incl=5 excl=5\n"}
	r := c.Compute(t, profile.View, c.Open(t))
	if row := r.Data().(profile.Data).Rows[0]; row.Calls != nil {
		t.Errorf("%v calls, want null", *row.Calls)
	}
	table := r.Table()
	at := slices.IndexFunc(table.Columns, func(c view.Column) bool { return c.Name == "calls" })
	if cell := table.Rows[0][at]; cell != nil {
		t.Errorf("the cell of calls is %v, want none", cell)
	}
}

// counted is a number of calls, -1 where calls are not counted.
func counted(calls *float64) float64 {
	if calls == nil {
		return -1
	}
	return *calls
}
