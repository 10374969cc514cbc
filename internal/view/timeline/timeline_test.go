package timeline

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Two ranks of two threads each, and a GPU with two streams; messages, a
// counter, an instant, an overlapping copy that needs a second lane, a host
// that did nothing.
const small = `
region main role=compute file=main.c line=3
region solve role=compute category=user file=solve.c line=40
region MPI_Send role=communication category=MPI
region MPI_Recv role=communication category=MPI
region wait role=idle
region copy role=copy
region kernel role=compute
region step role=annotation
location machine node0
  location process "rank 0" rank=0
    location thread "thread 0"
      0..1000 main
        100..400 solve
          150..160 MPI_Send bytes=8
        420..420 probe
        600..900 solve
      350 ! checkpoint
      counter memory unit=bytes
      0 memory=100
      500 memory=900
      1000 memory=300
    location thread "thread 1"
      50..950 wait
  location process "rank 1" rank=1
    location thread "thread 0"
      10..990 main
        200..300 MPI_Recv bytes=8
        310..800 solve
      700..1000 copy
    location device "GPU 0"
      location stream "stream 7"
        300..900 step
          320..500 kernel
          510..700 kernel
      location stream "stream 9"
        705..706 copy
location machine node1
link message 155 "node0/rank 0/thread 0" -> 290 "node0/rank 1/thread 0" size=8 tag=3
link spawn 312 "node0/rank 1/thread 0" -> 320 "node0/rank 1/GPU 0/stream 7"
`

func TestView(t *testing.T) {
	viewtest.Run(t, View,
		viewtest.Case{Name: "small", Trace: small},
		viewtest.Case{Name: "depth", Trace: small, Options: map[string][]string{"depth": {"3"}}},
		viewtest.Case{Name: "folded", Trace: small, Options: map[string][]string{"collapse": {"rank:0-1"}}},
		viewtest.Case{Name: "average", Trace: small, Options: map[string][]string{"show": {"average"}}},
		viewtest.Case{Name: "busy", Trace: small, Options: map[string][]string{"colour": {"busy"}}},
		viewtest.Case{Name: "duration and counters", Trace: small, Options: map[string][]string{"colour": {"duration"}, "counters": {"mem*"}}},
		viewtest.Case{Name: "window", Trace: small, Spec: view.Spec{From: "140", To: "330", Locations: []string{"thread 0"}}},
		viewtest.Case{Name: "selected regions", Trace: small, Spec: view.Spec{Regions: []string{"MPI_*", "kernel"}}},
		viewtest.Case{Name: "everything", Trace: small, Options: map[string][]string{"all": {"true"}}},
		viewtest.Case{Name: "bursts", Reader: func(tb testing.TB) store.Reader { return burstTrace(5, 300, 20000, all.Summaries...) }, NoGolden: true},
	)
}

// facts gives a fact's lines by label.
func facts(f view.Fact) map[string]string {
	out := map[string]string{}
	for _, l := range f.Lines {
		out[l.Label] = l.Value
	}
	return out
}

// pick asks what is at a place of the picture.
func pick(r *result, x, y float64) (view.Fact, bool) {
	f, ok, _ := view.PickAt(r, r.Scene(r.size), x, y)
	return f, ok
}

// placed says where things lie in the picture.
func placed(r *result) *drawing { return placeRows(r.size, r.input, r.plan, r.content, r.labelWidth) }

// arrows are the lines of links and the symbols of many in the picture.
func arrows(r *result) (lines *scene.Line, bursts *scene.Point) {
	for _, l := range r.Scene(r.size).Layers {
		for _, m := range l.Marks {
			if l.Name != "links" {
				continue
			}
			switch m := m.(type) {
			case *scene.Line:
				lines = m
			case *scene.Point:
				bursts = m
			}
		}
	}
	return lines, bursts
}

// pickAt picks at a time on the row with that label.
func pickAt(t *testing.T, r *result, s *scene.Scene, row string, at trace.Time) view.Fact {
	t.Helper()
	for _, x := range s.Frames[0].YScale.Rows {
		if x.Label == row {
			f, ok := pick(r, float64(placed(r).x(at)), float64(x.From+x.To)/2)
			if !ok {
				t.Fatalf("nothing on row %q at %d", row, at)
			}
			return f
		}
	}
	t.Fatalf("no row %q", row)
	return view.Fact{}
}

