package demo

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A trainingFault is the problem of a job, in place of the faults of the demo.
type trainingFault int

const (
	noFault trainingFault = iota
	slowLoader
	smallKernels
	manyWaits
	longCopies
	slowWires
	slowRank
	slowStage
	unevenData
	fullMemory
	slowKernel
)

// TrainingFaults are the faults that a training job can be given, by name.
var TrainingFaults = []string{"loader", "launch", "synchronization", "copy", "communication", "rank", "stage", "data",
	"memory", "kernel"}

// faultOf finds a fault by its name.
func faultOf(name string) (trainingFault, bool) {
	i := slices.Index(TrainingFaults, name)
	return trainingFault(i + 1), i >= 0
}

// pipelined faults are those of a job whose model is cut into stages.
func (f trainingFault) pipelined() bool { return f == slowStage || f == unevenData }

const (
	slowLoaderCost = 12_000_000
	smallerKernels = 20 // times
	betweenCost    = 90_000
	longCopyCost   = 14_000_000
	slowerWires    = 12 // times
	slowerKernel   = 4
	memoryLimit    = 80 << 30
	memoryTaken    = 0.97
)

// plant gives a job one fault and no other.
func (t *training) plant(f trainingFault, balanced bool) {
	t.straggler, t.stalled, t.slowKernel, t.fault = -1, -1, -1, noFault
	if balanced {
		return
	}
	switch t.fault = f; {
	case f == slowRank && t.gpus > 1:
		t.straggler, t.throttledFrom = t.gpus*11/16, 0
	case f == slowKernel && t.gpus > 1:
		t.slowKernel = t.gpus * 11 / 16
	}
}

// kernelCost returns the duration of a kernel on a GPU, without noise.
func (g *trainingGPU) kernelCost(m *modelLaunch) trace.Time {
	if g.rank == g.slowKernel && m.flash {
		return slowerKernel * m.cost
	}
	return g.scaled(m.cost)
}

// wait is a synchronization after an operator, for a program that makes many: the host waits for the GPU and only
// then goes on with its own work.
func (g *trainingGPU) wait() {
	if g.fault != manyWaits {
		return
	}
	c, begin := g.nextCorrelation(), g.mainNow+g.cpu(900)
	g.mainNow = max(begin+callCost, g.computeFree+g.cpu(4_000))
	g.main.add(laneRow{begin: begin, end: g.mainNow, region: g.regions.synchronize, external: g.external,
		correlation: c})
	g.mainNow += g.cpu(betweenCost)
}

// truth lists the facts that a correct tool must show.
func (f trainingFault) truth(t *training) []string {
	switch f {
	case slowLoader:
		return []string{fmt.Sprintf("On every rank the data loader takes %d ms of each step while its GPU has "+
			"nothing to do: the job is input-bound.", slowLoaderCost/1_000_000)}
	case smallKernels:
		return []string{fmt.Sprintf("Kernels are %d times as short as the model's: most run for less time than their "+
			"launch takes, and GPUs wait for the host: the job is launch-bound.", smallerKernels)}
	case manyWaits:
		return []string{fmt.Sprintf("After each operator of the forward pass the host waits for the GPU and then "+
			"takes %d µs for itself before it launches more: the job is synchronization-bound.", betweenCost/1000)}
	case longCopies:
		return []string{fmt.Sprintf("Each step begins with a copy to the GPU of %d ms under which nothing runs: the "+
			"job is copy-bound.", longCopyCost/1_000_000)}
	case slowWires:
		return []string{fmt.Sprintf("All-reduces take %d times as long as the wires of the usual machine: most of "+
			"their time is not under computation.", slowerWires)}
	case slowRank:
		return []string{fmt.Sprintf("Rank %d is the straggler: all its kernels take %.1f times as long as on all "+
			"other GPUs, and these wait for it in ncclDevKernel_AllReduce.", t.straggler, throttlePerMille/1000.0)}
	case slowStage:
		return []string{fmt.Sprintf("Stage %d of the pipeline takes %.1f times as long as the others in all "+
			"replicas, and these wait for it.", stageOf(t.gpus), slowerStage)}
	case unevenData:
		return []string{"Sequences differ in length from batch to batch: now one replica holds the others up, now " +
			"another, and no worker and no stage is to blame."}
	case fullMemory:
		return []string{fmt.Sprintf("Of the %d GiB of each GPU %.0f %% are reserved: its memory is nearly full.",
			memoryLimit>>30, 100*memoryTaken)}
	case slowKernel:
		return []string{fmt.Sprintf("On rank %d the kernel flash_bwd_dq_dk_dv_loop_seqk_parallel_kernel takes %d "+
			"times as long as on all other GPUs, all other kernels as long: the others wait for it.", t.slowKernel,
			slowerKernel)}
	}
	return nil
}
