package findings_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/demo"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// Five ranks, two iterations; rank 3 works twice as long and the others wait for it.
const slowRank = `
region iteration role=compute
region solve role=compute
region MPI_Barrier role=communication
location process "rank 0" rank=0
  0..100 iteration
    0..50 solve
    50..100 MPI_Barrier
  100..200 iteration
    100..150 solve
    150..200 MPI_Barrier
location process "rank 1" rank=1
  0..100 iteration
    0..51 solve
    51..100 MPI_Barrier
  100..200 iteration
    100..151 solve
    151..200 MPI_Barrier
location process "rank 2" rank=2
  0..100 iteration
    0..49 solve
    49..100 MPI_Barrier
  100..200 iteration
    100..149 solve
    149..200 MPI_Barrier
location process "rank 3" rank=3
  0..100 iteration
    0..98 solve
    98..100 MPI_Barrier
  100..200 iteration
    100..198 solve
    198..200 MPI_Barrier
location process "rank 4" rank=4
  0..100 iteration
    0..50 solve
    50..100 MPI_Barrier
  100..200 iteration
    100..150 solve
    150..200 MPI_Barrier
`

// slowGPU is a job of four GPUs in two steps; rank 2 computes twice as long and the others wait
// for it in the reduction.
func slowGPU() string {
	var b strings.Builder
	b.WriteString("region gemm category=kernel role=compute\nregion ncclDevKernel_AllReduce category=kernel role=communication\n")
	for k := range 2 {
		fmt.Fprintf(&b, "region ProfilerStep#%d category=user_annotation role=annotation\n", k)
	}
	for r := range 4 {
		fmt.Fprintf(&b, "location process \"rank %d\" rank=%d\n  location thread main\n    0us..100us ProfilerStep#0\n    100us..200us ProfilerStep#1\n  location device GPU\n    location stream \"stream 7\"\n", r, r)
		work := 40 + r
		if r == 2 {
			work = 90
		}
		for k := range 2 {
			fmt.Fprintf(&b, "      %dus..%dus gemm\n      %dus..%dus ncclDevKernel_AllReduce\n", 100*k, 100*k+work, 100*k+work, 100*k+100)
		}
	}
	return b.String()
}

func TestView(t *testing.T) {
	viewtest.Run(t, findings.View,
		viewtest.Case{Name: "a slow rank", Trace: slowRank},
		viewtest.Case{Name: "by slices", Trace: slowRank, Options: map[string][]string{"phase": {"slices:4"}}, Size: scene.Size{Width: 420, Height: 300}},
		viewtest.Case{Name: "who makes whom wait", Trace: slowRank, Options: map[string][]string{"picture": {"causes"}}},
		viewtest.Case{Name: "causes in a small picture", Trace: slowRank, Options: map[string][]string{"picture": {"causes"}}, Size: scene.Size{Width: 300, Height: 200}},
		viewtest.Case{Name: "who makes GPUs wait", Trace: slowGPU(), Options: map[string][]string{"picture": {"causes"}}},
		viewtest.Case{Name: "nothing stands out", Trace: "location process a rank=0\n  0..100 work\nlocation process b rank=1\n  0..100 work\n"},
	)
}

func read(t *testing.T, r store.Reader) answers {
	t.Helper()
	values, err := view.NewValues(findings.View, nil)
	if err != nil {
		t.Fatal(err)
	}
	sel, err := view.Spec{}.Resolve(r)
	if err != nil {
		t.Fatal(err)
	}
	res, err := findings.View.Compute(context.Background(), &view.Request{Runs: []view.Run{{Store: r}}, Values: values, Selection: sel, Size: scene.Size{Width: 960, Height: 540}})
	if err != nil {
		t.Fatal(err)
	}
	return answers{res.Data().(findings.Data), r}
}

func readDemo(t *testing.T, name string) answers {
	t.Helper()
	d, ok := demo.Find(name)
	if !ok {
		t.Fatalf("no demo %s", name)
	}
	return read(t, viewtest.Local(t, func(w trace.Writer) {
		if err := d.Write(context.Background(), d.Options, w); err != nil {
			t.Fatal(err)
		}
	}))
}

// A want is a kind, and subjects and evidence as answers.about writes them.
type want struct {
	kind  finding.Kind
	about []string
}

func holds(t *testing.T, d *answers, list ...want) {
	t.Helper()
	for i, w := range list {
		if i >= len(d.Findings) {
			t.Fatalf("finding %d is missing: want %s with %q", i+1, w.kind, w.about)
		}
		f := &d.Findings[i]
		if f.Kind != w.kind {
			t.Errorf("finding %d is %s, want %s: %s", i+1, f.Kind, w.kind, f.Text)
		}
		for _, s := range w.about {
			if !strings.Contains(d.about(f), s) {
				t.Errorf("finding %d has no %q: %s\n%s", i+1, s, f.Text, d.about(f))
			}
		}
	}
	for _, f := range d.Findings[len(list):] {
		if f.Severity == finding.High {
			t.Errorf("a finding besides is of high severity: %s", f.Text)
		}
	}
}