func TestPickTellsExactFacts(t *testing.T) {
	r := computeFor(t, storetest.Text(t, small, all.Summaries...), view.Spec{}, map[string][]string{"links": {"none"}}, scene.Size{Width: 1200, Height: 700})
	s := r.Scene(r.size)

	f := pickAt(t, r, s, "thread 0", 155)
	want := map[string]string{
		"location": "node0/rank 0/thread 0", "role": "communication", "category": "MPI", "begin": "150 ns", "end": "160 ns", "duration": "10.0 ns",
		"exclusive": "10.0 ns", "depth": "2", "called from": "main → solve", "bytes": "8",
	}
	for label, value := range want {
		if got := facts(f)[label]; got != value {
			t.Errorf("%s is %q, want %q", label, got, value)
		}
	}
	if f.Title != "MPI_Send" || f.Row == nil || *f.Begin != 150 || *f.End != 160 {
		t.Errorf("fact %+v", f)
	}
	if f := pickAt(t, r, s, "thread 0", 120); f.Title != "solve" || facts(f)["source"] != "solve.c:40" || facts(f)["exclusive"] != "290 ns" {
		t.Errorf("fact %+v", f)
	}
	if f := pickAt(t, r, s, "thread 1", 20); !strings.Contains(f.Text, "Nothing is open") {
		t.Errorf("fact %+v", f)
	}
	if f, ok := pick(r, 3, float64(s.Frames[0].YScale.Rows[0].From)+1); !ok || f.Locations == nil {
		t.Errorf("a row label gives %+v", f)
	}
}

func TestPickFindsLinks(t *testing.T) {
	r := computeFor(t, storetest.Text(t, small, all.Summaries...), view.Spec{}, nil, scene.Size{Width: 1200, Height: 700})
	r.Scene(r.size)
	l, _ := arrows(r)
	if l.Len() != 2 {
		t.Fatalf("%d arrows, want 2", l.Len())
	}
	f, ok := pick(r, float64(l.X0[0]+l.X1[0])/2, float64(l.Y0[0]+l.Y1[0])/2)
	if !ok || f.Title != "message" || facts(f)["takes"] != "135 ns" || facts(f)["size"] != "8.00 B" || facts(f)["tag"] != "3" {
		t.Errorf("fact %+v", f)
	}
}

func TestAggregatesSayWhatTheyStandFor(t *testing.T) {
	reader := burstTrace(6, 6, 40000, all.Summaries...)
	painted := paint(t, reader)
	for _, size := range []scene.Size{{Width: 400, Height: 300}, {Width: 400, Height: 90}} { // lanes apart, and folded
		r := computeFor(t, reader, view.Spec{}, map[string][]string{"expand": {"*"}}, size)
		picture, d := r.Scene(size), placed(r)
		checked := 0
		for i, l := range r.leaves {
			if l == nil {
				continue
			}
			for k, s := range l.list {
				for _, x := range s.spans {
					if !x.aggregate() || checked > 200 {
						continue
					}
					b := d.rows[i].strips[k]
					px := d.x(x.begin + (x.end-x.begin)/2)
					f, ok, _ := view.PickAt(r, picture, float64(px), float64(b.from+b.to)/2)
					if ok && f.Row != nil && d.x(*f.End)+1 > px {
						continue // an interval is a pixel wide at least, and lies over it
					}
					checked++
					stands := int64(0) // neighbours that look alike are drawn as one
					for _, y := range s.spans {
						if ok && y.begin >= *f.Begin && y.end <= *f.End {
							stands += int64(y.count)
						}
					}
					if !ok || f.Count != stands || *f.Begin > x.begin || *f.End < x.end {
						t.Fatalf("fact %+v of %+v, stands for %d", f, x, stands)
					}
					for region, time := range directBin(painted[l.location], s.lane, nil, *f.Begin, *f.End).time {
						want := view.FormatShare(float64(time)/float64(*f.End-*f.Begin)) + ", "
						if got := facts(f)[reader.Regions()[region].Name]; !strings.HasPrefix(got, want) {
							t.Fatalf("region %d has %q, want %s; %+v", region, got, want, f)
						}
					}
				}
			}
		}
		if checked == 0 {
			t.Error("no aggregate")
		}
	}
}

