package findings_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
)

// A gpuText puts a job of one GPU together. Times are in µs.
type gpuText struct {
	host, work, links strings.Builder
}

func (g *gpuText) call(name string, begin, end int) *gpuText {
	fmt.Fprintf(&g.host, "    %dus..%dus %q\n", begin, end, name)
	return g
}

// inside is a call within the one before.
func (g *gpuText) inside(name string, begin, end int) *gpuText {
	fmt.Fprintf(&g.host, "      %dus..%dus %q\n", begin, end, name)
	return g
}

// kernel runs on the GPU; it is launched at a time, or without a record of that if it is negative.
func (g *gpuText) kernel(name string, launched, begin, end int) *gpuText {
	if launched >= 0 {
		g.inside("cudaLaunchKernel", launched, launched+5)
		fmt.Fprintf(&g.links, "link spawn %dus \"rank 0/main\" -> %dus \"rank 0/GPU/stream\" from=cudaLaunchKernel to=%q\n",
			launched, begin, name)
	}
	fmt.Fprintf(&g.work, "      %dus..%dus %q\n", begin, end, name)
	return g
}

func (g *gpuText) String() string {
	text := `region cudaLaunchKernel category=cuda_runtime role=overhead
region cudaDeviceSynchronize category=cuda_runtime role=synchronization
region gemm category=kernel role=compute
region Memcpy category=gpu_memcpy role=copy
region ncclDevKernel_AllReduce category=kernel role=communication
region prepare category=python_function role=compute
region "aten::add" category=cpu_op role=compute
`
	for k := range 6 {
		text += fmt.Sprintf("region \"ProfilerStep#%d\" category=user_annotation role=annotation\n", k)
	}
	return text + "location process \"rank 0\" rank=0\n  location thread main\n" + g.host.String() +
		"  location device GPU\n    location stream stream\n" + g.work.String() + g.links.String()
}

// steps makes six steps of 20 ms, each by a function that is told where it begins.
func steps(each func(g *gpuText, at int)) string {
	g := &gpuText{}
	for k := range 6 {
		at := 20_000 * k
		g.call(fmt.Sprintf("ProfilerStep#%d", k), at, at+20_000)
		each(g, at)
	}
	return g.String()
}

// alone are ranks that work by themselves: the spans of each, in ms.
func alone(n int, spans func(rank int) string) string {
	text := "region solve role=compute\nregion tune role=compute\n"
	for r := range n {
		text += fmt.Sprintf("location process \"rank %d\" rank=%d\n%s", r, r, spans(r))
	}
	return text
}

// madeCases are small runs, one a kind that has no planted fault with a cost.
func madeCases() map[finding.Kind]string {
	starving := (&goText{}).processor("main.work 0 100000").processor("main.work 0 50000", "idle 50000 100000")
	for i := range 3 {
		turns(starving, "main.work", "running", 900+10*i, "waiting: sync", 100-10*i)
	}
	starving.goroutine("main.work", 0, 100_000, "running 0 2000", "waiting: sync 2000 98000", "running 98000 98500", "waiting: sync 98500 100000")
	sleeping := (&goText{}).processor("main.work 0 30000", "idle 30000 100000").
		goroutine("main.work", 0, 100_000, "running 0 30000", "waiting: network 30000 95000", "running 95000 100000")
	convoy := (&goText{}).processor("main.work 0 50000", "idle 50000 100000").
		processor("idle 0 50000", "main.work 50000 100000")
	for range 4 {
		turns(convoy, "main.work", "running", 500, "waiting: sync", 1500)
	}
	return map[finding.Kind]string{
		finding.Blocked: convoy.String(),
		finding.SynchronizationBound: steps(func(g *gpuText, at int) {
			for i := range 20 {
				b := at + 1000*i
				g.kernel("gemm", b+10, b+20, b+600).inside("cudaDeviceSynchronize", b+20, b+610).
					inside("aten::add", b+620, b+990)
			}
		}),
		finding.CopyBound: steps(func(g *gpuText, at int) {
			g.kernel("Memcpy", at+10, at+20, at+8000).kernel("gemm", at+30, at+8001, at+19_990)
		}),
		finding.ExposedCommunication: steps(func(g *gpuText, at int) {
			g.kernel("gemm", at+10, at+20, at+10_000).kernel("ncclDevKernel_AllReduce", at+30, at+10_001, at+19_990)
		}),
		finding.GPUIdle: steps(func(g *gpuText, at int) {
			g.kernel("gemm", -1, at+20, at+5000).kernel("gemm", -1, at+15_000, at+19_990)
		}),
		finding.HostBound: steps(func(g *gpuText, at int) {
			g.kernel("gemm", at+10, at+20, at+5000).inside("prepare", at+100, at+14_000).kernel("gemm", at+14_010, at+14_030, at+19_990)
		}),
		finding.IdleEnd: alone(16, func(r int) string {
			if r == 5 {
				return "  0ms..60ms solve\n"
			}
			return "  0ms..100ms solve\n"
		}),
		finding.IdleStart: alone(16, func(r int) string {
			if r == 5 {
				return "  40ms..100ms solve\n"
			}
			return "  0ms..100ms solve\n"
		}),
		finding.Heterogeneous: alone(16, func(r int) string {
			text, solve := "", 9
			if r == 5 {
				solve = 6
			}
			for k := range 10 {
				text += fmt.Sprintf("  %dms..%dms solve\n  %dms..%dms tune\n", 10*k, 10*k+solve, 10*k+solve, 10*k+10)
			}
			return text
		}),
		finding.Starvation:     starving.String(),
		finding.IdleProcessors: sleeping.String(),
		finding.Clock: "region solve role=compute\nregion MPI_Send role=communication\nregion MPI_Recv role=communication\n" +
			"location process \"rank 0\" rank=0\n  0ms..50ms solve\n  50ms..51ms MPI_Send\n  51ms..100ms solve\n" +
			"location process \"rank 1\" rank=1\n  0ms..10ms solve\n  10ms..12ms MPI_Recv\n  12ms..100ms solve\n" +
			"link message 50ms \"rank 0\" -> 12ms \"rank 1\" from=MPI_Send to=MPI_Recv size=8\n",
		finding.MemoryFull: `
region ProfilerStep#1 category=user_annotation role=annotation
region gemm category=kernel role=compute
location process "rank 0" rank=0
  location thread main
    0us..100us ProfilerStep#1
  location device "GPU 0" memory=1000
    counter "memory allocated" unit=bytes
    counter "memory reserved" unit=bytes
    10us "memory allocated"=700
    10us "memory reserved"=950
    location stream "stream 7"
      0us..100us gemm
`,
	}
}

