package demo

import (
	"fmt"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

type trainingRegions struct {
	ops                                          []modelOp // the forward pass
	loss                                         modelOp
	zero, adam, allReduce                        modelLaunch
	step, gpuStep                                []trace.RegionID
	loader, zeroGrad, forward, backward, update  trace.RegionID
	gpuForward, gpuUpdate, reduce, gpuReduce     trace.RegionID
	evaluateAccumulate, accumulate               trace.RegionID
	to, toCopy, copyIn, item, scalar             trace.RegionID
	c10d, comms                                  trace.RegionID
	launch, launchEx, copyCall, eventRecord      trace.RegionID
	waitEvent, synchronize, copyToGPU, copyToCPU trace.RegionID
}

// A modelLaunch is an operator that launches a kernel, by its regions.
type modelLaunch struct {
	op, inner, kernel trace.RegionID // inner is NoRegion if there is none
	cost              trace.Time
	flash             bool // the backward pass of attention
}

// A modelOp is an operator of the forward pass and its backward, by their regions.
type modelOp struct {
	forward        modelLaunch
	evaluate, node trace.RegionID
	back           []modelLaunch
	weight         bool
}

type trainingAttributes struct {
	external, correlation, bytes            trace.AttributeID
	collective, in, out, dtype, size        trace.AttributeID
	groupName, groupDescription, groupRanks trace.AttributeID
}

// define writes everything but the records.
func (t *training) define() {
	t.defineRegions()
	t.rankList = rankListOf(t.gpus)
	a := &t.attributes
	a.external, a.correlation, a.bytes = t.w.Attribute("External id"), t.w.Attribute("correlation"),
		t.w.Attribute("bytes")
	a.collective, a.in, a.out = t.w.Attribute("Collective name"), t.w.Attribute("In msg nelems"),
		t.w.Attribute("Out msg nelems")
	a.size, a.dtype, a.groupRanks = t.w.Attribute("Group size"), t.w.Attribute("dtype"),
		t.w.Attribute("Process Group Ranks")
	a.groupName, a.groupDescription = t.w.Attribute("Process Group Name"), t.w.Attribute("Process Group Description")

	members := make([]trace.LocationID, t.gpus)
	machine := trace.NoLocation
	for rank := range t.gpus {
		local := rank % gpusPerMachine
		if local == 0 {
			machine = t.w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine,
				Name: machineName(rank), Rank: trace.NoRank, Order: int64(rank / gpusPerMachine)})
		}
		p := t.place(machine, rank, local)
		t.places = append(t.places, p)
		members[rank] = p.process
	}
	t.w.Communicator(trace.Communicator{Name: "default_pg", Parent: trace.NoCommunicator, Members: members})
	t.w.Property("program", "training")
	t.w.Property("backend", "nccl")
}

// place defines the locations of one rank. Keys are the numbers that an operating
// system and a GPU's driver would give.
func (t *training) place(machine trace.LocationID, rank, local int) (p trainingPlace) {
	child := func(parent trace.LocationID, kind trace.Kind, key int, name string, order int64) trace.LocationID {
		return t.w.Location(trace.Location{Parent: parent, Kind: kind, Key: strconv.Itoa(key), Name: name,
			Rank: trace.NoRank, Order: order})
	}
	pid := 4100 + 160*local
	p.process = t.w.Location(trace.Location{Parent: machine, Kind: trace.KindProcess, Key: strconv.Itoa(pid),
		Name: fmt.Sprintf("rank %d", rank), Rank: rank, Order: int64(rank)})
	p.main = child(p.process, trace.KindThread, pid, "python", 0)
	p.autograd = child(p.process, trace.KindThread, pid+97, "pt_autograd_0", 1)
	p.device = t.device(p.process, local)
	p.compute = child(p.device, trace.KindStream, computeStream, fmt.Sprintf("stream %d", computeStream), computeStream)
	p.nccl = child(p.device, trace.KindStream, ncclStream, fmt.Sprintf("stream %d", ncclStream), ncclStream)
	p.clock = t.w.Counter(trace.Counter{Location: p.device, Name: "SM clock", Unit: "MHz"})
	p.heat = t.w.Counter(trace.Counter{Location: p.device, Name: "temperature", Unit: "°C"})
	if t.fault == fullMemory {
		p.allocated = t.w.Counter(trace.Counter{Location: p.device, Name: "memory allocated", Unit: "bytes"})
		p.reserved = t.w.Counter(trace.Counter{Location: p.device, Name: "memory reserved", Unit: "bytes"})
	}
	return p
}

func (t *training) device(process trace.LocationID, local int) trace.LocationID {
	l := trace.Location{Parent: process, Kind: trace.KindDevice, Key: strconv.Itoa(local),
		Name: fmt.Sprintf("GPU %d", local), Rank: trace.NoRank, Order: 2}
	if t.fault == fullMemory {
		l.Attributes = []trace.Attribute{{Key: "memory", Value: trace.Integer(memoryLimit)}}
	}
	return t.w.Location(l)
}

