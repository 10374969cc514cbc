// Package whatif asks how fast a pipelined training job would be if like operations took the same time, and which
// part of it prevents that.
//
// The operations of each step are replayed along their dependencies: those of a worker one after the other, a forward
// pass after that of the stage before, a backward pass after that of the stage behind, collectives when all replicas of
// a stage have come. With the recorded durations that gives the length of the step without delays of the host; with the
// mean of all peers in place of each duration (the median for communication) the length it could have. The ratio is the
// slowdown S. With all but one replica, stage or kind of operation made ideal it says who is to blame. After Lin et al.
// (ByteDance), Understanding Stragglers in Large Model Training Using What-if Analysis, OSDI 2025.
package whatif

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Class is the role of an operation in the pipeline.
type Class uint8

// The classes. Transfers are those that receive; the others say the same again.
const (
	Forward Class = iota
	Backward
	ForwardTransfer
	BackwardTransfer
	Collective // of all replicas of a stage
	Rest       // optimizers and whatever else is computed
)

func (c Class) compute() bool { return c == Forward || c == Backward || c == Rest }

// An Operation is one interval.
type Operation struct {
	Step, Batch    int64
	Replica, Stage int // from 0 on, without gaps
	Kind           int // of operation, from 0 on
	Class          Class
	Begin          trace.Time
	Duration       trace.Time
}

// A Result holds the slowdowns of a job. They are relative to the ideal: 1 is none.
type Result struct {
	Steps         int
	Actual, Ideal float64 // mean length of a step, ns
	Slowdown      float64
	Gains         []float64 // by step: how much shorter it is in the ideal
	// With only one of them as slow as it was.
	ByReplica, ByStage, ByKind []float64
	// Replica and Stage of the worker to blame; its own slowdown.
	Replica, Stage int
	ByWorker       float64
	Cause          Cause
}

// A Cause says where the slowness lies.
type Cause string

// The causes that are distinguished.
const (
	Worker Cause = "worker" // one worker, whatever the data
	Stage  Cause = "stage"  // one stage of the pipeline, in all replicas
	Data   Cause = "data"   // now here, now there
)

// mostReplayed bounds the operations that are replayed in all: of long jobs some steps are, evenly spread.
const mostReplayed = 30_000_000

// A step is the operations of one step, ready to be replayed.
type step struct {
	compute [][]int32 // by worker: forward and backward in order of begin
	before  [][]int32 // collectives before the first of them
	after   [][]int32 // all else, in order
	arrive  map[key]int32
}

type key struct {
	worker int32
	batch  int64
	back   bool
}

type job struct {
	ops              []Operation
	replicas, stages int
	kinds            int
	ideal            []float64 // by kind
	steps            []step
}

// Analyse replays a job. It gives nil if there is no pipeline: less than two workers, or no step in which all have
// passes. O(n · (replicas + stages + kinds)).
func Analyse(ops []Operation) *Result {
	j := &job{ops: withoutWaits(ops)}
	for i := range ops {
		j.replicas, j.stages, j.kinds = max(j.replicas, ops[i].Replica+1), max(j.stages, ops[i].Stage+1),
			max(j.kinds, ops[i].Kind+1)
	}
	if j.replicas*j.stages < 2 {
		return nil
	}
	j.peers()
	j.cut()
	if len(j.steps) == 0 {
		return nil
	}
	r := &Result{Steps: len(j.steps), Replica: -1, Stage: -1}
	all := func(*Operation) bool { return true }
	none := func(*Operation) bool { return false }
	for i := range j.steps {
		actual, ideal := j.replay(&j.steps[i], all), j.replay(&j.steps[i], none)
		r.Actual, r.Ideal = r.Actual+actual, r.Ideal+ideal
		r.Gains = append(r.Gains, actual-ideal)
	}
	r.Actual, r.Ideal = r.Actual/float64(r.Steps), r.Ideal/float64(r.Steps)
	if r.Ideal <= 0 {
		return nil
	}
	r.Slowdown = r.Actual / r.Ideal
	for x := range j.replicas {
		r.ByReplica = append(r.ByReplica, j.mean(func(o *Operation) bool { return o.Replica == x })/r.Ideal)
	}
	for x := range j.stages {
		r.ByStage = append(r.ByStage, j.mean(func(o *Operation) bool { return o.Stage == x })/r.Ideal)
	}
	for x := range j.kinds {
		r.ByKind = append(r.ByKind, j.mean(func(o *Operation) bool { return o.Kind == x })/r.Ideal)
	}
	j.blame(r)
	return r
}