// plantedSentences are made runs of ranks, one a kind.
func plantedSentences() []plant {
	since, tenth, slack := grow(), grow(), grow()
	since.change = append(since.change, inAll(func(i int) bool { return i >= 24 }, 1.3))
	tenth.change = append(tenth.change, inAll(func(i int) bool { return i%10 == 9 }, 3))
	slack.halo = true
	slack.change = append(slack.change, slower(only(3), 0.5))
	return append(plants(), plant{run: since, want: finding.SlowPhase}, plant{run: tenth, want: finding.Periodic},
		plant{run: slack, want: finding.Slack})
}

// demoSentences are kinds of findings by the demo that shows them.
var demoSentences = map[finding.Kind]string{
	finding.LaunchBound: "training-launch", finding.RepeatedCalls: "shop", finding.SerialCalls: "shop",
	finding.SlowOperation: "shop", finding.Retry: "shop", finding.FailedCalls: "shop",
	finding.SlowKernels: "training?locations=8&intervals=22000&fault=kernel",
}

// goSentences are kinds by the Go trace that shows them.
var goSentences = map[finding.Kind]string{finding.ProcessorWait: "crowd.trace"}

// Each kind has a small run that shows it. Its sentence is in testdata/sentences.txt, so that a change of words is read
// as such; the other tests match kinds, selections and evidence.
func TestEachKindHasAMadeCase(t *testing.T) {
	said := sentences{}
	for kind, text := range madeCases() {
		d := dataOf(t, viewtest.Case{Trace: text})
		said.add(t, kind, &d)
	}
	for _, p := range plantedSentences() {
		if said[p.want] == "" {
			d := read(t, p.run.store(t))
			said.add(t, p.want, &d)
		}
	}
	demos := map[string]answers{}
	for kind, name := range demoSentences {
		if _, ok := demos[name]; !ok {
			demos[name] = readDemo(t, name)
		}
		d := demos[name]
		said.add(t, kind, &d)
	}
	for kind, name := range goSentences {
		d := recorded(t, name)
		said.add(t, kind, &d)
	}
	for _, k := range diagnose.Kinds() {
		if said[k] == "" && realSentences[k] == "" {
			t.Errorf("no run shows %s", k)
		}
	}
	viewtest.GoldenText(t, "sentences.txt", said.String())
}