// defineRegions resolves the model. Without a writer all ids are 0, which is
// enough to count.
func (t *training) defineRegions() {
	r := &t.regions
	region := func(name, category string) trace.RegionID {
		if t.w == nil {
			return 0
		}
		return t.w.Region(trace.Region{Name: name, Category: category, Role: trace.RoleOf(name, category)})
	}
	op := func(name string) trace.RegionID {
		if name == "" {
			return trace.NoRegion
		}
		return region(name, "cpu_op")
	}
	launch := func(name, inner string, k *kernelSpec) modelLaunch {
		return modelLaunch{op(name), op(inner), t.defineKernel(k), k.cost, k == kernelFlashBack}
	}
	resolve := func(o *opSpec) modelOp {
		m := modelOp{launch(o.op, o.inner, o.kernel), op(evaluate(o.node)), op(o.node), nil, o.weight}
		for _, b := range o.back {
			m.back = append(m.back, launch(b.op, "", b.kernel))
		}
		return m
	}
	for _, o := range modelOps() {
		r.ops = append(r.ops, resolve(o))
	}
	r.loss = resolve(opLoss)
	r.zero, r.adam = launch("aten::_foreach_zero_", "", kernelZero), launch("aten::_fused_adamw_", "", kernelAdam)
	r.allReduce = launch("c10d::allreduce_", "record_param_comms", kernelReduce)
	r.c10d, r.comms = r.allReduce.op, r.allReduce.inner
	r.evaluateAccumulate, r.accumulate = op(evaluate("torch::autograd::AccumulateGrad")),
		op("torch::autograd::AccumulateGrad")
	r.to, r.toCopy, r.copyIn = op("aten::to"), op("aten::_to_copy"), op("aten::copy_")
	r.item, r.scalar = op("aten::item"), op("aten::_local_scalar_dense")

	note := func(name string) (cpu, gpu trace.RegionID) {
		return region(name, "user_annotation"), region(name, "gpu_user_annotation")
	}
	r.loader = region("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__", "user_annotation")
	r.zeroGrad = region("Optimizer.zero_grad#AdamW.zero_grad", "user_annotation")
	r.backward = region("## backward ##", "user_annotation")
	r.forward, r.gpuForward = note("DistributedDataParallel.forward")
	r.update, r.gpuUpdate = note("Optimizer.step#AdamW.step")
	r.reduce, r.gpuReduce = note("nccl:all_reduce")
	for i := range t.steps {
		cpu, gpu := note(fmt.Sprintf("ProfilerStep#%d", firstStep+i))
		r.step, r.gpuStep = append(r.step, cpu), append(r.gpuStep, gpu)
	}
	r.launch, r.launchEx, r.copyCall = t.defineCall("cudaLaunchKernel", 211), t.defineCall("cudaLaunchKernelExC", 430),
		t.defineCall("cudaMemcpyAsync", 41)
	r.eventRecord, r.waitEvent, r.synchronize = t.defineCall("cudaEventRecord", 135),
		t.defineCall("cudaStreamWaitEvent", 147), t.defineCall("cudaStreamSynchronize", 131)
	r.copyToGPU = region("Memcpy HtoD (Pinned -> Device)", "gpu_memcpy")
	r.copyToCPU = region("Memcpy DtoH (Device -> Pinned)", "gpu_memcpy")
}

// defineCall defines a call of the CUDA runtime; cbid is its number there.
func (t *training) defineCall(name string, cbid int64) trace.RegionID {
	if t.w == nil {
		return 0
	}
	const category = "cuda_runtime"
	return t.w.Region(trace.Region{Name: name, Category: category, Role: trace.RoleOf(name, category),
		Attributes: []trace.Attribute{{Key: "cbid", Value: trace.Integer(cbid)}}})
}

func (t *training) defineKernel(k *kernelSpec) trace.RegionID {
	if t.w == nil {
		return 0
	}
	return t.w.Region(trace.Region{Name: k.name, Category: "kernel", Role: trace.RoleOf(k.name, "kernel"),
		Attributes: []trace.Attribute{
			{Key: "grid", Value: trace.Text(k.grid)}, {Key: "block", Value: trace.Text(k.block)},
			{Key: "registers per thread", Value: trace.Integer(k.registers)},
			{Key: "shared memory", Value: trace.Integer(k.shared)},
		}})
}

func evaluate(node string) string { return "autograd::engine::evaluate_function: " + node }

// describeCollective adds PyTorch's attributes of a collective.
func (t *training) describeCollective(out trace.Stream, elements int64) {
	a := &t.attributes
	out.Attribute(a.collective, trace.Text("allreduce"))
	out.Attribute(a.in, trace.Integer(elements))
	out.Attribute(a.out, trace.Integer(elements))
	out.Attribute(a.size, trace.Integer(int64(t.gpus)))
	out.Attribute(a.dtype, trace.Text("Float"))
	out.Attribute(a.groupName, trace.Text("0"))
	out.Attribute(a.groupDescription, trace.Text("default_pg"))
	out.Attribute(a.groupRanks, trace.Text(t.rankList))
}
