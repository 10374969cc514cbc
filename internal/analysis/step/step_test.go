package step

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A fake is a store in memory: one process with one thread and one GPU.
type fake struct {
	store.Reader
	end     trace.Time
	regions []trace.Region
	host    []row
	work    []row
	calls   map[int]int // of work: the row of the host
}

type row struct {
	begin, end trace.Time
	region     int
}

// part is all of the run.
func (f *fake) part(end trace.Time) *runfacts.GPUPart {
	f.end = end
	d := &runfacts.Devices{Units: []trace.LocationID{0}, GPUs: []trace.LocationID{1}, Unit: []int32{0, 0}, GPU: []int32{-1, 0}, Owner: []int32{0}, Rows: []trace.LocationID{0, 1}}
	return d.In(context.Background(), f, store.Window{End: end})
}

func (f *fake) Info() *store.Info       { return &store.Info{Intervals: int64(len(f.host)), End: f.end} }
func (f *fake) Regions() []trace.Region { return f.regions }
func (f *fake) Lanes() []uint32         { return []uint32{0, 1, 2} }
func (f *fake) Attributes() []string    { return nil }

func (f *fake) Intervals(_ context.Context, _ store.Window, add func(*trace.Columns) error) error {
	for location, rows := range [][]row{f.host, f.work} {
		c := &trace.Columns{Location: trace.LocationID(location)}
		for _, r := range rows {
			c.Begin, c.Duration, c.Region = append(c.Begin, r.begin), append(c.Duration, r.end-r.begin), append(c.Region, trace.RegionID(r.region))
		}
		if err := add(c); err != nil {
			return err
		}
	}
	return nil
}

func (f *fake) Links(_ context.Context, _ store.Window, add func(*store.LinkColumns) error) error {
	for w, h := range f.calls {
		l := &store.LinkColumns{Kind: []trace.LinkKind{trace.LinkSpawn}, FromLocation: []trace.LocationID{0}, FromTime: []trace.Time{f.host[h].begin}, FromLane: []int32{0}, FromRow: []int32{int32(h)}, ToLocation: []trace.LocationID{1}, ToLane: []int32{0}, ToRow: []int32{int32(w)}}
		if err := add(l); err != nil {
			return err
		}
	}
	return nil
}

// RoleTime takes all rows for work.
func (f *fake) RoleTime(_ context.Context, _ []trace.LocationID, edges []trace.Time) ([]trace.Sum, error) {
	out := make([]trace.Sum, (len(edges)-1)*trace.RoleCount)
	for b := range len(edges) - 1 {
		for _, r := range append(append([]row{}, f.host...), f.work...) {
			out[b*trace.RoleCount+int(trace.RoleCompute)].Add(max(0, min(r.end, edges[b+1])-max(r.begin, edges[b])))
		}
	}
	return out, nil
}

var names = []trace.Region{
	{Name: "ProfilerStep#1", Category: "user_annotation", Role: trace.RoleAnnotation},
	{Name: "ProfilerStep#2", Category: "user_annotation", Role: trace.RoleAnnotation},
	{Name: "cudaLaunchKernel", Category: "cuda_runtime", Role: trace.RoleOverhead},
	{Name: "enumerate(DataLoader)#_Iter.__next__", Category: "cpu_op", Role: trace.RoleCompute},
	{Name: "aten::mm", Category: "cpu_op", Role: trace.RoleCompute},
	{Name: "gemm", Category: "kernel", Role: trace.RoleCompute},
	{Name: "ncclAllReduce", Category: "kernel", Role: trace.RoleCommunication},
	{Name: "Memcpy HtoD", Category: "gpu_memcpy", Role: trace.RoleCopy},
	{Name: "Memset", Category: "gpu_memset", Role: trace.RoleCopy},
}

// random writes two steps with operators in them, and work of any sort at any time.
func random(rng *rand.Rand) *fake {
	f := &fake{regions: names, calls: map[int]int{}}
	for s := range 2 {
		begin := trace.Time(s*200 + rng.IntN(20))
		f.host = append(f.host, row{begin, trace.Time(s*200 + 180), s})
		for at := begin; at < trace.Time(s*200+150); {
			at += trace.Time(rng.IntN(20))
			end := at + 1 + trace.Time(rng.IntN(25))
			f.host = append(f.host, row{at, end, 3 + rng.IntN(2)})
			if at+2 < end {
				f.host = append(f.host, row{at + 1, end - 1, 2})
			}
			at = end
		}
	}
	for at := trace.Time(rng.IntN(30)); at < 400; at += trace.Time(rng.IntN(30)) {
		end := at + trace.Time(rng.IntN(20))
		if h := rng.IntN(len(f.host)); f.host[h].region == 2 && f.host[h].begin <= at {
			f.calls[len(f.work)] = h
		}
		f.work = append(f.work, row{at, end, 5 + rng.IntN(4)})
		at = end
	}
	return f
}

