package demo

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var trainingOptions = Options{Locations: 16, Intervals: 87_000, Seed: 1}

var trainingDemo = &Demo{
	Name:    "training",
	Title:   "Data-parallel training on GPUs, with a GPU that throttles and a data loader that stalls",
	Options: trainingOptions,
	Truth:   trainingTruth(trainingOptions),
	Write:   writeTraining,
	truth:   trainingTruth,
}

// Two more jobs, each with one fault on all ranks.
var (
	loaderOptions = Options{Locations: 8, Intervals: 44_000, Seed: 1}
	loaderDemo    = &Demo{Name: "training-loader",
		Title: "Data-parallel training whose GPUs starve behind their data loaders", Options: loaderOptions,
		Truth: faultTruth(slowLoader)(loaderOptions), Write: writeFault(slowLoader, loaderOptions),
		truth: faultTruth(slowLoader)}
	launchOptions = Options{Locations: 1, Intervals: 5_500, Seed: 1}
	launchDemo    = &Demo{Name: "training-launch",
		Title:   "Training with batches so small that the host cannot launch kernels as fast as they run",
		Options: launchOptions,
		Truth:   faultTruth(smallKernels)(launchOptions), Write: writeFault(smallKernels, launchOptions),
		truth: faultTruth(smallKernels)}
)

func writeFault(f trainingFault, defaults Options) func(context.Context, Options, trace.Writer) error {
	return func(ctx context.Context, o Options, w trace.Writer) error {
		o = o.or(defaults)
		if err := o.checkSimulated(); err != nil {
			return err
		}
		return writeJob(ctx, o, w, f)
	}
}

func faultTruth(f trainingFault) func(Options) []string {
	return func(o Options) []string {
		if o.Balanced {
			return []string{"All GPUs take equally long for the same kernels, and nothing is lost."}
		}
		return f.truth(trainingShape(o))
	}
}

const (
	gpusPerMachine   = 8
	firstStep        = 10 // the profiler skips the steps before
	throttlePerMille = 1400
	gpuNoise         = 20
	gpuSpeed         = 4 // per mille by which GPUs differ for good
	stallCost        = 45_000_000
	loaderCost       = 260_000
	clockFull        = 1980 // MHz
	clockThrottled   = clockFull * 1000 / throttlePerMille
	batchBytes       = 2 * 8 * 1024 * 1024
	bytesPerElement  = 4
	ringBytesPerUs   = 90_000 // bus bandwidth of the ring
	computeStream    = 7
	ncclStream       = 28
)

// A training is the simulated job.
type training struct {
	w       trace.Writer
	seed    uint64
	gpus    int
	steps   int
	buckets []bucket

	fault         trainingFault
	straggler     int // -1: none
	throttledFrom int // index of the first slow step
	stalled       int // rank whose loader stalls; -1: none
	stalledStep   int
	slowKernel    int // rank on which one kernel is slow; -1: none

	regions    trainingRegions
	attributes trainingAttributes
	places     []trainingPlace
	rankList   string
	// ends are the times at which all-reduces complete: eight bytes for each
	// bucket of each step, all that a replay needs of the other GPUs.
	ends []trace.Time
}

// A trainingPlace holds the locations and counters of one rank.
type trainingPlace struct {
	process, main, autograd, device, compute, nccl trace.LocationID
	clock, heat, allocated, reserved               trace.CounterID
}

func trainingShape(o Options) *training {
	t := &training{seed: o.Seed, gpus: max(1, o.Locations), buckets: modelBuckets(), straggler: -1, stalled: -1,
		slowKernel: -1}
	perStep := float64(t.intervalsPerStep()) * float64(t.gpus)
	t.steps = int(max(1, math.Round(float64(o.Intervals)/perStep)))
	if f, asked := faultOf(o.Fault); asked {
		t.plant(f, o.Balanced)
		return t
	}
	if !o.Balanced && t.gpus > 1 {
		t.straggler = t.gpus * 11 / 16
		t.throttledFrom = t.steps * 6 / 10
	}
	if !o.Balanced && t.steps > 2 {
		t.stalled, t.stalledStep = t.gpus*3/16, t.steps*2/10
	}
	return t
}

// intervalsPerStep counts those of one GPU: every step makes the same calls.
func (t *training) intervalsPerStep() int {
	one := &training{gpus: 1, steps: 1, buckets: t.buckets, straggler: -1, stalled: -1, slowKernel: -1,
		ends: make([]trace.Time, len(t.buckets))}
	one.defineRegions()
	g := one.start(0)
	g.untilReduced(0)
	for k := range t.buckets {
		g.reduced(0, k)
	}
	g.finish(0)
	return g.main.n + g.autograd.n + g.compute.n + g.nccl.n
}

// ring is the time an all-reduce takes once all have come.
func (t *training) ring(elements int64) trace.Time {
	n := int64(t.gpus)
	cost := 24_000 + trace.Time(elements*bytesPerElement*2*(n-1)/n*1000/ringBytesPerUs)
	if t.fault == slowWires {
		cost *= slowerWires
	}
	return t.scaled(cost)
}

// scaled returns the duration of GPU work.
func (t *training) scaled(cost trace.Time) trace.Time {
	if t.fault == smallKernels {
		return cost / smallerKernels
	}
	return cost
}

