package all_test

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/operator"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/analysis/steppath"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/testing/benchtest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/criticalpath"
	"github.com/parallax-hpc/parallax/internal/view/operators"
	"github.com/parallax-hpc/parallax/internal/view/steps"
)

// writeJob writes ranks of twenty steps each: operators that launch kernels on one stream.
func writeJob(w trace.Writer, ranks, intervals int) {
	regions := map[string]trace.RegionID{}
	region := func(name, category string, role trace.Role) trace.RegionID {
		id, ok := regions[name]
		if !ok {
			id = w.Region(trace.Region{Name: name, Category: category, Role: role})
			regions[name] = id
		}
		return id
	}
	loader, mm := region("enumerate(DataLoader)#_Iter.__next__", "cpu_op", trace.RoleCompute), region("aten::mm", "cpu_op", trace.RoleCompute)
	call, gemm := region("cudaLaunchKernel", "cuda_runtime", trace.RoleOverhead), region("gemm", "kernel", trace.RoleCompute)
	const count = 20
	each := max((intervals/ranks/count-2)/3, 1)
	for r := range ranks {
		process := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: fmt.Sprint("rank ", r), Rank: r})
		main := w.Location(trace.Location{Parent: process, Kind: trace.KindThread, Name: "main", Rank: trace.NoRank})
		gpu := w.Location(trace.Location{Parent: process, Kind: trace.KindDevice, Name: fmt.Sprint("GPU ", r), Rank: trace.NoRank})
		stream := w.Location(trace.Location{Parent: gpu, Kind: trace.KindStream, Name: "stream 7", Rank: trace.NoRank})
		host, work := w.Stream(main, trace.StreamOptions{}), w.Stream(stream, trace.StreamOptions{})
		now, free := trace.Time(r), trace.Time(0)
		for s := range count {
			step := region(fmt.Sprint("ProfilerStep#", s), "user_annotation", trace.RoleAnnotation)
			host.Enter(now, step)
			host.Enter(now, loader)
			now += 20_000
			host.Leave(now, loader)
			for range each {
				host.Enter(now, mm)
				now += 3_000
				host.Enter(now, call)
				begin := max(now+6_000, free+1_000)
				free = begin + 9_000
				work.Interval(begin, free, gemm)
				w.Link(trace.Link{Kind: trace.LinkSpawn, From: trace.End{Location: main, Time: now, Region: call}, To: trace.End{Location: stream, Time: begin, Region: gemm}, Size: -1, Communicator: trace.NoCommunicator})
				now += 4_000
				host.Leave(now, call)
				now += 1_000
				host.Leave(now, mm)
			}
			host.Leave(now, step)
			now += 500
		}
		_ = host.Close()
		_ = work.Close()
	}
}

// BenchmarkJobOfGPUs prints, in processor time, what is made at import for each view that keeps something, a first look after it,
// and one at a tenth of the time, of which nothing is kept.
func BenchmarkJobOfGPUs(b *testing.B) {
	for _, n := range viewtest.BenchSizes(b) {
		r := viewtest.Local(b, func(w trace.Writer) { writeJob(w, min(1000, max(n/10_000, 1)), n) })
		c := viewtest.Case{Size: scene.Size{Width: 1280, Height: 720}}
		prepares := []derived.Preparer{step.JobOfRun, steppath.PathsOfRun, operator.TablesOfRun}
		for i, v := range []*view.View{steps.View, criticalpath.View, operators.View} { // in this order: paths ask for steps
			b.Run(fmt.Sprint(n, "/", v.Name), func(b *testing.B) {
				for b.Loop() {
					for _, x := range []struct {
						name string
						do   func() error
					}{
						{"prepare", func() error { return prepares[i].Prepare(b.Context(), &view.Run{Store: r}) }},
						{"first", func() error { c.Compute(b, v, r).Scene(c.Size); return nil }},
						{"tenth", func() error {
							q := c.Request(b, v, r)
							q.Selection.End = r.Info().End / 10
							_, err := v.Compute(b.Context(), q)
							return err
						}},
					} {
						begin := benchtest.CPUTime()
						if err := x.do(); err != nil {
							b.Fatal(err)
						}
						b.ReportMetric((benchtest.CPUTime() - begin).Seconds(), x.name+"-cpu-s")
					}
				}
				b.ReportMetric(float64(r.Info().Intervals), "intervals")
			})
		}
	}
}
