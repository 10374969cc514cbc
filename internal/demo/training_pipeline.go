package demo

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	pipelineStages   = 4
	pipelineBatches  = 32
	stageForward     = 6_000_000
	stageBackward    = 11_000_000
	stageTransfer    = 250_000
	stageReduce      = 3_000_000
	slowerStage      = 1.6
	pipelineOpsAStep = 4*pipelineBatches + 1 // of a worker
)

// stageOf is the slow stage of a job of so many GPUs.
func stageOf(gpus int) int { return min(gpus, pipelineStages) / 2 }

// A pipeline is a job whose model is cut into stages, each on a GPU: batches go forward through all and back, then the
// replicas of a stage add up their gradients.
type pipeline struct {
	fault            trainingFault
	seed             uint64
	replicas, stages int
	steps            int
	regions          struct{ forward, backward, receive, receiveBack, reduce trace.RegionID }
	step, batch      trace.AttributeID
	streams          []trace.LocationID // by worker: replica × stages + stage
}

// writePipeline simulates and writes the job.
func writePipeline(ctx context.Context, o Options, w trace.Writer, f trainingFault) error {
	p := &pipeline{fault: f, seed: o.Seed, stages: min(max(1, o.Locations), pipelineStages)}
	if o.Balanced {
		p.fault = noFault
	}
	p.replicas = max(1, o.Locations/p.stages)
	p.steps = int(max(2, math.Round(float64(o.Intervals)/float64(pipelineOpsAStep*p.replicas*p.stages))))
	p.define(w)
	rows := make([]trace.Stream, len(p.streams))
	for i, id := range p.streams {
		rows[i] = w.Stream(id, trace.StreamOptions{})
	}
	at := trace.Time(0)
	var failed error
	for s := range p.steps {
		if failed = ctx.Err(); failed != nil {
			break
		}
		at = p.simulate(s, at, rows)
	}
	for _, r := range rows {
		if err := r.Close(); failed == nil {
			failed = err
		}
	}
	return failed
}

func (p *pipeline) define(w trace.Writer) {
	region := func(name, category string) trace.RegionID {
		return w.Region(trace.Region{Name: name, Category: category, Role: trace.RoleOf(name, category)})
	}
	var processes []trace.LocationID // by rank
	p.regions.forward, p.regions.backward = region("forward-compute", "kernel"), region("backward-compute", "kernel")
	p.regions.receive, p.regions.receiveBack = region("forward-recv", "kernel"), region("backward-recv", "kernel")
	p.regions.reduce = region("grads-reduce-scatter", "kernel")
	p.step, p.batch = w.Attribute("step"), w.Attribute("mb_id")
	for d := range p.replicas {
		for s := range p.stages {
			rank := d*p.stages + s
			facts := []trace.Attribute{{Key: "dp", Value: trace.Integer(int64(d))},
				{Key: "pp", Value: trace.Integer(int64(s))}}
			process := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess,
				Key: strconv.Itoa(4100 + rank), Name: fmt.Sprintf("DP rank %d, PP rank %d", d, s), Rank: rank,
				Order: int64(rank), Attributes: facts})
			processes = append(processes, process)
			device := w.Location(trace.Location{Parent: process, Kind: trace.KindDevice,
				Key: strconv.Itoa(rank % gpusPerMachine), Name: fmt.Sprintf("GPU %d", rank%gpusPerMachine),
				Rank: trace.NoRank, Attributes: facts})
			p.streams = append(p.streams,
				w.Location(trace.Location{Parent: device, Kind: trace.KindStream, Key: strconv.Itoa(computeStream),
					Name: fmt.Sprintf("stream %d", computeStream), Rank: trace.NoRank, Attributes: facts}))
		}
	}
	p.groups(w, processes)
	w.Property("program", "training")
}

// groups defines the communicators under Megatron's names: readers of files without names for places derive
// coordinates from them.
func (p *pipeline) groups(w trace.Writer, processes []trace.LocationID) {
	group := func(name string, first, stride, count int) {
		members := make([]trace.LocationID, count)
		for i := range members {
			members[i] = processes[first+i*stride]
		}
		w.Communicator(trace.Communicator{Name: name, Parent: trace.NoCommunicator, Members: members})
	}
	for d := range p.replicas {
		group("PIPELINE_MODEL_PARALLEL_GROUP", d*p.stages, 1, p.stages)
	}
	for s := range p.stages {
		group("DATA_PARALLEL_GROUP", s, p.stages, p.replicas)
	}
}

// cost of a pass of a batch on a worker.
func (p *pipeline) cost(step, replica, stage, batch int, usual trace.Time) trace.Time {
	r := randomOf(p.seed, uint64(((step*p.replicas+replica)*p.stages+stage)*pipelineBatches+batch))
	cost := r.around(usual, gpuNoise)
	switch {
	case p.fault == slowStage && stage == stageOf(p.stages):
		cost = trace.Time(float64(cost) * slowerStage)
	case p.fault == unevenData: // of a batch, the same on all stages
		long := randomOf(p.seed+1, uint64((step*p.replicas+replica)*pipelineBatches+batch))
		cost = cost * trace.Time(600+long.below(1400)) / 1000
	}
	return cost
}

// simulate writes one step, all batches forward and then all back, and returns its end.
func (p *pipeline) simulate(step int, begin trace.Time, rows []trace.Stream) trace.Time {
	free := make([]trace.Time, len(p.streams)) // by worker
	for i := range free {
		free[i] = begin
	}
	put := func(worker int, from, to trace.Time, region trace.RegionID, batch int) {
		rows[worker].Interval(from, to, region)
		rows[worker].Attribute(p.step, trace.Integer(int64(step)))
		rows[worker].Attribute(p.batch, trace.Integer(int64(batch)))
	}
	done := make([]trace.Time, pipelineBatches) // of a batch on the stage before
	for d := range p.replicas {
		pass := func(back bool) {
			clear(done)
			for k := range p.stages {
				s, usual, region, receive := k, trace.Time(stageForward), p.regions.forward, p.regions.receive
				if back {
					s, usual, region, receive = p.stages-1-k, stageBackward, p.regions.backward, p.regions.receiveBack
				}
				worker := d*p.stages + s
				for b := range pipelineBatches {
					at := free[worker]
					if k > 0 {
						from := max(at, done[b])
						put(worker, from, from+stageTransfer, receive, b)
						at = from + stageTransfer
					}
					end := at + p.cost(step, d, s, b, usual)
					put(worker, at, end, region, b)
					free[worker], done[b] = end, end
				}
			}
		}
		pass(false)
		pass(true)
	}
	last := begin
	for s := range p.stages {
		all := begin
		for d := range p.replicas {
			all = max(all, free[d*p.stages+s])
		}
		for d := range p.replicas {
			put(d*p.stages+s, all, all+stageReduce, p.regions.reduce, -1)
		}
		last = max(last, all+stageReduce)
	}
	return last
}