// Rows follow the tree: groups open as far as they fit, deepest folded first.
func TestRowsFoldToFit(t *testing.T) {
	m := storetest.NewMemory(all.Summaries...)
	work := m.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
	for c := range 4 {
		cluster := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindCluster, Name: fmt.Sprint("cluster ", c), Rank: trace.NoRank})
		for h := range 8 {
			host := m.Location(trace.Location{Parent: cluster, Kind: trace.KindMachine, Name: fmt.Sprintf("host %d-%d", c, h), Rank: trace.NoRank})
			for p := range 4 {
				id := m.Location(trace.Location{Parent: host, Kind: trace.KindProcess, Name: fmt.Sprint("P", (c*8+h)*4+p), Rank: (c*8+h)*4 + p})
				s := m.Stream(id, trace.StreamOptions{})
				s.Interval(0, 100, work)
				s.Close()
			}
		}
		m.Location(trace.Location{Parent: cluster, Kind: trace.KindMachine, Name: fmt.Sprint("spare ", c), Rank: trace.NoRank})
	}
	r := m.Reader()
	for _, c := range []struct {
		name                string
		height              int
		expand, collapse    []string
		kinds               [3]int // leaves, headers, folded
		note                string
		scroll, first, last string
	}{
		{name: "all fit", height: 1080, kinds: [3]int{128, 36, 0}, note: "not shown: 4 locations without intervals"},
		{name: "hosts are folded", height: 500, kinds: [3]int{0, 4, 32}, note: "32 groups stand for 128 locations"},
		{name: "clusters are folded, and their hosts run together", height: 120, kinds: [3]int{0, 0, 4}},
		{name: "one is opened", height: 500, expand: []string{"host 1-2"}, collapse: []string{"cluster 3"}, kinds: [3]int{4, 4, 24}},
		{name: "all are opened and scrolled", height: 300, expand: []string{"*"}, scroll: "100", first: "rank 77", note: "rows 101 to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := map[string][]string{"expand": c.expand, "collapse": c.collapse}
			if c.scroll != "" {
				o["scroll"] = []string{c.scroll}
			}
			got := computeFor(t, r, view.Spec{}, o, scene.Size{Width: 800, Height: c.height})
			kinds := [3]int{}
			for _, w := range got.rows {
				kinds[w.kind]++
			}
			if c.kinds != [3]int{} && kinds != c.kinds {
				t.Errorf("leaves, headers, folded are %v, want %v", kinds, c.kinds)
			}
			if c.first != "" && got.rows[0].label != c.first {
				t.Errorf("the first row is %q, want %q", got.rows[0].label, c.first)
			}
			if !strings.Contains(strings.Join(got.Notes(), "\n"), c.note) {
				t.Errorf("notes %q lack %q", got.Notes(), c.note)
			}
		})
	}
}

// Where groups are drawn by role and rows by region, a region that is called like its
// role and has its colour is listed once; one that only has the name is listed too.
func TestARoleAndItsRegionAreOneEntryOfTheLegend(t *testing.T) {
	m := storetest.NewMemory(all.Summaries...)
	idle := m.Region(trace.Region{Name: "idle", Role: trace.RoleIdle})
	compute := m.Region(trace.Region{Name: "compute", Role: trace.RoleIO})
	work := m.Region(trace.Region{Name: "work", Role: trace.RoleCompute})
	row := func(parent trace.LocationID, name string) {
		s := m.Stream(m.Location(trace.Location{Parent: parent, Kind: trace.KindThread, Name: name, Rank: trace.NoRank}), trace.StreamOptions{})
		s.Interval(0, 50, idle)
		s.Interval(50, 60, compute)
		s.Interval(60, 100, work)
		s.Close()
	}
	pool := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindGroup, Name: "pool", Rank: trace.NoRank})
	for i := range 8 {
		row(pool, fmt.Sprint("worker ", i))
	}
	row(trace.NoLocation, "main")
	got := computeFor(t, m.Reader(), view.Spec{}, map[string][]string{"collapse": {"pool"}}, scene.Size{Width: 800, Height: 400})
	var labels []string
	for _, e := range legend(got.content, got.inks) {
		labels = append(labels, e.Label)
	}
	slices.Sort(labels)
	if want := []string{"compute", "compute", "idle", "io", "work"}; !slices.Equal(labels, want) {
		t.Errorf("the legend lists %q, want %q", labels, want)
	}
}