// Every nanosecond is looked at by itself.
func TestTermsAreThoseOfEveryInstant(t *testing.T) {
	for seed := range uint64(300) {
		f := random(rand.New(rand.NewPCG(seed, 1)))
		job, err := Analyse(f.part(500))
		if err != nil || len(job.Steps) != 2 {
			t.Fatal(seed, err, len(job.Steps))
		}
		for i := range job.Steps {
			s := &job.Steps[i]
			var want [Terms]trace.Time
			var gpu Time
			for at := s.Begin; at < s.End; at++ {
				open := map[Term]bool{}
				for _, r := range append(append([]row{}, f.host...), f.work...) {
					if r.begin <= at && at < r.end {
						open[map[int]Term{2: Runtime, 3: Loader, 4: CPU, 5: Kernel, 6: Communication, 7: Memcpy, 8: Memset, 0: Other, 1: Other}[r.region]] = true
					}
				}
				term := Other
				for k := Other; k >= 0; k-- {
					if open[k] {
						term = k
					}
				}
				want[term]++
				switch {
				case open[Kernel] || open[Memset]:
					gpu.Computation++
				case open[Communication]:
					gpu.ExposedCommunication++
				case open[Memcpy]:
					gpu.ExposedCopy++
				default:
					gpu.Idle++
				}
			}
			if want != s.Terms {
				t.Fatalf("seed %d: %s [%d, %d): %v, want %v", seed, s.Name, s.Begin, s.End, s.Terms, want)
			}
			g := s.GPUs[0]
			if got := [4]trace.Time{g.Computation, g.ExposedCommunication, g.ExposedCopy, g.Idle}; got != [4]trace.Time{gpu.Computation, gpu.ExposedCommunication, gpu.ExposedCopy, gpu.Idle} {
				t.Fatalf("seed %d: %s: %v, want %+v", seed, s.Name, got, gpu)
			}
		}
		g := &job.GPUs[0]
		idle := job.Steps[0].GPUs[0].Idle + job.Steps[1].GPUs[0].Idle
		for _, x := range g.InSteps {
			idle -= x
		}
		if idle != 0 {
			t.Fatalf("seed %d: %d of the idle time of steps has no cause", seed, idle)
		}
		sum := trace.Time(0)
		for _, x := range g.Causes {
			sum += x
		}
		if g.Span != g.Computation+g.ExposedCommunication+g.ExposedCopy+g.Idle || sum != g.Idle {
			t.Fatalf("seed %d: %+v, causes %d", seed, g.Time, sum)
		}
	}
}

func TestAGapIsSplitByTheActivityOfItsThread(t *testing.T) {
	f := &fake{regions: append(names, trace.Region{Name: "cudaDeviceSynchronize", Category: "cuda_runtime", Role: trace.RoleSynchronization}), calls: map[int]int{0: 0, 1: 3, 2: 4}}
	f.host = []row{{0, 5, 2}, {10, 40_000, 9}, {50_000, 70_000, 3}, {80_000, 84_000, 2}, {84_000, 85_000, 2}}
	f.work = []row{{10, 30_000, 5}, {90_000, 95_000, 5}, {96_000, 99_000, 5}}
	job, err := Analyse(f.part(100_000))
	if err != nil {
		t.Fatal(err)
	}
	g := &job.GPUs[0]
	want := [Causes]trace.Time{BySynchronization: 10_000, ByNothing: 20_000, ByLoader: 20_000, ByCall: 4_000, ByQueue: 6_000, BetweenWorks: 1_000}
	if g.Causes != want {
		t.Errorf("%v, want %v", g.Causes, want)
	}
	if gap := &g.Gaps[0]; gap.Length() != 60_000 || !gap.Drained || gap.Cause() != ByNothing && gap.Cause() != ByLoader {
		t.Errorf("%+v", gap)
	}
}

func TestQueueAndLaunches(t *testing.T) {
	works := []Work{
		{Begin: 10, End: 12, Called: 0, Returned: 4}, {Begin: 20, End: 40, Called: 5, Returned: 8}, {Begin: 40, End: 50, Called: 9, Returned: 10}, {Begin: 60, End: 61, Called: -1},
	}
	l := launchesOf(works)
	if l.Count != 3 || l.Short != 1 || l.QueueMost != 3 || l.Delay.Least != 6 || l.Delay.Most != 30 || l.Call.Median != 3 {
		t.Errorf("%+v", l)
	}
	if want := float64(5*1+4*2+1*3+10*2+20*1) / 40; l.QueueMean != want {
		t.Error(l.QueueMean, want)
	}
}

