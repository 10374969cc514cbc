package findings_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/tracetest"
	"github.com/parallax-hpc/parallax/internal/testing/viewtest"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A text is a run in the language of package tracetest.
type text string

func (x text) store(t *testing.T) store.Reader {
	t.Helper()
	return viewtest.Local(t, func(w trace.Writer) {
		if err := tracetest.Parse(w, string(x)); err != nil {
			t.Fatal(err)
		}
	})
}

// A cluster is a job of GPUs: a step loads data, launches kernels and ends in a reduction over all.
type cluster struct {
	gpus, steps int
	load        func(rank, step int) trace.Time
	kernels     func(rank, step int) trace.Time
	events      []track // by rank
	waited      trace.Time
	idle        trace.Time // of GPUs, by loading
}

type track struct{ host, device []event }

func train() *cluster {
	return &cluster{gpus: 8, steps: 12, load: func(int, int) trace.Time { return ms / 20 }, kernels: func(int, int) trace.Time { return 10 * ms }}
}

// ripen simulates the steps.
func (c *cluster) ripen() *cluster {
	rnd := rand.New(rand.NewPCG(2, 7))
	c.events, c.waited, c.idle = make([]track, c.gpus), 0, 0
	at := trace.Time(0)
	for s := range c.steps {
		ready := make([]trace.Time, c.gpus)
		last := trace.Time(0)
		for r := range c.gpus {
			x := &c.events[r]
			load := c.load(r, s)
			c.idle += load
			x.host = append(x.host, event{"enumerate(DataLoader)#_Iter.__next__", at, at + load}, event{"cudaLaunchKernel", at + load, at + load + 5000}, event{"cudaLaunchKernel", at + load + 5000, at + load + 10_000})
			begin := at + load + 10_000
			ready[r] = begin + trace.Time(float64(c.kernels(r, s))*(1+0.002*rnd.NormFloat64()))
			x.device = append(x.device, event{"gemm", begin, ready[r]})
			last = max(last, ready[r])
		}
		end := last + ms/5
		for r := range c.gpus {
			c.waited += last - ready[r]
			c.events[r].device = append(c.events[r].device, event{"ncclDevKernel_AllReduce_Sum_f32", ready[r], end})
			c.events[r].host = append(c.events[r].host, event{"cudaStreamSynchronize", at + c.load(r, s) + 10_000, end}, event{fmt.Sprintf("ProfilerStep#%d", s), at, end})
		}
		at = end
	}
	return c
}

func (c *cluster) store(t *testing.T) store.Reader {
	t.Helper()
	c.ripen()
	return viewtest.Local(t, func(w trace.Writer) {
		region := func(name string) trace.RegionID {
			switch name[:4] {
			case "Prof", "enum":
				return w.Region(trace.Region{Name: name, Category: "user_annotation", Role: trace.RoleAnnotation})
			case "cuda":
				return w.Region(trace.Region{Name: name, Category: "cuda_runtime", Role: trace.RoleByName})
			case "nccl":
				return w.Region(trace.Region{Name: name, Category: "kernel", Role: trace.RoleCommunication})
			}
			return w.Region(trace.Region{Name: name, Category: "kernel", Role: trace.RoleCompute})
		}
		for r := range c.gpus {
			m := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: fmt.Sprintf("node%d", r/4), Rank: trace.NoRank})
			p := w.Location(trace.Location{Parent: m, Kind: trace.KindProcess, Name: fmt.Sprintf("rank %d", r), Rank: r})
			host := w.Location(trace.Location{Parent: p, Kind: trace.KindThread, Name: "main", Rank: r})
			gpu := w.Location(trace.Location{Parent: p, Kind: trace.KindDevice, Name: fmt.Sprintf("GPU %d", r%4), Rank: r})
			stream := w.Location(trace.Location{Parent: gpu, Kind: trace.KindStream, Name: "stream 7", Rank: r})
			for i, id := range []trace.LocationID{host, stream} {
				s := w.Stream(id, trace.StreamOptions{Unordered: true})
				for _, e := range [][]event{c.events[r].host, c.events[r].device}[i] {
					s.Interval(e.begin, e.end, region(e.region))
				}
				_ = s.Close()
			}
			launch := 0
			for _, e := range c.events[r].host {
				if e.region == "cudaLaunchKernel" {
					w.Link(trace.Link{Kind: trace.LinkSpawn, From: trace.End{Location: host, Time: e.begin, Region: trace.NoRegion}, To: trace.End{Location: stream, Time: c.events[r].device[launch].begin, Region: trace.NoRegion}})
					launch++
				}
			}
		}
	})
}

// A tally is a profile without time: how long ranks are in regions.
type tally struct {
	ranks int
	time  func(rank int) map[string]float64 // ms
}

func (p *tally) store(t *testing.T) store.Reader {
	t.Helper()
	return viewtest.Local(t, func(w trace.Writer) {
		metric := w.Metric(trace.Metric{Name: "time", Unit: "ns"})
		for r := range p.ranks {
			m := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindMachine, Name: fmt.Sprintf("node%02d", r/4), Rank: trace.NoRank})
			at := w.Location(trace.Location{Parent: m, Kind: trace.KindProcess, Name: fmt.Sprintf("rank %d", r), Rank: r})
			for name, v := range p.time(r) {
				role := trace.RoleCompute
				if name[:4] == "MPI_" {
					role = trace.RoleByName
				}
				path := w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: w.Region(trace.Region{Name: name, Role: role})})
				w.Profile(trace.ProfileRow{Location: at, Path: path, Metric: metric, Calls: 100, Inclusive: v * 1e6, Exclusive: v * 1e6})
			}
		}
	})
}