// Many members of one group that do not fit are drawn as runs of neighbours.
func TestManyRanksAreDrawnInRuns(t *testing.T) {
	m := storetest.NewMemory(all.Summaries...)
	work, idle := m.Region(trace.Region{Name: "work", Role: trace.RoleCompute}), m.Region(trace.Region{Name: "idle", Role: trace.RoleIdle})
	machine := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: "machine", Rank: trace.NoRank})
	const ranks = 2000
	for p := range ranks {
		id := m.Location(trace.Location{Parent: machine, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", p), Rank: p})
		s := m.Stream(id, trace.StreamOptions{})
		region := work
		if p/100 == 7 {
			region = idle
		}
		s.Interval(0, 1000, region)
		s.Close()
	}
	r := computeFor(t, m.Reader(), view.Spec{}, nil, scene.Size{Width: 600, Height: 500})
	if n := len(r.rows); n < 20 || n > 60 {
		t.Fatalf("%d rows", n)
	}
	total, odd := 0, ""
	for i, w := range r.rows {
		if w.kind != folded {
			continue
		}
		total += w.count
		if r.groups[i].share(0, trace.RoleIdle) > 0.9 {
			odd += w.label + "; "
		}
	}
	if total != ranks || !strings.Contains(odd, "rank 7") {
		t.Errorf("runs hold %d ranks, the idle ones are in %q", total, odd)
	}
}

// A scene is bounded by its pixels, whatever the trace.
func TestASceneStaysSmall(t *testing.T) {
	reader := viewtest.Local(t, writeNoise)
	for _, o := range []map[string][]string{nil, {"show": {"average"}}, {"links": {"all"}}, {"depth": {"4"}}, {"colour": {"duration"}}, {"counters": {"*"}}} {
		size := scene.Size{Width: 1920, Height: 1080}
		r := computeFor(t, reader, view.Spec{}, o, size)
		if err := viewtest.CheckScene(r.Scene(size)); err != nil {
			t.Errorf("%v: %v", o, err)
		}
	}
}

// writeNoise writes what is worst for a timeline: no two neighbouring bins alike,
// on as many rows as fit.
func writeNoise(w trace.Writer) {
	rng := rand.New(rand.NewPCG(3, 3))
	var regions []trace.RegionID
	for i := range 500 {
		regions = append(regions, w.Region(trace.Region{Name: fmt.Sprint("a rather long name of a region ", i), Role: trace.Role(1 + i%8)}))
	}
	const length = 16384
	for p := range 220 {
		id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", p), Rank: p})
		counter := w.Counter(trace.Counter{Location: id, Name: "noise"})
		s := w.Stream(id, trace.StreamOptions{Unordered: true})
		for at := trace.Time(0); at < length; {
			d := trace.Time(1 + rng.IntN(14))
			s.Interval(at, at+d, regions[rng.IntN(len(regions))])
			if rng.IntN(4) == 0 {
				s.Instant(at, regions[0])
				s.Sample(counter, at, rng.Float64())
			}
			at += d
		}
		s.Close()
		for range 200 {
			at := trace.Time(rng.IntN(length))
			w.Link(trace.Link{
				Kind: trace.LinkMessage, From: trace.End{Location: id, Time: at, Region: trace.NoRegion},
				To: trace.End{Location: trace.LocationID(rng.IntN(p + 1)), Time: at + 20, Region: trace.NoRegion},
			})
		}
	}
}

// Moving the window by whole bins moves the same cells.
func TestPanningKeepsCells(t *testing.T) {
	reader := burstTrace(9, 60, 60000, all.Summaries...)
	size := scene.Size{Width: 500, Height: 400}
	cellsOf := func(from, to int) map[string]span {
		r := computeFor(t, reader, view.Spec{From: fmt.Sprint(from), To: fmt.Sprint(to)}, nil, size)
		out := map[string]span{}
		for i, l := range r.leaves {
			if l != nil {
				for _, s := range l.list {
					for _, x := range s.spans {
						// Bins that the window cuts, and pieces, differ.
						if x.aggregate() && x.end-x.begin == 1<<r.grid.level {
							out[fmt.Sprint(r.rows[i].label, s.lane, x.begin, x.end)] = x
						}
					}
				}
			}
		}
		return out
	}
	a, b := cellsOf(1000, 41000), cellsOf(5333, 45333)
	same := 0
	for k, x := range b {
		if y, ok := a[k]; ok {
			same++
			if x != y {
				t.Fatalf("cell %s is %+v, was %+v", k, x, y)
			}
		}
	}
	if same < 50 {
		t.Errorf("only %d cells are in both windows", same)
	}
}

func TestAllHoldsEveryInterval(t *testing.T) {
	reader := burstTrace(4, 50, 20000, all.Summaries...)
	r := computeFor(t, reader, view.Spec{}, map[string][]string{"all": {"true"}, "collapse": {"*"}}, scene.Size{Width: 300, Height: 200})
	b, err := json.Marshal(r.Data())
	if err != nil {
		t.Fatal(err)
	}
	var d struct {
		Spans []struct{ Begin, End, Depth int }
	}
	if err := json.Unmarshal(b, &d); err != nil {
		t.Fatal(err)
	}
	if int64(len(d.Spans)) != reader.Info().Intervals {
		t.Errorf("%d spans, want %d", len(d.Spans), reader.Info().Intervals)
	}
}

func TestDepthDrawsEveryLevel(t *testing.T) {
	r := computeFor(t, storetest.Text(t, small, all.Summaries...), view.Spec{Locations: []string{"node0/rank 0/thread 0"}}, map[string][]string{"depth": {"9"}}, scene.Size{Width: 1500, Height: 500})
	i := slices.IndexFunc(r.rows, func(w row) bool { return w.kind == leaf })
	var got []string
	for _, s := range r.leaves[i].list {
		for _, x := range s.spans {
			got = append(got, fmt.Sprintf("%d %s [%d,%d)", s.level, r.regions[x.region].Name, x.begin, x.end))
		}
	}
	want := []string{"0 main [0,1000)", "1 solve [100,400)", "1 probe [420,420)", "1 solve [600,900)", "2 MPI_Send [150,160)"}
	if !slices.Equal(got, want) {
		t.Errorf("spans %q, want %q", got, want)
	}
}

func TestCountersKeepTheirExtremes(t *testing.T) {
	r := computeFor(t, storetest.Text(t, `
location process p
  counter level unit=bytes
  counter total unit=ops monotone
  0..1000 main
  0 level=5
  10 level=9
  20 level=-3
  990 level=7
  0 total=100
  500 total=600
  1000 total=700
`, all.Summaries...), view.Spec{}, map[string][]string{"counters": {"*"}}, scene.Size{Width: 400, Height: 300})
	s := r.Scene(r.size)
	if len(r.counters.list) != 2 {
		t.Fatalf("%d counters", len(r.counters.list))
	}
	level, total := r.counters.list[0], r.counters.list[1]
	if level.min != -3 || level.max != 9 {
		t.Errorf("level from %g to %g, want -3 to 9", level.min, level.max)
	}
	// 500 in 500 ns, then 100 in 500 ns.
	if total.min != 2e8 || total.max != 1e9 || total.unit != "ops per s" {
		t.Errorf("rate from %g to %g %s", total.min, total.max, total.unit)
	}
	b := placed(r).rows[0].counters[0]
	f, ok := pick(r, float64(placed(r).x(992)), float64(b.from+b.to)/2)
	if !ok || f.Title != "level" || facts(f)["greatest"] != "7 bytes" {
		t.Errorf("fact %+v", f)
	}
	if rows := s.Frames[0].YScale.Rows; len(rows) != 3 || rows[1].Label != "level" || rows[1].From != rows[0].To {
		t.Errorf("rows %+v", rows)
	}
}

// A meter that its format calls accumulated and that falls (power, frequency) is a level: as a
// rate it would be below zero.
func TestAMeterThatFallsIsDrawnAsALevel(t *testing.T) {
	for name, reader := range map[string]store.Reader{
		"memory": storetest.Text(t, "location process p\n  counter power unit=W monotone\n  0..1000 main\n  0 power=300\n  500 power=250\n  1000 power=310\n", all.Summaries...),
		"disk": viewtest.Local(t, func(w trace.Writer) {
			at := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "p"})
			power := w.Counter(trace.Counter{Location: at, Name: "power", Unit: "W", Monotone: true})
			main := w.Region(trace.Region{Name: "main"})
			s := w.Stream(at, trace.StreamOptions{})
			s.Enter(0, main)
			for i, v := range []float64{300, 250, 310} {
				s.Sample(power, trace.Time(500*i), v)
			}
			s.Leave(1000, main)
			s.Close()
		}),
	} {
		r := computeFor(t, reader, view.Spec{}, map[string][]string{"counters": {"power"}}, scene.Size{Width: 400, Height: 300})
		r.Scene(r.size)
		if s := r.counters.list[0]; s.min != 250 || s.max != 310 || s.unit != "W" {
			t.Errorf("%s: from %g to %g %s, want 250 to 310 W", name, s.min, s.max, s.unit)
		}
	}
}