func TestInjectedFaultsComeFirstAndNothingElseIsHigh(t *testing.T) {
	for _, c := range []struct {
		demo string
		list []want
	}{
		{"stencil", []want{
			{finding.Straggler, []string{"at node05/rank 40/main thread\n", "at node05/rank 47/main thread\nphase iteration 1\n", "phase iteration 20\n", "compute = 1.92 s"}},
			{finding.LateSender, []string{"at node01/rank 11/main thread\nphase", "rebuild_table = 96.0 ms"}},
		}},
		{"training", []want{
			{finding.Straggler, []string{"at gpu-node-0/rank 3\nphase ProfilerStep#12\nwaited", "DataLoaderIter.__next__ = 45.2 ms"}},
			{finding.Straggler, []string{"at gpu-node-1/rank 11\nphase ProfilerStep#16\n", "phase ProfilerStep#19\nkernels = "}},
		}},
		{"g5k433", []want{{finding.Heterogeneous, []string{"at cluster0/machine3\n", "at cluster1/machine8\n", "in STEAL\n", "locations = 8"}}}},
		{"g5k188", []want{{finding.Heterogeneous, []string{"at site4/cluster8\nin STEAL\n", "locations = 11"}}}},
	} {
		t.Run(c.demo, func(t *testing.T) {
			d := readDemo(t, c.demo)
			holds(t, &d, c.list...)
		})
	}
}

func TestFourPlacesOfAMillionAreFound(t *testing.T) {
	if testing.Short() {
		t.Skip("a million locations take some seconds")
	}
	d := readDemo(t, "million")
	holds(t, &d, want{finding.Heterogeneous, []string{"at s2\nin VS0\n"}}, want{finding.Heterogeneous, []string{"at s4/c5\nin VS0\n"}},
		want{finding.Heterogeneous, []string{"at s6/c3/k7\nin VS0\n"}}, want{finding.Heterogeneous, []string{"at s8/c1/k2/m9\nin VS0\n"}})
}

func TestBalancedRunsHaveNoFindings(t *testing.T) {
	for _, name := range []string{"stencil?balanced", "training?balanced", "g5k433?balanced", "uniform"} {
		t.Run(name, func(t *testing.T) {
			for _, f := range readDemo(t, name).Findings {
				t.Errorf("%s %s: %s", f.Severity, f.Kind, f.Text)
			}
		})
	}
}

func TestTheStragglerOfARealTrainingJobIsNamed(t *testing.T) {
	d := read(t, viewtest.Import(t, "data", "kineto-ddp-8rank"))
	holds(t, &d, want{finding.Straggler, []string{"at rank 5\nphase ProfilerStep#3\n", "phase ProfilerStep#5\nkernels = 102 ms\n", "kernels on the others, most = 31.6 ms", "waited by others = 605 ms"}})
	f := d.Findings[0]
	if f.View != "phases" || len(f.Selection.Locations) != 1 || len(f.Phases) != 3 || f.Lost <= 0 {
		t.Errorf("it links to %s of %d locations and %d phases, lost %d", f.View, len(f.Selection.Locations), len(f.Phases), f.Lost)
	}
	if e := f.Evidence[0]; e.Name != "kernels" || math.Abs(e.Value-102e6) > 1e6 || e.Unit != "ns" {
		t.Errorf("the evidence is %+v", e)
	}
}

func TestLINPACKAndLAMMPSHaveTheirKnownFindings(t *testing.T) {
	for _, c := range []struct {
		set   string
		kind  finding.Kind
		about []string
	}{
		{"otf2-hpl16-deep-a", finding.Communication, []string{"MPI_Send", "MPI_Recv"}},           // two cores for sixteen ranks: MPI polls
		{"otf2-hpl16-deep-b", finding.Data, []string{"records = 960\n"}},                         // MPI_Ssend, which the shim leaves out
		{"otf2-hpl32", finding.Data, nil},                                                        // see its notes
		{"otf2-lammps-balanced16", finding.Communication, []string{"MPI_Allreduce", "MPI_Send"}}, // and no straggler
		{"otf2-lammps-imbalanced16", finding.Imbalance, []string{"load balance = 35.0 %", "Working on rank 1 = 25.2 ms"}},
		{"otf2-lammps-imbalanced16", finding.StartUp, []string{"at lmp/P#0/P#0T#0\nfirst record after that of the others, median = 54.9 ms\n"}},
	} {
		d := read(t, viewtest.Import(t, "data", c.set))
		found := false
		for _, f := range d.Findings {
			if f.Kind != c.kind {
				continue
			}
			all := true
			for _, w := range c.about {
				all = all && strings.Contains(d.about(&f), w)
			}
			found = found || all
		}
		if !found {
			t.Errorf("%s: no %s with %q in %q", c.set, c.kind, c.about, texts(&d))
		}
		if c.set == "otf2-lammps-balanced16" {
			for _, f := range d.Findings {
				if f.Kind == finding.Straggler || f.Kind == finding.Imbalance {
					t.Errorf("the balanced run: %s", f.Text)
				}
			}
		}
	}
}

