package demo

import "github.com/parallax-hpc/parallax/internal/trace"

// Costs on the CPU, ns.
const (
	opCost      = 4_200 // an operator before and after its calls
	innerCost   = 2_600
	launchCost  = 4_800
	callCost    = 1_100 // a cheap runtime call
	launchDelay = 3_500 // from the end of a launch to the start of its kernel on an idle stream
	kernelGap   = 1_100 // between kernels of a stream
	wakeDelay   = 18_000
)

// A trainingGPU walks through the program of one rank: two CPU threads that
// launch work, and two streams of the GPU that do it later. The same walk serves
// both passes.
type trainingGPU struct {
	*training
	rank  int
	noise random
	speed trace.Time // cost of kernels here, in 1/1000 of the usual

	mainNow, autogradNow trace.Time
	computeFree          trace.Time // when the compute stream has done all it was given
	ncclFree             trace.Time

	main, autograd, compute, nccl lane

	external, correlation, sequence int64

	// State of the current step:
	stepRow, gpuStepRow int
	slow                trace.Time   // cost of kernels in this step, in 1/1000
	ready               []trace.Time // per bucket: when its launch and gradients allow it to start
	launched            []launched   // per bucket
	links               []pendingLink
	forwardAt           []forwardCall // per forward operator
}

type launched struct{ correlation, external int64 }

type forwardCall struct {
	at     trace.Time
	region trace.RegionID
	id     int64
}

// A pendingLink names its ends by the place in trainingPlace.
type pendingLink struct {
	kind       trace.LinkKind
	from, to   trace.End
	fromMain   bool // else the autograd thread
	toCompute  bool
	toAutograd bool // else the NCCL stream
	tag        int64
}

func (t *training) start(rank int) *trainingGPU {
	g := &trainingGPU{training: t, rank: rank, noise: randomOf(t.seed, uint64(rank)),
		ready: make([]trace.Time, len(t.buckets)), launched: make([]launched, len(t.buckets))}
	g.speed = g.noise.around(1000, gpuSpeed)
	g.mainNow = trace.Time(g.noise.below(60_000)) // all come from the step before
	return g
}

// cpu returns the duration of CPU work.
func (g *trainingGPU) cpu(cost trace.Time) trace.Time { return g.noise.around(cost, 250) }

// untilReduced walks through a step up to the end of backward.
func (g *trainingGPU) untilReduced(step int) {
	r := &g.regions
	g.slow = g.speed
	if g.throttled(g.rank, step) {
		g.slow = g.slow * throttlePerMille / 1000
	}
	g.forwardAt = g.forwardAt[:0]

	g.stepRow = g.main.open(g.mainNow, r.step[step], g.nextExternal())
	g.gpuStepRow = g.compute.open(0, r.gpuStep[step], g.external)
	g.load(step)
	g.mainNow += g.cpu(2_000)

	row := g.main.open(g.mainNow, r.zeroGrad, g.nextExternal())
	g.operate(&g.main, &g.mainNow, &r.zero)
	g.mainNow += g.cpu(1_000)
	g.main.close(row, g.mainNow)
	g.mainNow += g.cpu(2_000)

	row = g.main.open(g.mainNow, r.forward, g.nextExternal())
	gpuRow := g.compute.open(0, r.gpuForward, g.external)
	for i := range r.ops {
		g.forward(&r.ops[i].forward)
	}
	g.compute.span(gpuRow)
	g.mainNow += g.cpu(1_000)
	g.main.close(row, g.mainNow)
	g.forward(&r.loss.forward)
	g.backward()
}

// load gets the next batch and sends it to the GPU.
func (g *trainingGPU) load(step int) {
	r := &g.regions
	g.mainNow += g.cpu(3_000)
	row := g.main.open(g.mainNow, r.loader, g.nextExternal())
	cost := trace.Time(loaderCost)
	switch g.fault {
	case slowLoader:
		cost = slowLoaderCost
	case smallKernels:
		cost = g.scaled(cost)
	}
	copied := trace.Time(360_000)
	if g.fault == longCopies {
		copied = longCopyCost
	}
	g.mainNow += g.noise.around(cost, 200)
	if g.rank == g.stalled && step == g.stalledStep {
		g.mainNow += stallCost
	}
	g.main.close(row, g.mainNow)
	g.mainNow += g.cpu(1_500)
	g.copy([]trace.RegionID{r.to, r.toCopy, r.copyIn}, r.copyToGPU, batchBytes, copied, false)
}