// Where there are more counters than room, the first are drawn, whoever is asked about:
// counters-of draws those of the ranks in question.
func TestCountersOfSomeLocations(t *testing.T) {
	text := "location machine m\n"
	for node := range 2 {
		text += fmt.Sprintf("  location node n%d\n    counter power unit=W\n    0 power=%d\n", node, 100+node)
		for k := range 8 {
			rank := node*8 + k
			text += fmt.Sprintf("    location process r%d rank=%d\n      counter level\n      0..1000 main\n      10 level=%d\n", rank, rank, rank)
		}
	}
	reader := storetest.Text(t, text, all.Summaries...)
	drawn := func(options map[string][]string) (out []string) {
		r := computeFor(t, reader, view.Spec{}, options, scene.Size{Width: 600, Height: 400})
		r.Scene(r.size)
		for _, s := range r.counters.list {
			out = append(out, fmt.Sprintf("%s %s %g", reader.Locations().Name[s.location], s.name, s.min))
		}
		return out
	}
	if got := drawn(map[string][]string{"counters": {"level"}}); len(got) >= 16 || slices.Contains(got, "r13 level 13") {
		t.Fatalf("all have room, which tests nothing: %v", got)
	}
	for _, c := range []struct{ counters, of, want string }{
		{"level", "rank:13", "[r13 level 13]"},
		{"level", "rank:2,rank:13", "[r2 level 2 r13 level 13]"},
		{"power", "rank:13", "[n1 power 101]"}, // the rank has none: that of its node
		{"*", "rank:13", "[r13 level 13]"},
	} {
		if got := fmt.Sprint(drawn(map[string][]string{"counters": {c.counters}, "counters-of": strings.Split(c.of, ",")})); got != c.want {
			t.Errorf("--counters %s --counters-of %s draws %s, want %s", c.counters, c.of, got, c.want)
		}
	}
}