// blame finds the worker without which half of the slowdown is gone, else the stage.
func (j *job) blame(r *Result) {
	r.Replica, r.Stage = most(r.ByReplica), most(r.ByStage)
	mine := func(o *Operation) bool { return o.Replica == r.Replica && o.Stage == r.Stage }
	r.ByWorker = j.mean(mine) / r.Ideal
	half := 1 + (r.Slowdown-1)/2
	switch {
	case j.mean(func(o *Operation) bool { return !mine(o) })/r.Ideal <= half:
		r.Cause = Worker
	case j.mean(func(o *Operation) bool { return o.Stage != r.Stage })/r.Ideal <= half:
		r.Cause = Stage
	default:
		r.Cause = Data
	}
}

func most(list []float64) int {
	best := 0
	for i, v := range list {
		if v > list[best] {
			best = i
		}
	}
	return best
}

// withoutWaits gives collectives the time that they take once all replicas have come: the shortest of the recorded
// ones, which is that of the last to come. Replays add the waiting anew.
func withoutWaits(ops []Operation) []Operation {
	type meeting struct {
		step         int64
		stage, kind  int
		replica, nth int
	}
	ops = slices.Clone(ops)
	var order []int
	for i := range ops {
		if ops[i].Class == Collective {
			order = append(order, i)
		}
	}
	slices.SortFunc(order,
		func(a, b int) int { return cmp.Or(cmp.Compare(ops[a].Begin, ops[b].Begin), cmp.Compare(a, b)) })
	count, least := map[meeting]int{}, map[meeting]trace.Time{}
	of := make([]meeting, len(order))
	for n, i := range order {
		o := &ops[i]
		m := meeting{step: o.Step, stage: o.Stage, kind: o.Kind, replica: o.Replica}
		count[m]++
		m.nth, m.replica = count[m], 0
		if t, ok := least[m]; !ok || o.Duration < t {
			least[m] = o.Duration
		}
		of[n] = m
	}
	for n, i := range order {
		ops[i].Duration = least[of[n]]
	}
	return ops
}

// peers finds the ideal duration of each kind of operation.
func (j *job) peers() {
	sums, counts, lists := make([]float64, j.kinds), make([]int, j.kinds), make([][]trace.Time, j.kinds)
	compute := make([]bool, j.kinds)
	for i := range j.ops {
		o := &j.ops[i]
		sums[o.Kind] += float64(o.Duration)
		counts[o.Kind]++
		if compute[o.Kind] = o.Class.compute(); !compute[o.Kind] {
			lists[o.Kind] = append(lists[o.Kind], o.Duration)
		}
	}
	j.ideal = make([]float64, j.kinds)
	for k := range j.ideal {
		switch n := len(lists[k]); {
		case counts[k] == 0:
		case compute[k]:
			j.ideal[k] = sums[k] / float64(counts[k])
		default:
			slices.Sort(lists[k])
			j.ideal[k] = float64(lists[k][(n-1)/2]+lists[k][n/2]) / 2
		}
	}
}