// POP's numbers are computed again from what `parallax info --json` tells, and from
// the profile of each location.
func TestEfficienciesEqualAnotherComputation(t *testing.T) {
	for _, name := range []string{"stencil", "g5k433"} {
		d, _ := demo.Find(name)
		r := viewtest.Local(t, func(w trace.Writer) {
			if err := d.Write(context.Background(), d.Options, w); err != nil {
				t.Fatal(err)
			}
		})
		info, err := view.InfoOf(context.Background(), r)
		if err != nil {
			t.Fatal(err)
		}
		useful := 0.0
		for _, g := range info.RegionTable {
			if g.Role == "compute" || g.Role == "io" || g.Role == "copy" {
				useful += g.Exclusive
			}
		}
		most := 0.0
		for id := range r.Locations().Len() {
			sum := 0.0
			table, err := r.Time(context.Background(), store.Window{End: info.End + 1, Locations: []trace.LocationID{trace.LocationID(id)}})
			if err != nil {
				t.Fatal(err)
			}
			for k, at := range table.Locations {
				for i := table.Offsets[k]; i < table.Offsets[k+1]; i++ {
					if int(at) == id && r.Regions()[table.Region[i]].Role.Busy() {
						sum += float64(table.Exclusive[i])
					}
				}
			}
			most = max(most, sum)
		}
		mean, end := useful/float64(info.Rows), float64(info.End)
		got := read(t, r).POP
		if name == "g5k433" { // in which nobody communicates
			if got.Communication != nil {
				t.Errorf("%s: communication efficiency %v", name, *got.Communication)
			}
			got.Communication = new(float64)
			*got.Communication = most / end
		}
		for _, c := range []struct {
			name      string
			got, want float64
		}{{"parallel efficiency", *got.Parallel, mean / end}, {"load balance", *got.LoadBalance, mean / most}, {"communication efficiency", *got.Communication, most / end}} {
			if math.Abs(c.got-c.want) > 1e-9*c.want {
				t.Errorf("%s: %s is %v, want %v", name, c.name, c.got, c.want)
			}
		}
	}
}

// Goroutines tell the time of processors again, each a little of it: the efficiencies
// of a scheduler's trace are those of its processors.
func TestEfficienciesOfAGoTraceAreThoseOfItsProcessors(t *testing.T) {
	text := "region idle role=idle\nregion wait role=synchronization\nlocation processor \"P 0\"\n  0..90 work\n  90..100 idle\nlocation processor \"P 1\"\n  0..45 work\n  45..100 idle\n"
	for i := range 20 {
		text += fmt.Sprintf("location goroutine \"goroutine %d\"\n  %d..%d work\n  %d..%d wait\n", i, 4*i, 4*i+5, 4*i+5, 4*i+6)
	}
	got := read(t, viewtest.Local(t, func(w trace.Writer) {
		if err := tracetest.Parse(w, text); err != nil {
			t.Fatal(err)
		}
	})).POP
	if got.Locations != 2 || math.Abs(*got.LoadBalance-0.75) > 1e-12 || math.Abs(*got.Communication-0.9) > 1e-12 || math.Abs(*got.Parallel-0.675) > 1e-12 {
		t.Errorf("%d locations, load balance %v, communication efficiency %v, parallel efficiency %v; want 2, 0.75, 0.9, 0.675", got.Locations, *got.LoadBalance, *got.Communication, *got.Parallel)
	}
}

// Processors take what a scheduler gives them: that one works while the others have
// nothing to do is not told as if they were ranks, but only how long they idle.
func TestProcessorsAreNoPeers(t *testing.T) {
	text := "region idle role=idle\n"
	for i := range 8 {
		text += fmt.Sprintf("location processor \"P %d\"\n  0..%d work\n  %d..1000 idle\n", i, 900>>i, 900>>i)
	}
	for _, kind := range []string{"processor", "process"} {
		d := read(t, viewtest.Local(t, func(w trace.Writer) {
			if err := tracetest.Parse(w, strings.ReplaceAll(text, "location processor", "location "+kind)); err != nil {
				t.Fatal(err)
			}
		}))
		compared := slices.ContainsFunc(d.Findings,
			func(f finding.Finding) bool { return f.Kind != finding.IdleProcessors })
		if compared != (kind == "process") {
			t.Errorf("of a %s: %q", kind, texts(&d))
		}
	}
}

