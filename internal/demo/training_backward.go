package demo

import "github.com/parallax-hpc/parallax/internal/trace"

// backward lets the autograd thread walk the operators the other way, while the
// main thread waits for it. Gradients are reduced as soon as a bucket is full.
func (g *trainingGPU) backward() {
	g.mainNow += g.cpu(4_000)
	row := g.main.open(g.mainNow, g.regions.backward, g.nextExternal())
	g.autogradNow = g.mainNow + g.cpu(wakeDelay)
	ops := g.regions.ops
	g.gradient(&g.regions.loss, len(ops))
	next := 0
	for i := len(ops) - 1; i >= 0; i-- {
		g.gradient(&ops[i], i)
		if next < len(g.buckets) && g.buckets[next].first == i {
			g.reduce(next)
			next++
		}
	}
	g.mainNow = g.autogradNow + g.cpu(wakeDelay/2)
	g.main.close(row, g.mainNow)
}

// gradient runs autograd's operators for forward operator i.
func (g *trainingGPU) gradient(op *modelOp, i int) {
	l, now := &g.autograd, &g.autogradNow
	*now += g.cpu(1_000)
	outer := l.open(*now, op.evaluate, g.nextExternal())
	*now += g.cpu(1_500)
	node := l.open(*now, op.node, g.nextExternal())
	if l.keep {
		f := g.forwardAt[i]
		g.link(pendingLink{kind: trace.LinkFlow, from: trace.End{Time: f.at, Region: f.region},
			to: trace.End{Time: *now, Region: op.node}, fromMain: true, toAutograd: true, tag: f.id})
	}
	*now += g.cpu(1_500)
	for k := range op.back {
		g.operate(l, now, &op.back[k])
		*now += g.cpu(700)
	}
	l.close(node, *now)
	*now += g.cpu(800)
	l.close(outer, *now)
	if op.weight {
		*now += g.cpu(700)
		outer = l.open(*now, g.regions.evaluateAccumulate, g.nextExternal())
		*now += g.cpu(900)
		node = l.open(*now, g.regions.accumulate, g.nextExternal())
		*now += g.cpu(1_600)
		l.close(node, *now)
		*now += g.cpu(500)
		l.close(outer, *now)
	}
}

// reduce enqueues the all-reduce of bucket k behind the gradients computed so far.
func (g *trainingGPU) reduce(k int) {
	l, now, r := &g.autograd, &g.autogradNow, &g.regions
	*now += g.cpu(2_000)
	c10d := l.open(*now, r.c10d, g.nextExternal())
	*now += g.cpu(6_000)
	comms := l.add(laneRow{begin: *now, region: r.comms, external: g.nextExternal(), elements: g.buckets[k].elements})
	*now += g.cpu(3_000)
	note := l.open(*now, r.reduce, g.nextExternal())
	for _, call := range [2]trace.RegionID{r.eventRecord, r.waitEvent} {
		*now += g.cpu(900)
		c, begin := g.nextCorrelation(), *now
		*now += g.cpu(callCost)
		l.add(laneRow{begin: begin, end: *now, region: call, external: g.external, correlation: c})
	}
	*now += g.cpu(9_000)
	c, begin := g.nextCorrelation(), *now
	*now += g.cpu(launchCost)
	l.add(laneRow{begin: begin, end: *now, region: r.launchEx, external: g.external, correlation: c})
	g.launched[k] = launched{c, g.external}
	g.ready[k] = max(*now+launchDelay, g.computeFree)
	g.link(pendingLink{kind: trace.LinkSpawn, from: trace.End{Time: begin, Region: r.launchEx},
		to: trace.End{Region: r.allReduce.kernel}, tag: c})
	*now += g.cpu(2_000)
	l.close(note, *now)
	*now += g.cpu(3_000)
	l.close(comms, *now)
	*now += g.cpu(4_000)
	l.close(c10d, *now)
}

// arrival is when this GPU's kernel of bucket k begins.
func (g *trainingGPU) arrival(k int) trace.Time { return max(g.ready[k], g.ncclFree+kernelGap) }

// reduced ends the all-reduce of bucket k: all leave together, but for a moment.
func (g *trainingGPU) reduced(step, k int) {
	begin := g.arrival(k)
	g.ncclFree = g.ends[step*len(g.buckets)+k] + trace.Time(g.noise.below(1_200))
	id := g.launched[k]
	g.nccl.add(laneRow{begin: begin, end: g.ncclFree, region: g.regions.gpuReduce, external: id.external})
	g.nccl.add(laneRow{begin: begin, end: g.ncclFree, region: g.regions.allReduce.kernel, external: id.external,
		correlation: id.correlation, elements: g.buckets[k].elements})
	if !g.main.keep {
		return
	}
	for i := range g.links { // its launch did not know yet when it would begin
		if l := &g.links[i]; l.tag == id.correlation && l.kind == trace.LinkSpawn {
			l.to.Time = begin
		}
	}
}

// finish updates the weights once all gradients are there, and waits for the loss.
func (g *trainingGPU) finish(step int) {
	r := &g.regions
	g.mainNow += g.cpu(3_000)
	row := g.main.open(g.mainNow, r.update, g.nextExternal())
	c, begin := g.nextCorrelation(), g.mainNow+g.cpu(2_000)
	g.mainNow = begin + g.cpu(callCost)
	g.main.add(laneRow{begin: begin, end: g.mainNow, region: r.waitEvent, external: g.external, correlation: c})
	g.computeFree = max(g.computeFree, g.ncclFree)
	gpuRow := g.compute.open(0, r.gpuUpdate, g.external)
	for range modelLayers + 1 {
		g.mainNow += g.cpu(1_500)
		g.operate(&g.main, &g.mainNow, &r.adam)
	}
	g.compute.span(gpuRow)
	g.mainNow += g.cpu(1_000)
	g.main.close(row, g.mainNow)
	g.mainNow += g.cpu(2_000)
	// The loss is read, which waits for it and so for all kernels before.
	g.copy([]trace.RegionID{r.item, r.scalar}, r.copyToCPU, 4, 1_700, true)
	g.compute.span(g.gpuStepRow)
	g.mainNow += g.cpu(2_500)
	g.main.close(g.stepRow, g.mainNow)
	g.mainNow += g.cpu(1_200)
}