// Two runs of different lengths on one scale: the axis goes on where the shorter one ends.
func TestAnAxisLongerThanTheRun(t *testing.T) {
	reader := storetest.Text(t, "location process p\n  0..1000 main\n    400..500 work\n", all.Summaries...)
	draw := func(to string) (*result, scene.Frame) {
		r := computeFor(t, reader, view.Spec{}, map[string][]string{"axis-to": {to}}, scene.Size{Width: 800, Height: 200})
		return r, r.Scene(r.size).Frames[0]
	}
	_, own := draw("")
	for _, to := range []string{"2000", "2us", "200%"} {
		r, f := draw(to)
		if f.XScale.End != 2000 || f.X != own.X || f.W != own.W {
			t.Fatalf("--axis-to %s: %+v", to, f)
		}
		y := float64(placed(r).rows[0].from+placed(r).rows[0].to) / 2
		at := func(share float64) string {
			fact, _ := pick(r, float64(f.X)+share*float64(f.W), y)
			return fact.Title
		}
		if at(0.225) != "work" || at(0.45) != "main" || at(0.51) != "p" || at(0.9) != "p" {
			t.Errorf("--axis-to %s: %q in the middle of work, %q later, %q and %q after the end", to, at(0.225), at(0.45), at(0.51), at(0.9))
		}
	}
	if _, f := draw("500"); f.XScale.End != 1000 {
		t.Errorf("an axis that ends before the selection cuts it: %+v", f.XScale)
	}
}

