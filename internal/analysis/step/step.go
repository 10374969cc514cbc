// Package step analyses the steps of a GPU job: the parts of each step's time, the work of each GPU
// meanwhile, and the causes of its idle time.
//
//	step.go      input and results
//	class.go     the term of a region, on a GPU and on the host
//	find.go      which intervals are the steps
//	gather.go    from rows of a store to the work of GPUs and the states of threads
//	anatomy.go   the terms of a step
//	identity.go  the time of a GPU: computation, communication, copies, idle
//	idle.go      the causes of idle time
//	launch.go    how long launches take and how far they run ahead
//	verdict.go   the bottleneck of a job
//
// The terms of a step are those of the profiler that came with PyTorch until 2024; the
// time of a GPU is cut as TraceLens and HTA do, over all its streams together. All sums are
// whole nanoseconds and add up exactly.
//
// Rows are looked at once, as they come. Memory grows with the work of GPUs and with how often threads
// change between kinds of work. Time: O(n log n) in that.
package step

import (
	"errors"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Term is a part of a step. If several are open at the same time, the first counts.
type Term int

// The terms, by priority.
const (
	Kernel Term = iota
	Memcpy
	Memset
	Communication
	Runtime // calls of CUDA, HIP and their like
	Loader  // waiting for or making input
	CPU     // operators, annotations, Python
	Other   // nothing recorded
	Terms   = int(Other) + 1
)

var termNames = [Terms]string{"kernel", "memcpy", "memset", "communication", "runtime", "loader", "cpu", "other"}

func (t Term) String() string { return termNames[t] }

// A Work is one piece of work on a GPU.
type Work struct {
	Begin, End trace.Time
	// Called and Returned are the call that launched it; Called < 0 if it is not in the file.
	Called, Returned trace.Time
	Region           trace.RegionID
	Term             Term
	Stream           uint32  // lane
	Thread           uint32  // lane of the call
	Row              int32   // in its lane
	Blocks           float32 // per multiprocessor; 0: not said
	Occupancy        float32 // achieved, as estimated, 0..100; negative: not said
}

// Launched reports whether the call that started it is known.
func (w *Work) Launched() bool { return w.Called >= 0 }

// A Mark is a step as the host states it.
type Mark struct {
	Name       string
	Begin, End trace.Time
	Location   trace.LocationID
}

// A Step is one step of one unit, on the clock that waits for its GPU work.
type Step struct {
	Unit       int
	Name       string
	Begin, End trace.Time
	Terms      [Terms]trace.Time
	// GPUs are the times of each GPU of the unit in the step, in their order.
	GPUs []Time
}

// Total is the length of the step: the sum of its terms.
func (s *Step) Total() trace.Time { return s.End - s.Begin }

// A Time is the time of one GPU: Span = Computation + Communication + Copy + Idle.
type Time struct {
	Span, Computation, ExposedCommunication, ExposedCopy, Idle trace.Time
	// Communication in all; Overlapped of it ran under computation.
	Communication, Overlapped trace.Time
}

// A GPU holds the results of one GPU.
type GPU struct {
	Time
	Begin, End trace.Time // of the span: its first work to its last
	Works      int
	// Unlinked work: the call that launched it is not in the file.
	Unlinked     int
	UnlinkedTime trace.Time
	// Shares of the time of steps; negative if the file does not have them.
	Utilization, Efficiency, Occupancy float64
	// Causes of Idle by cause; they add up to it.
	Causes [Causes]trace.Time
	// InSteps are the causes of its idle time in steps. Drained of it is in gaps that began while the host
	// waited for the GPU, and is not the loader's.
	InSteps [Causes]trace.Time
	Drained trace.Time
	Gaps    []Gap // the longest, longest first
	Launch  Launches
	// Kernels are those that compute, by the number of their region.
	Kernels []KernelSum
}

// A KernelSum is the calls of one kernel.
type KernelSum struct {
	Region trace.RegionID
	Sum
}

// A Sum is a number of calls and their total time.
type Sum struct {
	Count int64
	Time  trace.Time
}

// A Job is a run taken apart.
type Job struct {
	By    string // the kind of steps; "" where none were found
	Steps []Step // by unit, then time
	GPUs  []GPU
	// Mean of all steps.
	Mean [Terms]float64
	// Odd counts work that ends before it begins or was launched after it ran; it is taken as it is.
	Odd int64

	units []unit // while it is made
}

// SizeBytes estimates the memory of a job.
func (j *Job) SizeBytes() int64 {
	n := int64(400 * len(j.Steps))
	for i := range j.GPUs {
		n += 800 + 250*int64(len(j.GPUs[i].Gaps)) + 40*int64(len(j.GPUs[i].Kernels))
	}
	return n
}

// errOtherRun is the error of a job that names rows or regions unknown to its run.
var errOtherRun = errors.New("the steps are not those of this run")

// restore checks a job that was kept against its run.
func (j *Job) restore(r store.Reader) error {
	d, lanes := runfacts.FindDevices(r.Locations(), nil), r.Lanes()
	if !j.fits(len(d.Units), d.Owner, len(r.Regions()), int(lanes[len(lanes)-1])) {
		return errOtherRun
	}
	return nil
}

// fits reports whether a job speaks of nothing that its run does not have; owner is the unit of each GPU.
func (j *Job) fits(units int, owner []int32, regions, lanes int) bool {
	if len(j.GPUs) != len(owner) {
		return false
	}
	has := make([]int, units)
	for _, u := range owner {
		has[u]++
	}
	for i := range j.Steps {
		if x := &j.Steps[i]; x.Unit < 0 || x.Unit >= units || len(x.GPUs) != has[x.Unit] || x.End < x.Begin {
			return false
		}
	}
	known := func(id trace.RegionID) bool { return id == trace.NoRegion || int(id) < regions }
	for i := range j.GPUs {
		g := &j.GPUs[i]
		for _, k := range g.Kernels {
			if !known(k.Region) || k.Region == trace.NoRegion {
				return false
			}
		}
		for k := range g.Gaps {
			if x := &g.Gaps[k]; !known(x.Next) || !known(x.Host) || x.Known && int(x.Lane) >= lanes {
				return false
			}
		}
	}
	return true
}
