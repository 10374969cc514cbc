package routetest

import (
	"fmt"
	"math/rand/v2"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// gpuRegions are the regions of a job on GPUs, one of each part that a step may have.
type gpuRegions struct {
	operators, kernels                      []trace.RegionID
	launch, sync, loader, python, allreduce trace.RegionID
}

// gpuJob is three ranks that run steps: operators call operators and launch work on two
// streams of their GPU, most of it with its launch on record and some without.
func gpuJob(w trace.Writer, rnd *rand.Rand) {
	other := regions(w) // names that options ask for
	region := func(name, category string, role trace.Role) trace.RegionID {
		return w.Region(trace.Region{Name: name, Category: category, Role: role})
	}
	g := &gpuRegions{
		operators: []trace.RegionID{region("aten::mm", "cpu_op", trace.RoleCompute),
			region("aten::linear", "cpu_op", trace.RoleCompute), region("aten::relu", "cpu_op", trace.RoleCompute)},
		kernels: []trace.RegionID{region("gemm", "kernel", trace.RoleCompute),
			region("ncclAllReduce", "kernel", trace.RoleCommunication),
			region("Memcpy HtoD", "gpu_memcpy", trace.RoleCopy),
			region("Memset (Device)", "gpu_memset", trace.RoleCopy)},
		launch:    region("cudaLaunchKernel", "cuda_runtime", trace.RoleOverhead),
		sync:      region("cudaStreamSynchronize", "cuda_runtime", trace.RoleSynchronization),
		loader:    region("enumerate(DataLoader)#__next__", "user_annotation", trace.RoleAnnotation),
		python:    region("train.py(12): forward", "python_function", trace.RoleCompute),
		allreduce: region("gloo:all_reduce", "user_annotation", trace.RoleCommunication),
	}
	for rank := range 3 {
		process := location(w, trace.NoLocation, trace.KindProcess, fmt.Sprint("rank ", rank), rank)
		host := location(w, process, trace.KindThread, "main", trace.NoRank)
		gpu := location(w, process, trace.KindDevice, fmt.Sprint("GPU ", rank), trace.NoRank)
		k := &launcher{rnd: rnd, gpuRegions: g, host: w.Stream(host, trace.StreamOptions{}), thread: host}
		for n := range k.streams {
			k.streams[n] = location(w, gpu, trace.KindStream, fmt.Sprint("stream ", 7+n), trace.NoRank)
		}
		for n := range 5 {
			k.now += trace.Time(rnd.IntN(3)) * 700
			k.host.Enter(k.now, region(fmt.Sprint("ProfilerStep#", n), "user_annotation", trace.RoleAnnotation))
			for range 2 + rnd.IntN(4) {
				k.call(0)
			}
			k.leave()
		}
		for _, g := range other[:rank+5] {
			k.host.Enter(k.now, g)
			k.leave()
		}
		k.host.Close()
		for n, id := range k.streams {
			s := w.Stream(id, trace.StreamOptions{})
			for _, x := range k.works[n] {
				s.Interval(x.begin, x.end, x.region)
			}
			s.Close()
		}
		for _, l := range k.links {
			w.Link(l)
		}
	}
}

// A launcher is one thread and the streams it feeds.
type launcher struct {
	*gpuRegions
	rnd     *rand.Rand
	host    trace.Stream
	thread  trace.LocationID
	now     trace.Time
	streams [2]trace.LocationID
	free    [2]trace.Time // when a stream takes the next work
	works   [2][]work
	links   []trace.Link
}

type work struct {
	begin, end trace.Time
	region     trace.RegionID
}

func (k *launcher) leave() {
	k.now += trace.Time(1+k.rnd.IntN(9)) * 300
	k.host.Leave(k.now, trace.NoRegion)
}

// call is one call of the thread, with its children.
func (k *launcher) call(depth int) {
	k.now += trace.Time(k.rnd.IntN(6)) * 500
	switch n := k.rnd.IntN(10); {
	case n < 4 && depth < 3:
		k.host.Enter(k.now, k.operators[k.rnd.IntN(len(k.operators))])
		for range k.rnd.IntN(3) {
			k.call(depth + 1)
		}
	case n < 7:
		at := k.now
		k.host.Enter(at, k.launch)
		k.leave()
		k.start(at)
		return
	case n == 7:
		k.host.Enter(k.now, k.loader)
	case n == 8 && depth < 3:
		k.host.Enter(k.now, k.python)
		k.call(depth + 1)
	case depth == 0:
		k.host.Enter(k.now, k.allreduce)
	default:
		k.host.Enter(k.now, k.sync)
	}
	k.leave()
}

// start puts the work that a call launched behind the other work of a stream.
func (k *launcher) start(called trace.Time) {
	n := k.rnd.IntN(2)
	x := work{begin: max(k.free[n], called+100+trace.Time(k.rnd.IntN(20))*400),
		region: k.kernels[k.rnd.IntN(len(k.kernels))]}
	x.end = x.begin + trace.Time(1+k.rnd.IntN(12))*600
	k.free[n] = x.end
	k.works[n] = append(k.works[n], x)
	if k.rnd.IntN(6) > 0 {
		k.links = append(k.links, trace.Link{Kind: trace.LinkSpawn, Size: -1, Communicator: trace.NoCommunicator,
			From: trace.End{Location: k.thread, Time: called, Region: k.launch},
			To:   trace.End{Location: k.streams[n], Time: x.begin, Region: x.region}})
	}
}