// cut sorts the operations into steps; those in which a worker has no passes, or other numbers of them than its peers,
// are left out.
func (j *job) cut() {
	workers := j.replicas * j.stages
	order := make([]int32, len(j.ops))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(a, b int32) int {
		x, y := &j.ops[a], &j.ops[b]
		return cmp.Or(cmp.Compare(x.Step, y.Step), cmp.Compare(x.Begin, y.Begin), cmp.Compare(a, b))
	})
	var found []step
	for from := 0; from < len(order); {
		to := from
		for to < len(order) && j.ops[order[to]].Step == j.ops[order[from]].Step {
			to++
		}
		s := step{compute: make([][]int32, workers), before: make([][]int32, workers), after: make([][]int32, workers),
			arrive: map[key]int32{}}
		for _, i := range order[from:to] {
			o := &j.ops[i]
			w := o.Replica*j.stages + o.Stage
			switch o.Class {
			case Forward, Backward:
				s.compute[w] = append(s.compute[w], i)
			case ForwardTransfer, BackwardTransfer:
				s.arrive[key{int32(w), o.Batch, o.Class == BackwardTransfer}] = i
			default:
				if len(s.compute[w]) == 0 && o.Class == Collective {
					s.before[w] = append(s.before[w], i)
				} else {
					s.after[w] = append(s.after[w], i)
				}
			}
		}
		whole := true
		for w := range workers {
			whole = whole && len(s.compute[w]) > 0 && len(s.compute[w]) == len(s.compute[0])
		}
		if whole {
			found = append(found, s)
		}
		from = to
	}
	every := 1 + len(j.ops)*(2+j.replicas+j.stages+j.kinds)/mostReplayed
	for i := 0; i < len(found); i += every {
		j.steps = append(j.steps, found[i])
	}
}

// mean length of the steps where only some operations are as slow as they were.
func (j *job) mean(slow func(*Operation) bool) float64 {
	sum := 0.0
	for i := range j.steps {
		sum += j.replay(&j.steps[i], slow)
	}
	return sum / float64(len(j.steps))
}

func (j *job) replay(s *step, slow func(*Operation) bool) float64 {
	length := func(i int32) float64 {
		if o := &j.ops[i]; slow(o) {
			return float64(o.Duration)
		}
		return j.ideal[j.ops[i].Kind]
	}
	now := make([]float64, j.replicas*j.stages)
	j.together(s.before, now, length)
	j.passes(s, now, length)
	// Collectives wait for the replicas of their stage; operations after the last of them wait for all.
	tail := make([]float64, len(now))
	var ends [][]int32
	for w, list := range s.after {
		last := -1
		for k, i := range list {
			if j.ops[i].Class == Collective {
				last = k
			}
		}
		ends = append(ends, list[:last+1])
		for _, i := range list[last+1:] {
			tail[w] += length(i)
		}
	}
	j.together(ends, now, length)
	end, rest := slices.Max(now), slices.Max(tail)
	return end + rest
}

// together runs collectives, the k-th of each replica of a stage at once. Each replica runs the operations between them
// alone.
func (j *job) together(lists [][]int32, now []float64, length func(int32) float64) {
	for stage := range j.stages {
		most := 0
		for r := range j.replicas {
			most = max(most, len(lists[r*j.stages+stage]))
		}
		for k := range most {
			ready, meet := 0.0, false
			for r := range j.replicas {
				w := r*j.stages + stage
				if k < len(lists[w]) && j.ops[lists[w][k]].Class == Collective {
					ready, meet = max(ready, now[w]), true
				}
			}
			for r := range j.replicas {
				w := r*j.stages + stage
				if k >= len(lists[w]) {
					continue
				}
				if meet && j.ops[lists[w][k]].Class == Collective {
					now[w] = ready
				}
				now[w] += length(lists[w][k])
			}
		}
	}
}

// passes runs the forward and backward passes of all workers, each as soon as its dependencies are done.
func (j *job) passes(s *step, now []float64, length func(int32) float64) {
	at := make([]int, len(now))
	done := make(map[key]float64, len(s.compute)*len(s.compute[0]))
	for moved := true; moved; {
		moved = false
		for w := range now {
			for ; at[w] < len(s.compute[w]); at[w]++ {
				i := s.compute[w][at[w]]
				o := &j.ops[i]
				back := o.Class == Backward
				needs, need := int32(w-1), o.Stage > 0
				if back {
					needs, need = int32(w+1), o.Stage < j.stages-1
				}
				if need {
					ready, ok := done[key{needs, o.Batch, back}]
					if !ok {
						break
					}
					if t, ok := s.arrive[key{int32(w), o.Batch, back}]; ok {
						ready += length(t)
					}
					now[w] = max(now[w], ready)
				}
				now[w] += length(i)
				done[key{int32(w), o.Batch, back}] = now[w]
				moved = true
			}
		}
	}
}