func TestInstantsNearEachOtherAreOneMark(t *testing.T) {
	text := "location process p\n  0..10000 main\n"
	for i := range 50 {
		text += fmt.Sprintf("  %d ! tick\n", 5000+i)
	}
	r := computeFor(t, storetest.Text(t, text+"  9000 ! tock\n", all.Summaries...), view.Spec{}, nil, scene.Size{Width: 400, Height: 200})
	r.Scene(r.size)
	sum := uint32(0)
	for _, m := range r.marks {
		sum += m.count
	}
	if sum != 51 || len(r.marks) > 3 {
		t.Errorf("%d marks stand for %d instants", len(r.marks), sum)
	}
	last := r.marks[len(r.marks)-1]
	f, ok := pick(r, float64(placed(r).x(last.time)), float64(placed(r).rows[0].from)+2)
	if !ok || f.Title != "tock" || *f.Begin != 9000 {
		t.Errorf("fact %+v", f)
	}
}

// A link that begins before the window and ends in it is cut at the edge, where
// a straight line from end to end crosses it.
func TestLinksAreCutAtTheWindow(t *testing.T) {
	r := computeFor(t, storetest.Text(t, `
location process a
  0..1000 main
location process b
  0..1000 main
link message 100 a -> 500 b size=8
`, all.Summaries...), view.Spec{From: "300", To: "900"}, nil, scene.Size{Width: 640, Height: 200})
	r.Scene(r.size)
	l, _ := arrows(r)
	if l.Len() != 1 {
		t.Fatalf("%d arrows", l.Len())
	}
	top, bottom := middle(placed(r).rows[0]), middle(placed(r).rows[1])
	if l.X0[0] != placed(r).frame.x || l.Y0[0] != (top+bottom)/2 || l.Y1[0] != bottom {
		t.Errorf("arrow from %g, %g to %g, %g; rows at %g and %g", l.X0[0], l.Y0[0], l.X1[0], l.Y1[0], top, bottom)
	}
}

func TestDenseLinksBecomeBursts(t *testing.T) {
	text := "location process a\n  0..100000 main\nlocation process b\n  0..100000 main\n"
	for i := range 300 {
		text += fmt.Sprintf("link message %d a -> %d b size=1\n", 20000+i, 20500+i)
	}
	text += "link message 80000 b -> 80100 a size=1\n"
	reader := storetest.Text(t, text, all.Summaries...)
	size := scene.Size{Width: 800, Height: 400}
	r := computeFor(t, reader, view.Spec{}, nil, size)
	if len(r.links.bursts) != 1 || r.links.bursts[0].count != 300 || len(r.links.arrows) != 1 {
		t.Fatalf("%d bursts, %d arrows", len(r.links.bursts), len(r.links.arrows))
	}
	r.Scene(size)
	_, bursts := arrows(r)
	if f, ok := pick(r, float64(bursts.X[0]), float64(bursts.Y[0])); !ok || f.Count != 300 {
		t.Errorf("fact %+v", f)
	}
	if r := computeFor(t, reader, view.Spec{}, map[string][]string{"links": {"all"}}, size); len(r.links.arrows) != 301 {
		t.Errorf("%d arrows of all", len(r.links.arrows))
	}
	if r := computeFor(t, reader, view.Spec{}, map[string][]string{"links": {"none"}}, size); len(r.links.arrows)+len(r.links.bursts) != 0 {
		t.Error("links are drawn")
	}
}

func TestWrongOptionsSayWhatIsWanted(t *testing.T) {
	r := storetest.Text(t, small, all.Summaries...)
	for _, o := range []map[string][]string{{"colour": {"mood"}}, {"depth": {"-1"}}, {"scroll": {"-2"}}, {"expand": {"nobody"}}, {"collapse": {"["}}, {"counters": {"re:("}}} {
		c := viewtest.Case{Options: o}
		if _, err := View.Compute(t.Context(), c.Request(t, View, r)); err == nil {
			t.Errorf("%v is accepted", o)
		}
	}
}

func TestRowsByTheBestAggregationFoldWhoIsAlike(t *testing.T) {
	text := "region work role=compute\nregion wait role=idle\n"
	for m := range 3 {
		text += fmt.Sprintf("location machine m%d\n", m)
		for p := range 2 {
			end := 80
			if m == 1 && p == 1 {
				end = 10
			}
			text += fmt.Sprintf("  location process p%d rank=%d\n    0..%d work\n    %d..100 wait\n", 2*m+p, 2*m+p, end, end)
		}
	}
	c := viewtest.Case{Trace: text, Options: map[string][]string{"group": {"optimal"}, "p": {"0.3"}}}
	var got []string
	for _, row := range c.Compute(t, View, c.Open(t)).Scene(scene.Size{Width: 600, Height: 300}).Frames[0].YScale.Rows {
		got = append(got, row.Label)
	}
	if s := strings.Join(got, ", "); s != "m0 (2), m1, rank 2, rank 3, m2 (2)" {
		t.Errorf("rows %s", s)
	}
}