func writeTraining(ctx context.Context, o Options, w trace.Writer) error {
	o = o.or(trainingOptions)
	if err := o.checkSimulated(); err != nil {
		return err
	}
	f, _ := faultOf(o.Fault)
	if f.pipelined() {
		return writePipeline(ctx, o, w, f)
	}
	return writeJob(ctx, o, w, f)
}

func writeJob(ctx context.Context, o Options, w trace.Writer, f trainingFault) error {
	t := trainingShape(o)
	if f != noFault {
		t.plant(f, o.Balanced)
	}
	t.w = w
	t.define()
	if err := t.simulate(ctx); err != nil {
		return err
	}
	return o.each(ctx, t.gpus, t.replay)
}

// simulate learns when the all-reduces end.
func (t *training) simulate(ctx context.Context) error {
	t.ends = make([]trace.Time, t.steps*len(t.buckets))
	gpus := make([]*trainingGPU, t.gpus)
	for r := range gpus {
		gpus[r] = t.start(r)
	}
	for i := range t.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, g := range gpus {
			g.untilReduced(i)
		}
		for k, b := range t.buckets {
			last := trace.Time(0)
			for _, g := range gpus {
				last = max(last, g.arrival(k))
			}
			t.ends[i*len(t.buckets)+k] = last + t.ring(b.elements)
			for _, g := range gpus {
				g.reduced(i, k)
			}
		}
		for _, g := range gpus {
			g.finish(i)
		}
	}
	return nil
}

// replay writes one rank.
func (t *training) replay(ctx context.Context, rank int) error {
	g := t.start(rank)
	at := t.places[rank]
	var streams [5]trace.Stream
	for i, id := range []trace.LocationID{at.main, at.autograd, at.compute, at.nccl, at.device} {
		streams[i] = t.w.Stream(id, trace.StreamOptions{})
	}
	lanes := [4]*lane{&g.main, &g.autograd, &g.compute, &g.nccl}
	for _, l := range lanes {
		l.keep = true
	}
	var failed error
	for i := range t.steps {
		if failed = ctx.Err(); failed != nil {
			break
		}
		began := g.mainNow
		g.untilReduced(i)
		for k := range t.buckets {
			g.reduced(i, k)
		}
		g.finish(i)
		for k, l := range lanes {
			l.flush(streams[k], t)
		}
		g.flushLinks(at)
		streams[4].Sample(at.clock, began, float64(t.clock(rank, i)))
		streams[4].Sample(at.heat, began, float64(t.temperature(rank, i)))
		if t.fault == fullMemory {
			streams[4].Sample(at.allocated, began, float64(memoryLimit)*0.9)
			streams[4].Sample(at.reserved, began, float64(memoryLimit)*memoryTaken)
		}
	}
	for _, s := range streams {
		if err := s.Close(); failed == nil {
			failed = err
		}
	}
	return failed
}

// throttled reports whether a GPU is slow in a step.
func (t *training) throttled(rank, step int) bool {
	return rank == t.straggler && step >= t.throttledFrom
}

func (t *training) clock(rank, step int) int {
	if t.throttled(rank, step) {
		return clockThrottled
	}
	return clockFull
}

// temperature climbs on the straggler until it throttles, and stays there.
func (t *training) temperature(rank, step int) int {
	usual := 61 + int(mix(t.seed+uint64(rank))%5)
	if rank != t.straggler {
		return usual
	}
	return usual + (92-usual)*min(step+1, t.throttledFrom)/max(1, t.throttledFrom)
}

func trainingTruth(o Options) []string {
	t := trainingShape(o)
	if f, ok := faultOf(o.Fault); ok {
		return faultTruth(f)(o)
	}
	truth := []string{}
	if t.straggler >= 0 {
		truth = append(truth,
			fmt.Sprintf("Rank %d (%s, GPU %d) is the straggler: from ProfilerStep#%d on its kernels take %.1f times "+
				"as long as before and as on all other GPUs. Its SM clock falls from %d to %d MHz as it reaches 92 °C.",
				t.straggler, machineName(t.straggler), t.straggler%gpusPerMachine, firstStep+t.throttledFrom,
				throttlePerMille/1000.0, clockFull, clockThrottled),
			"All other GPUs wait for it in ncclDevKernel_AllReduce: there their kernel is long and the straggler's "+
				"is short. Every all-reduce ends at the same time everywhere.",
			"All ranks' steps take equally long, so the length of steps does not tell who is slow.")
	}
	if t.stalled >= 0 {
		truth = append(truth,
			fmt.Sprintf("In ProfilerStep#%d the data loader of rank %d stalls for %d ms, once; the others wait for "+
				"it in the first all-reduce of that step.",
				firstStep+t.stalledStep, t.stalled, stallCost/1_000_000))
	}
	if len(truth) == 0 {
		truth = []string{"All GPUs take equally long for the same kernels, and no rank waits for one in " +
			"particular: the all-reduces overlap with backward but for the last."}
	}
	return truth
}

func machineName(rank int) string { return fmt.Sprintf("gpu-node-%d", rank/gpusPerMachine) }

// rankListOf is the list as PyTorch writes it: cut after thirty.
func rankListOf(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for r := range min(n, 30) {
		if r > 0 {
			b.WriteString(", ")
		}
		fmt.Fprint(&b, r)
	}
	if n > 30 {
		b.WriteString(", ...")
	}
	b.WriteByte(']')
	return b.String()
}