// realSentences are kinds by a recorded run that shows them.
var realSentences = map[finding.Kind]string{
	finding.Clock: "public/zipkin/smartthings/skew.json", finding.Data: "otf2-lammps-imbalanced16",
	finding.Straggler: "kineto-ddp-8rank", finding.Rotating: "faults/alternating.trace.gz",
	finding.Jitter: "paje-hpl128-g5k", finding.Imbalance: "otf2-lammps-imbalanced16",
	finding.Slack: "otf2-xz-pthread", finding.Communication: "otf2-hpl32", finding.StartUp: "public/paje-csv/starpu-lu-2ranks",
	finding.Serial: "public/chrome-json/bazel-94threads", finding.IO: "public/tau-profile/adios-reader-4ranks",
	finding.Unexplained: "readers3/strace/threads-ttt.strace", diagnose.Unrecorded: "public/chrome-json/dftracer-cm1-48ranks",
	finding.Heterogeneous: "faults/control-slack.trace.gz", finding.Unlike: "faults/control-slack.trace.gz",
	finding.Outlier: "otf2-hpl16-deep-a", finding.IdleStart: "public/otf2/sst-macro-mpi-coverage-10ranks",
	finding.IdleEnd: "otf2-xz-pthread", finding.InputBound: "faults/loader-all", finding.HostBound: "public/kineto/alexnet-critical-path",
	finding.LaunchBound: "faults/launch-bound-1rank", finding.CopyBound: "public/nsight-sqlite/saxpy-mpi-cuda-rank0",
	finding.ExposedCommunication: "ml/tracelens/mi300-resnet-act-checkpoint.json.gz",
	finding.GPUIdle:              "ml/mtia/mtia_rank_0.json.gz", finding.SlowStep: "ml/h200/starved.json.gz",
	finding.ProcessorWait: "go-compile/gocompile.trace", finding.GarbageCollection: "readers3/ghc/me.eventlog",
	finding.IdleProcessors: "go-sync/sync.trace", finding.SlowOperation: "public/jaeger/ui-fixtures/testTrace.json",
	finding.FailedCalls: "ml/crisp/11.json", finding.RepeatedCalls: "public/zipkin/smartthings/smartthings-mobile-web-install.json",
}

// TestSentencesOfRecordedRuns holds the sentences of recorded runs to the letter, with what to do next and what is
// gained.
func TestSentencesOfRecordedRuns(t *testing.T) {
	said, sets := sentences{}, map[string]answers{}
	for kind, set := range realSentences {
		d, ok := sets[set]
		if !ok {
			d = read(t, viewtest.Import(t, "data", set))
			sets[set] = d
		}
		said.add(t, kind, &d)
		said[kind] = set + "\n" + said[kind]
	}
	viewtest.GoldenText(t, "sentences-recorded.txt", said.String())
}

// Sentences are what is said of a kind.
type sentences map[finding.Kind]string

// add takes the first finding of a kind.
// smallBegin is the begin of a sentence that is no name of the run.
var smallBegin = regexp.MustCompile(`[.] (the|other|others|most|it|they|each|no|rank|ranks)\b`)

func (s sentences) add(t *testing.T, kind finding.Kind, d *answers) {
	t.Helper()
	i := slices.IndexFunc(d.Findings, func(f finding.Finding) bool { return f.Kind == kind })
	if i < 0 {
		t.Errorf("%s is not found: %q", kind, texts(d))
		return
	}
	f := &d.Findings[i]
	numbersAreEvidence(t, string(kind), d)
	if f.Next == "" || f.Show == "" || f.Link == "" || f.Title == "" {
		t.Errorf("%s: next %q, show %q, link %q", kind, f.Next, f.Show, f.Link)
	}
	if smallBegin.MatchString(f.Text + " " + f.Next) {
		t.Errorf("%s: a sentence begins with a small letter: %s %s", kind, f.Text, f.Next)
	}
	namesItsPart(t, f, d)
	s[kind] = fmt.Sprintf("%s, %s\n  %s\n  %s\n", kind, f.Severity, f.Text, f.Next)
	switch {
	case f.Gain != nil:
		s[kind] += "  " + f.Gain.Text + "\n"
	case f.NoGain != "":
		s[kind] += "  No gain is predicted, since " + f.NoGain + ".\n"
	}
	for _, f := range d.Findings {
		if (f.Severity != finding.Low && f.Gain == nil) != (f.NoGain != "") {
			t.Errorf("%s %s: gain %v, or none since %q", f.Severity, f.Kind, f.Gain, f.NoGain)
		}
	}
}

// ofAll are the kinds that may be about the whole run: its records, its clocks, or the time of all its GPUs. A walk
// selects nothing for them.
var ofAll = []finding.Kind{finding.Clock, finding.Data, diagnose.Unrecorded, finding.InputBound, finding.LaunchBound,
	finding.SynchronizationBound, finding.CopyBound, finding.ExposedCommunication, finding.GPUIdle}

// namesItsPart fails for a finding about a part of the run of which nothing is selected, neither by its selection nor
// by its subjects.
func namesItsPart(t *testing.T, f *finding.Finding, d *answers) {
	t.Helper()
	s := &f.Selection
	if len(s.Locations)+len(s.Regions)+len(f.Subjects) == 0 && !slices.Contains(ofAll, f.Kind) &&
		(store.Window{Begin: s.Begin, End: s.End}).Whole(d.run) {
		t.Errorf("%s selects nothing: %s", f.Kind, f.Text)
	}
}

func (s sentences) String() string {
	var lines []string
	for _, kind := range slices.Sorted(maps.Keys(s)) {
		lines = append(lines, s[kind])
	}
	return strings.Join(lines, "\n")
}
