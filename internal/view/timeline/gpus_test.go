package timeline

import (
	"fmt"
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/all"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/testing/storetest"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// gpuJob is eight ranks with five threads and a GPU of three streams each; one of the streams has kernels, one copies
// at the same time, and one has ranges of the user.
func gpuJob() store.Reader {
	m := storetest.NewMemory(all.Summaries...)
	region := func(name string, r trace.Role) trace.RegionID { return m.Region(trace.Region{Name: name, Role: r}) }
	op, kernel := region("op", trace.RoleCompute), region("kernel", trace.RoleCompute)
	memcpy, step := region("memcpy", trace.RoleCopy), region("step", trace.RoleAnnotation)
	for p := range 8 {
		rank := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess,
			Name: fmt.Sprint("rank ", p), Rank: p})
		put := func(parent trace.LocationID, kind trace.Kind, name string, r trace.RegionID) {
			s := m.Stream(m.Location(trace.Location{Parent: parent, Kind: kind, Name: name, Rank: p}),
				trace.StreamOptions{})
			s.Interval(0, 1<<20, r)
			s.Close()
		}
		for i := range 5 {
			put(rank, trace.KindThread, fmt.Sprint("thread ", i), op)
		}
		gpu := m.Location(trace.Location{Parent: rank, Kind: trace.KindDevice, Name: "GPU 0", Rank: p})
		for i, r := range []trace.RegionID{kernel, memcpy, step} {
			put(gpu, trace.KindStream, fmt.Sprint("stream ", i), r)
		}
	}
	return m.Reader()
}

func TestGPUsHaveTheTallestRowsAndTheirNames(t *testing.T) {
	for _, c := range []struct {
		height                int
		gpus, threads, stream int // rows
	}{{1600, 0, 40, 24}, {900, 8, 40, 0}, {420, 8, 0, 0}} {
		size := scene.Size{Width: 900, Height: c.height}
		r := computeFor(t, gpuJob(), view.Spec{}, nil, size)
		gpus, threads, streams, least, most := 0, 0, 0, float32(1e9), float32(0)
		tree := r.reader.Locations()
		rows := r.Scene(size).Frames[0].YScale.Rows
		for i, w := range r.rows {
			h := rows[i].To - rows[i].From
			switch {
			case w.kind == header:
			case w.kind == folded && w.isGPU(tree):
				gpus++
				least = min(least, h)
				if g := r.groups[i]; g.share(0, trace.RoleCompute) != 0.5 || g.share(0, trace.RoleCopy) != 0.5 ||
					g.share(0, trace.RoleAnnotation) != 0 {
					t.Errorf("a GPU whose streams work at once works all of its time: %v", g.time[:trace.RoleCount])
				}
			case w.isGPU(tree):
				streams++
			case w.kind == leaf:
				threads++
				most = max(most, h)
			case w.label != "threads" || w.count != 5:
				t.Errorf("row %+v", w)
			}
		}
		if gpus != c.gpus || threads != c.threads || streams != c.stream {
			t.Errorf("%d pixels: %d GPUs, %d threads, %d streams", c.height, gpus, threads, streams)
		}
		if gpus > 0 && (least < scene.RowLabelPitch || least <= most) {
			t.Errorf("%d pixels: GPUs are %v high, threads %v", c.height, least, most)
		}
	}
}

// One GPU that is opened by hand has its streams, and the others stay as they are.
func TestExpandingOneGPUShowsItsStreamsOnly(t *testing.T) {
	r := computeFor(t, gpuJob(), view.Spec{}, map[string][]string{"expand": {"rank 3/GPU 0"}},
		scene.Size{Width: 900, Height: 420})
	streams, folds := 0, 0
	for _, w := range r.rows {
		switch {
		case w.kind == leaf && w.isGPU(r.reader.Locations()):
			streams++
		case w.kind == folded:
			folds++
		}
	}
	if streams != 3 || folds != 7+8 {
		t.Errorf("%d streams, %d rows of GPUs and threads", streams, folds)
	}
}

// A thread with a deep stack is no taller than the GPU that it feeds.
func TestAGPUIsAsTallAsTheNestingOfItsThread(t *testing.T) {
	m := storetest.NewMemory(all.Summaries...)
	op := m.Region(trace.Region{Name: "op", Role: trace.RoleCompute})
	rank := m.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: "rank 0"})
	thread := m.Stream(m.Location(trace.Location{Parent: rank, Kind: trace.KindThread, Name: "thread 0"}),
		trace.StreamOptions{})
	for level := range trace.Time(8) {
		thread.Enter(level*100, op)
	}
	for level := trace.Time(7); level >= 0; level-- {
		thread.Leave(10_000-level*100, op)
	}
	thread.Close()
	gpu := m.Location(trace.Location{Parent: rank, Kind: trace.KindDevice, Name: "GPU 0"})
	stream := m.Stream(m.Location(trace.Location{Parent: gpu, Kind: trace.KindStream, Name: "stream 7"}),
		trace.StreamOptions{})
	stream.Interval(1000, 9000, op)
	stream.Close()
	size := scene.Size{Width: 900, Height: 420}
	r := computeFor(t, m.Reader(), view.Spec{}, map[string][]string{"depth": {"auto"}}, size)
	var threads, gpus float32
	for i, row := range r.Scene(size).Frames[0].YScale.Rows {
		switch w := &r.rows[i]; {
		case w.kind == header:
		case w.isGPU(r.reader.Locations()):
			gpus = row.To - row.From
		default:
			threads = row.To - row.From
		}
	}
	if r.levels < 4 || gpus < threads || threads <= 0 {
		t.Errorf("%d levels: the thread is %v high, the GPU %v", r.levels, threads, gpus)
	}
}
