package demo

import (
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var trainingSizes = []string{"training", "training?locations=2&intervals=12000", "training?locations=64&intervals=300000&seed=5"}

// steps are the steps of a rank, from its main thread.
func steps(c *collected, rank int) []collectedInterval {
	var list []collectedInterval
	for at, r := range c.rows {
		if c.rank(at) != rank || c.locations[at].Name != "python" {
			continue
		}
		for _, i := range r.intervals {
			if strings.HasPrefix(c.regions[i.region].Name, "ProfilerStep#") {
				list = append(list, i)
			}
		}
	}
	return list
}

// kernelTime adds up the kernels of a rank that pass, by step.
func kernelTime(c *collected, rank int, pass func(name string) bool) []float64 {
	all := steps(c, rank)
	sums := make([]float64, len(all))
	for at, r := range c.rows {
		if c.rank(at) != rank || c.locations[at].Kind != trace.KindStream {
			continue
		}
		for _, i := range r.intervals {
			if region := c.regions[i.region]; region.Category == "kernel" && pass(region.Name) {
				for k, s := range all {
					if s.begin <= i.begin && i.begin < s.end {
						sums[k] += float64(i.end - i.begin)
					}
				}
			}
		}
	}
	return sums
}

func isNCCL(name string) bool    { return strings.HasPrefix(name, "ncclDevKernel_AllReduce") }
func isCompute(name string) bool { return !isNCCL(name) }

func TestTrainingStragglerIsSlowFromItsStepOn(t *testing.T) {
	for _, name := range trainingSizes {
		d, _ := Find(name)
		shape := trainingShape(d.Options)
		c := collect(t, name, Options{})
		usual := kernelTime(c, 0, isCompute)
		for rank := range shape.gpus {
			for step, time := range kernelTime(c, rank, isCompute) {
				want := 1.0
				if rank == shape.straggler && step >= shape.throttledFrom {
					want = 1.4
				}
				if got := time / usual[step]; math.Abs(got/want-1) > 0.03 {
					t.Errorf("%s: rank %d, step %d: kernels take %.3f times the usual, want %.1f", name, rank, step, got, want)
				}
			}
		}
	}
}

func TestTrainingOthersWaitInAllReduce(t *testing.T) {
	c := collect(t, "training", Options{})
	shape := trainingShape(trainingOptions)
	straggler := kernelTime(c, shape.straggler, isNCCL)
	stalled := kernelTime(c, shape.stalled, isNCCL)
	for rank := range shape.gpus {
		for step, time := range kernelTime(c, rank, isNCCL) {
			if rank != shape.straggler && step >= shape.throttledFrom && time < 1.4*straggler[step] {
				t.Errorf("rank %d, step %d: %.1f ms in NCCL, the straggler %.1f", rank, step, time/1e6, straggler[step]/1e6)
			}
			if rank != shape.stalled && step == shape.stalledStep && time < stalled[step]+0.9*stallCost {
				t.Errorf("rank %d waits %.1f ms where the loader stalls, the stalled rank %.1f", rank, time/1e6, stalled[step]/1e6)
			}
		}
	}
}

func TestTrainingBalancedHasNoFaults(t *testing.T) {
	for _, name := range []string{"training?balanced", "training?locations=64&intervals=300000&seed=5&balanced"} {
		d, _ := Find(name)
		c := collect(t, name, Options{})
		usual, wait := kernelTime(c, 0, isCompute), kernelTime(c, 0, isNCCL)
		for rank := range d.Options.Locations {
			nccl := kernelTime(c, rank, isNCCL)
			for step, time := range kernelTime(c, rank, isCompute) {
				if math.Abs(time/usual[step]-1) > 0.03 || math.Abs(nccl[step]-wait[step]) > 0.05*usual[step] {
					t.Errorf("%s: rank %d, step %d: %.2f ms of kernels, %.2f in NCCL; rank 0 %.2f and %.2f", name, rank, step, time/1e6, nccl[step]/1e6, usual[step]/1e6, wait[step]/1e6)
				}
			}
		}
	}
}

func TestTrainingCollectivesEndTogether(t *testing.T) {
	for _, name := range trainingSizes {
		checkCollectives(t, collect(t, name, Options{}), kernelReduce.name, 1_200)
	}
}

func TestTrainingStepsTakeEquallyLongEverywhere(t *testing.T) {
	c := collect(t, "training", Options{})
	want := steps(c, 0)
	for rank := range 16 {
		for k, s := range steps(c, rank) {
			if a, b := float64(s.end-s.begin), float64(want[k].end-want[k].begin); math.Abs(a/b-1) > 0.04 {
				t.Errorf("rank %d, step %d takes %.2f ms, rank 0 %.2f", rank, k, a/1e6, b/1e6)
			}
		}
	}
}

func TestTrainingKernelsFollowTheirLaunch(t *testing.T) {
	c := collect(t, "training", Options{})
	launched := map[[2]int64]trace.Time{} // (rank, correlation) → begin of the launch
	attribute := func(i *collectedInterval, key string) (int64, bool) {
		for _, a := range i.attributes {
			if a.Key == key {
				return a.Value.Integer()
			}
		}
		return 0, false
	}
	for at, r := range c.rows {
		for k := range r.intervals {
			i := &r.intervals[k]
			if id, ok := attribute(i, "correlation"); ok && c.regions[i.region].Category == "cuda_runtime" {
				launched[[2]int64{int64(c.rank(at)), id}] = i.begin
			}
		}
	}
	kernels := 0
	for at, r := range c.rows {
		for k := range r.intervals {
			i := &r.intervals[k]
			category := c.regions[i.region].Category
			if category != "kernel" && category != "gpu_memcpy" {
				continue
			}
			kernels++
			id, _ := attribute(i, "correlation")
			if begin, ok := launched[[2]int64{int64(c.rank(at)), id}]; !ok || begin >= i.begin {
				t.Fatalf("kernel %s with correlation %d was not launched before", c.regions[i.region].Name, id)
			}
			if isNCCL(c.regions[i.region].Name) {
				if n, _ := attribute(i, "Group size"); n != 16 {
					t.Fatalf("collective of %d", n)
				}
			}
		}
	}
	spawns := 0
	for _, l := range c.links {
		if l.Kind == trace.LinkSpawn {
			spawns++
		}
	}
	if spawns != kernels || kernels == 0 {
		t.Errorf("%d kernels, %d links from launches", kernels, spawns)
	}
}

func TestTrainingClockFallsWhereTheStragglerSlows(t *testing.T) {
	c := collect(t, "training", Options{})
	shape := trainingShape(trainingOptions)
	for at, r := range c.rows {
		if c.locations[at].Kind != trace.KindDevice {
			continue
		}
		step := 0
		for _, s := range r.samples {
			if c.counters[s.counter].Name != "SM clock" {
				continue
			}
			if low := s.value < 1500; low != shape.throttled(c.rank(at), step) {
				t.Errorf("rank %d, step %d: %v MHz", c.rank(at), step, s.value)
			}
			step++
		}
		if step != shape.steps {
			t.Errorf("rank %d has %d samples of its clock", c.rank(at), step)
		}
	}
}