func TestRegionsCountAsTermsByNameAndCategory(t *testing.T) {
	for _, c := range []struct {
		name, category string
		want           Term
		doing          Doing
	}{
		{"enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", "cpu_op", Loader, Loading},
		{"IteratorGetNext", "", Loader, Loading},
		{"infeed", "", Loader, Loading},
		{"cudaStreamSynchronize", "cuda_runtime", Runtime, Synchronizing},
		{"cudaStreamWaitEvent", "cuda_runtime", Runtime, Calling},
		{"hipMalloc", "cuda_runtime", Runtime, Allocating},
		{"cuLaunchKernelEx", "cuda_driver", Runtime, Calling},
		{"hipModuleLaunchKernel", "host", Runtime, Calling},
		{"aten::mm", "cpu_op", CPU, Operating},
		{"train.py(12): main", "python_function", CPU, Python},
		{"forward", "user_annotation", CPU, Annotated},
		{"gloo:all_reduce", "user_annotation", Communication, Exchanging},
		{"nccl:all_reduce", "user_annotation", CPU, Operating},
	} {
		g := trace.Region{Name: c.name, Category: c.category, Role: trace.RoleOf(c.name, c.category)}
		if got := classOf(&g); got.term != c.want || got.doing != c.doing {
			t.Errorf("%s (%s): %v, doing %d", c.name, g.Role, got.term, got.doing)
		}
	}
	for name, want := range map[string]Term{"gemm": Kernel, "ncclDevKernel_AllReduce": Communication, "Memcpy DtoD": Memcpy, "Memset (Device)": Memset, "dma_request": Memcpy, "Context Sync": noTerm} {
		category := map[Term]string{Kernel: "kernel", Communication: "kernel", Memcpy: "gpu_memcpy", Memset: "gpu_memset", noTerm: "cuda_sync"}[want]
		if name == "dma_request" {
			category = "mtia_ccp_events"
		}
		g := trace.Region{Name: name, Category: category, Role: trace.RoleOf(name, category)}
		if got := workTerm(&g); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// What a spread says is what a sorted list says, whatever the order and however many are equal.
func TestSpreadsAreThoseOfSortedLists(t *testing.T) {
	chance := rand.New(rand.NewPCG(3, 3))
	for range 2000 {
		n := 1 + chance.IntN(400)
		list := make([]trace.Time, n)
		for i := range list {
			switch chance.IntN(3) {
			case 0:
				list[i] = trace.Time(chance.IntN(10) - 5)
			case 1:
				list[i] = trace.Time(i)
			default:
				list[i] = trace.Time(chance.Int64N(1 << (10 + chance.IntN(50))))
			}
		}
		sorted := slices.Clone(list)
		slices.Sort(sorted)
		sum := 0.0
		for _, x := range sorted {
			sum += float64(x)
		}
		want := Spread{Mean: sum / float64(n), Median: sorted[(n-1)/2], P98: sorted[(n-1)*98/100], Least: sorted[0], Most: sorted[n-1]}
		if got := spreadOf(list); got != want {
			t.Fatalf("%+v, want %+v of %v", got, want, sorted)
		}
	}
}

// While the recorder was off no GPU is idle: its time is that of the windows, and so are its gaps and their causes.
func TestTimeInWhichTheRecorderWasOffIsNoIdleTime(t *testing.T) {
	const far = 470_000
	f := &fake{regions: names, calls: map[int]int{0: 0, 1: 1, 2: 2, 3: 3}}
	for i, at := range []trace.Time{0, 100, far, far + 100} {
		f.host = append(f.host, row{at, at + 10, 2})
		f.work = append(f.work, row{at + 20, at + 80, 5})
		f.calls[i] = i
	}
	j, err := Analyse(f.part(far + 200))
	if err != nil {
		t.Fatal(err)
	}
	g := &j.GPUs[0]
	causes := trace.Time(0)
	for _, c := range g.Causes {
		causes += c
	}
	if g.Span != 340 || g.Computation != 240 || g.Idle != 100 || causes != 100 {
		t.Errorf("span %d, computation %d, idle %d, by causes %d; want 340, 240, 100, 100", g.Span, g.Computation, g.Idle, causes)
	}
	for _, gap := range g.Gaps {
		if gap.Length() > 40 {
			t.Errorf("a gap from %d to %d", gap.Begin, gap.End)
		}
	}
}
