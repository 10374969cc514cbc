package commmatrix_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/importer/tau"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/importertest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/commmatrix"
)

const messages = `
region MPI_Send role=communication
location machine m
  location process r0 rank=0
    0..10 MPI_Send
    location thread t1
      50..60 MPI_Send
  location process r1 rank=1
    20..30 MPI_Send
  location process r2 rank=2
    90..100 MPI_Send
link message 2 m/r0 -> 22 m/r1 size=100
link message 52 m/r0/t1 -> 60 m/r1 size=50
link message 22 m/r1 -> 40 m/r0 size=8
link message 95 m/r2 -> 100 m/r0 size=1000000
link spawn 5 m/r0 -> 50 m/r0/t1
`

const untimed = `
location process r0 rank=0
location process r1 rank=1
metric TIME unit=ns default
profile r0 main TIME calls=1 incl=1 excl=1 flat
link message r0 -> r1 untimed size=700 count=7
link message r1 -> r0 untimed size=30 count=3
link message r1 -> r1 untimed size=1 count=1
`

func TestView(t *testing.T) {
	viewtest.Run(t, commmatrix.View,
		viewtest.Case{Name: "processes", Trace: messages},
		viewtest.Case{Name: "threads by time", Trace: messages, Options: map[string][]string{"group": {"location"}, "metric": {"time"}}},
		viewtest.Case{Name: "window", Trace: messages, Spec: view.Spec{From: "20", To: "60"}, Options: map[string][]string{"metric": {"count"}}},
		viewtest.Case{Name: "profile", Trace: untimed},
	)
}

func data(t *testing.T, c viewtest.Case) (map[string]commmatrix.Cell, commmatrix.Data) {
	t.Helper()
	b, err := json.Marshal(c.Compute(t, commmatrix.View, c.Open(t)).Data())
	if err != nil {
		t.Fatal(err)
	}
	var d commmatrix.Data
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	cells := map[string]commmatrix.Cell{}
	for _, x := range d.Cells {
		cells[x.FromPath+" "+x.ToPath] = x
	}
	return cells, d
}

func TestThreadsCountForTheirProcess(t *testing.T) {
	cells, d := data(t, viewtest.Case{Trace: messages})
	if c := cells["m/r0 m/r1"]; c.Count != 2 || *c.Bytes != 150 || *c.Time != 28 || *c.FromRank != 0 {
		t.Errorf("r0 to r1: %+v", c)
	}
	if d.Pairs != 3 || d.Count != 4 || *d.Bytes != 1000158 {
		t.Errorf("%+v", d)
	}
}

func TestLinksCountInTheWindowInWhichTheyStart(t *testing.T) {
	sum := int64(0)
	for _, w := range [][2]string{{"0", "22"}, {"22", "60"}, {"60", "100%"}} {
		_, d := data(t, viewtest.Case{Trace: messages, Spec: view.Spec{From: w[0], To: w[1]}})
		sum += d.Count
	}
	if sum != 4 {
		t.Errorf("three windows that tile the trace hold %d messages, want 4", sum)
	}
}

func TestMessagesOfAProfileHaveNoTime(t *testing.T) {
	cells, d := data(t, viewtest.Case{Trace: untimed})
	if c := cells["r0 r1"]; c.Count != 7 || *c.Bytes != 700 || c.Time != nil || d.Pairs != 3 {
		t.Errorf("%+v", d)
	}
}

// The numbers are those that the description of the sample gives.
func TestNPBBT(t *testing.T) {
	r := importertest.Import(t, tau.Format, importertest.Shared(t, "public/tau-ppk/npb-bt-commmatrix-16ranks"))
	c := viewtest.Case{}
	result := c.Compute(t, commmatrix.View, r)
	d := result.Data().(commmatrix.Data)
	if d.Pairs != 96 || d.Count != 77_280 || *d.Bytes != 8_504_835_840 {
		t.Errorf("%d pairs, %d messages, %d bytes", d.Pairs, d.Count, *d.Bytes)
	}
	for _, x := range d.Cells {
		if *x.FromRank == 0 && *x.ToRank == 1 && *x.Bytes != 129_358_880 || *x.FromRank == 0 && *x.ToRank == 3 && *x.Bytes != 47_413_120 {
			t.Errorf("%+v", x)
		}
	}
}