// copy calls operators within each other, the last of which copies and then, if the program needs the result, waits
// for it.
func (g *trainingGPU) copy(ops []trace.RegionID, region trace.RegionID, bytes int64, cost trace.Time, wait bool) {
	var rows [3]int
	for i, op := range ops {
		rows[i] = g.main.open(g.mainNow, op, g.nextExternal())
		g.mainNow += g.cpu(innerCost)
	}
	c, begin := g.nextCorrelation(), g.mainNow
	g.mainNow += g.cpu(launchCost)
	g.main.add(laneRow{begin: begin, end: g.mainNow, region: g.regions.copyCall, external: g.external, correlation: c})
	start := max(g.mainNow+launchDelay, g.computeFree+kernelGap)
	g.computeFree = start + g.noise.around(g.scaled(cost), gpuNoise)
	g.compute.add(laneRow{begin: start, end: g.computeFree, region: region, external: g.external, correlation: c,
		bytes: bytes})
	g.link(pendingLink{kind: trace.LinkSpawn, from: trace.End{Time: begin, Region: g.regions.copyCall},
		to: trace.End{Time: start, Region: region}, fromMain: true, toCompute: true, tag: c})
	if wait {
		c, begin = g.nextCorrelation(), g.mainNow+g.cpu(900)
		g.mainNow = max(begin+callCost, g.computeFree+g.cpu(4_000))
		g.main.add(laneRow{begin: begin, end: g.mainNow, region: g.regions.synchronize, external: g.external,
			correlation: c})
	}
	for i := len(ops) - 1; i >= 0; i-- {
		g.mainNow += g.cpu(900)
		g.main.close(rows[i], g.mainNow)
	}
}

// operate runs an operator, with another inside or not, that launches a kernel.
func (g *trainingGPU) operate(l *lane, now *trace.Time, m *modelLaunch) {
	row := l.open(*now, m.op, g.nextExternal())
	*now += g.cpu(opCost)
	in := -1
	if m.inner != trace.NoRegion {
		in = l.open(*now, m.inner, g.nextExternal())
		*now += g.cpu(innerCost)
	}
	g.launch(l, now, m)
	*now += g.cpu(700)
	if in >= 0 {
		l.close(in, *now)
		*now += g.cpu(600)
	}
	l.close(row, *now)
}

// launch calls cudaLaunchKernel; the kernel starts when the stream is free.
func (g *trainingGPU) launch(l *lane, now *trace.Time, m *modelLaunch) {
	c, begin := g.nextCorrelation(), *now
	*now += g.cpu(launchCost)
	l.add(laneRow{begin: begin, end: *now, region: g.regions.launch, external: g.external, correlation: c})
	start := max(*now+launchDelay, g.computeFree+kernelGap)
	g.computeFree = start + g.noise.around(g.kernelCost(m), gpuNoise)*g.slow/1000
	g.compute.add(laneRow{begin: start, end: g.computeFree, region: m.kernel, external: g.external, correlation: c})
	g.link(pendingLink{kind: trace.LinkSpawn, from: trace.End{Time: begin, Region: g.regions.launch},
		to: trace.End{Time: start, Region: m.kernel}, fromMain: l == &g.main, toCompute: true, tag: c})
}

func (g *trainingGPU) forward(m *modelLaunch) {
	g.mainNow += g.cpu(1_800) // Python
	g.sequence++
	if g.main.keep {
		g.forwardAt = append(g.forwardAt, forwardCall{g.mainNow, m.op, g.sequence})
	}
	g.operate(&g.main, &g.mainNow, m)
	g.wait()
}

func (g *trainingGPU) nextExternal() int64 {
	g.external++
	return g.external
}

func (g *trainingGPU) nextCorrelation() int64 {
	g.correlation++
	return g.correlation
}

func (g *trainingGPU) link(l pendingLink) {
	if g.main.keep {
		g.links = append(g.links, l)
	}
}

// flushLinks writes the links of a step.
func (g *trainingGPU) flushLinks(at trainingPlace) {
	for i := range g.links {
		l := &g.links[i]
		l.from.Location, l.to.Location = at.autograd, at.nccl
		if l.fromMain {
			l.from.Location = at.main
		}
		switch {
		case l.toCompute:
			l.to.Location = at.compute
		case l.toAutograd:
			l.to.Location = at.autograd
		}
		g.w.Link(trace.Link{Kind: l.kind, From: l.from, To: l.to, Size: -1, Tag: l.tag,
			Communicator: trace.NoCommunicator})
	}
	g.links = g.links[:0]
}