// A run beyond what is read whole is found in its digests and in windows of time.
func TestALargeRunIsNotScanned(t *testing.T) {
	if testing.Short() {
		t.Skip("four million intervals take some seconds")
	}
	d := readDemo(t, "stencil?locations=1000&intervals=4400000")
	if len(d.Findings) == 0 || d.Findings[0].Kind != finding.Straggler || len(d.Findings[0].Subjects) < 2 {
		t.Errorf("%+v", d.Findings)
	}
}

func TestAPictureOfCausesStatesThatProfilesHaveNoWaits(t *testing.T) {
	data, err := os.ReadFile("../../importer/cube/testdata/kripke.cubex")
	if err != nil {
		t.Fatal(err)
	}
	r := viewtest.ImportBytes(t, "kripke.cubex", data)
	c := viewtest.Case{Options: map[string][]string{"picture": {"causes"}}}
	if d := c.Compute(t, findings.View, r).Scene(scene.Size{Width: 800, Height: 400}).Description; !strings.Contains(d, "A profile does not tell who waits for whom.") {
		t.Errorf("of a profile it says %q", d)
	}
}

// largeRun says that a run has many intervals, and counts how often its messages are read, and all of its rows.
type largeRun struct {
	store.Reader
	store.Keeper
	reads, passes int
}

func (l *largeRun) Count(w store.Window) (int64, error) {
	if w.Begin <= 0 && w.End >= l.Info().End {
		return 1 << 18, nil
	}
	return l.Reader.Count(w)
}

func (l *largeRun) Intervals(ctx context.Context, w store.Window, f func(*trace.Columns) error) error {
	if w.Begin <= 0 && w.End >= l.Info().End {
		l.passes++
	}
	return l.Reader.Intervals(ctx, w, f)
}

func (l *largeRun) Links(ctx context.Context, w store.Window, f func(*store.LinkColumns) error) error {
	l.reads++
	return l.Reader.Links(ctx, w, f)
}

// What following all waits of a large run finds lies with its store: the next look is the same in numbers and pictures and reads
// messages less often, and what lies there of another run, or is damaged, is found again.
func TestWaitsOfALargeRunAreTracedOnce(t *testing.T) {
	m, ok := demo.Find("stencil?locations=16&intervals=20000")
	if !ok {
		t.Fatal("no demo stencil")
	}
	r := viewtest.Local(t, func(w trace.Writer) {
		if err := m.Write(t.Context(), m.Options, w); err != nil {
			t.Fatal(err)
		}
	})
	small := readAll(t, r)
	l := &largeRun{Reader: r, Keeper: r.(store.Keeper)}
	if _, kept := l.Kept("waiting"); kept {
		t.Fatal("what a small run waits is kept")
	}
	if first := readAll(t, l); first != small {
		t.Error("the first look at a large run differs from that at a small one")
	}
	once := l.reads
	if l.passes > 6 { // of two pictures, each for phases and for what rows do in them, and the first for waits and a replay
		t.Errorf("two looks read all rows %d times, want 6", l.passes)
	}
	kept, ok := l.Kept("waiting")
	if !ok {
		t.Fatal("nothing is kept")
	}
	if readAll(t, l); l.reads >= 2*once {
		t.Errorf("the next look reads messages as often as the first: %d and %d times", l.reads-once, once)
	}
	for what, b := range map[string][]byte{"whole": kept, "cut short": kept[:len(kept)-1], "of another run": append([]byte{kept[0], kept[1] + 1}, kept[2:]...)} {
		if err := l.Keep("waiting", b); err != nil {
			t.Fatal(err)
		}
		if again := readAll(t, l); again != small {
			t.Errorf("%s: the next look differs", what)
		}
		if now, _ := l.Kept("waiting"); !bytes.Equal(now, kept) {
			t.Errorf("%s: it was not found again", what)
		}
	}
}

// readAll gives numbers and pictures of the findings as text.
func readAll(t *testing.T, r store.Reader) string {
	t.Helper()
	var out []any
	for _, picture := range []string{"findings", "causes"} {
		values, err := view.NewValues(findings.View, map[string][]string{"picture": {picture}})
		if err != nil {
			t.Fatal(err)
		}
		sel, err := view.Spec{}.Resolve(r)
		if err != nil {
			t.Fatal(err)
		}
		size := scene.Size{Width: 960, Height: 540}
		res, err := findings.View.Compute(t.Context(), &view.Request{Runs: []view.Run{{Store: r}}, Values: values, Selection: sel, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, res.Data(), res.Notes(), res.Scene(size))
	}
	b, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