// The table says whose row it is, and whether it holds what is drawn or everything.
func TestTableNamesLocationsAndSaysWhatItHolds(t *testing.T) {
	text := "location machine m\n  location process p rank=7\n    location thread t\n"
	for i := range 3000 {
		text += fmt.Sprintf("      %d..%d f\n", 10*i, 10*i+4)
	}
	for all, want := range map[string]int{"false": 400, "true": 3000} {
		c := viewtest.Case{Trace: text, Options: map[string][]string{"all": {all}}, Size: scene.Size{Width: 300, Height: 100}}
		r := c.Open(t)
		result := c.Compute(t, View, r)
		table := result.Table()
		if all == "true" && len(table.Rows) != want || all == "false" && len(table.Rows) > want {
			t.Errorf("--all=%s gives %d rows", all, len(table.Rows))
		}
		if row := table.Rows[0]; row[0] != "m/p/t" || row[1] != int64(7) {
			t.Errorf("--all=%s: the location is %v, the rank %v", all, row[0], row[1])
		}
		twin := view.TwinOf(View, c.Request(t, View, r), result)
		if said := slices.ContainsFunc(twin.Notes, func(n string) bool { return strings.Contains(n, "--all") }); said != (all == "false") {
			t.Errorf("--all=%s: the notes are %q", all, twin.Notes)
		}
	}
}

// Where there are more locations than pixels, who differs from its neighbours over the whole
// run has rows of its own without being asked for, and keeps them while one zooms.
func TestMoreRowsThanPixelsAreFoldedWhereTheyAreAlike(t *testing.T) {
	text := "region work role=compute\nregion wait role=idle\n"
	for m := range 34 {
		text += fmt.Sprintf("location machine m%d\n", m)
		for p := range 12 {
			end := 80
			if m == 17 {
				end = 10 + 6*p
			}
			text += fmt.Sprintf("  location process p%d rank=%d\n    0..%d work\n    %d..100 wait\n", 12*m+p, 12*m+p, end, end)
		}
	}
	size := scene.Size{Width: 600, Height: 400}
	labels := func(spec view.Spec, options map[string][]string) string {
		c := viewtest.Case{Trace: text, Options: options, Spec: spec, Size: size}
		var got []string
		for _, row := range c.Compute(t, View, c.Open(t)).Scene(size).Frames[0].YScale.Rows {
			got = append(got, row.Label)
		}
		return strings.Join(got, ", ")
	}
	whole := labels(view.Spec{}, nil)
	if !strings.Contains(whole, "m17, rank 204, rank 205") {
		t.Errorf("rows %s", whole)
	}
	if zoomed := labels(view.Spec{From: "85%", To: "95%"}, nil); zoomed != whole {
		t.Errorf("zoomed to where all wait rows are %s", zoomed)
	}
}

// A set of events without a beginning and an end, as many a CTF trace is, has rows with marks; a run of counters draws them unasked.
func TestARunOfInstantsHasRows(t *testing.T) {
	r := viewtest.Local(t, func(w trace.Writer) {
		region := w.Region(trace.Region{Name: "sched_wakeup"})
		for _, name := range []string{"CPU 0", "CPU 1", "CPU 2"} {
			id := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcessor, Name: name, Rank: trace.NoRank})
			s := w.Stream(id, trace.StreamOptions{})
			switch name {
			case "CPU 0":
				s.Instant(10, region)
				s.Instant(90, region)
			case "CPU 1":
				s.Sample(w.Counter(trace.Counter{Location: id, Name: "power"}), 50, 7)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if missing := View.Needs.Missing(r); missing != "" {
		t.Fatal(missing)
	}
	got := computeFor(t, r, view.Spec{}, nil, scene.Size{Width: 400, Height: 300})
	if len(got.rows) != 2 || len(got.marks) != 2 || len(got.counters.list) != 1 {
		t.Errorf("%d rows, %d marks, %d counters", len(got.rows), len(got.marks), len(got.counters.list))
	}
}