// Ranks 0 and 2 compute, 1 and 3 write: cells move with their senders and receivers,
// and none of them changes.
func TestSendersAndReceiversAreOrderedByGroups(t *testing.T) {
	const four = `
region solve role=compute
region io role=io
location process r0 rank=0
  0..100 solve
location process r1 rank=1
  0..100 io
location process r2 rank=2
  0..100 solve
location process r3 rank=3
  0..100 io
link message 2 r0 -> 22 r1 size=100
link message 3 r1 -> 22 r2 size=20
link message 4 r2 -> 22 r3 size=3
`
	c := viewtest.Case{Trace: four, Options: map[string][]string{"arrange": {"groups"}}}
	result := c.Compute(t, commmatrix.View, c.Open(t))
	s := result.Scene(scene.Size{Width: 640, Height: 360})
	f := s.Frames[0]
	order := []string{}
	for _, row := range f.YScale.Rows {
		order = append(order, row.Label)
	}
	if !slices.Equal(order, []string{"r0", "r2", "r1", "r3"}) {
		t.Fatalf("rows %v, want r0 and r2 together", order)
	}
	got := map[string]string{}
	for i := range order {
		for k := range order {
			x, y := float64(f.X+f.W*(float32(k)+0.5)/4), float64(f.Y+f.H*(float32(i)+0.5)/4)
			fact, ok, _ := view.PickAt(result, s, x, y)
			if want := order[i] + " → " + order[k]; !ok || fact.Title != want {
				t.Fatalf("at row %d, column %d lies %q, want %q", i, k, fact.Title, want)
			}
			if fact.Lines[0].Exact != "0" {
				got[fact.Title] = fact.Lines[1].Exact
			}
		}
	}
	if want := map[string]string{"r0 → r1": "100", "r1 → r2": "20", "r2 → r3": "3"}; !maps.Equal(got, want) {
		t.Errorf("cells %v, want %v", got, want)
	}
}

// Colours without bytes mean messages, and what launched something sent nothing.
func TestWordsOfTheMatrixFollowTheKindsOfLinks(t *testing.T) {
	for name, want := range map[string]struct {
		links, legend, row string
	}{
		"link message 1 a -> 2 b":                               {"messages", "messages", "sender"},
		"link message 1 a -> 2 b size=8":                        {"messages", "bytes", "sender"},
		"link spawn 1 a -> 2 b":                                 {"launches", "launches", "from"},
		"link spawn 1 a -> 2 b\nlink wake 3 a -> 4 b":           {"links", "links", "from"},
		"link spawn 1 a -> 2 b\nlink message 1 a -> 2 b size=1": {"messages", "bytes", "sender"},
	} {
		c := viewtest.Case{Trace: "location process a\n  0..10 f\nlocation process b\n  0..10 f\n" + name + "\n"}
		result := c.Compute(t, commmatrix.View, c.Open(t))
		if d := result.Data().(commmatrix.Data); d.Links != want.links || d.Shown != want.legend {
			t.Errorf("%s: %+v", name, d)
		}
		s := result.Scene(scene.Size{Width: 640, Height: 400})
		if s.Legend[0].Label != want.legend || s.Frames[0].YScale.Label != want.row {
			t.Errorf("%s: the legend says %q, rows are %q", name, s.Legend[0].Label, s.Frames[0].YScale.Label)
		}
		f := s.Frames[0]
		if fact, _, _ := view.PickAt(result, s, float64(f.X+f.W*0.75), float64(f.Y+f.H*0.25)); fact.Lines[0].Label != want.links {
			t.Errorf("%s: the fact says %q", name, fact.Lines[0].Label)
		}
	}
}
