package whatif

import (
	"math"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// pipeline writes steps of a pipeline that runs one forward, one backward; the pass of each takes what slow says.
func pipeline(replicas, stages, batches, steps int, slow func(replica, stage, step, batch int) float64) (ops []Operation) {
	for s := range steps {
		for r := range replicas {
			for p := range stages {
				at := trace.Time(s) * 1_000_000
				add := func(class Class, kind, batch int, d float64) {
					ops = append(ops, Operation{Step: int64(s), Batch: int64(batch), Replica: r, Stage: p, Kind: kind, Class: class, Begin: at, Duration: trace.Time(d)})
					at += trace.Time(d) + 1
				}
				for b := range batches {
					add(ForwardTransfer, 3, b, 1)
					add(Forward, 0, b, 100*slow(r, p, s, b))
				}
				for b := range batches {
					add(BackwardTransfer, 3, b, 1)
					add(Backward, 1, b, 200*slow(r, p, s, b))
				}
				add(Collective, 2, 0, 10)
			}
		}
	}
	return ops
}

func TestABalancedPipelineHasNoSlowdown(t *testing.T) {
	r := Analyse(pipeline(2, 3, 4, 2, func(int, int, int, int) float64 { return 1 }))
	if r == nil || math.Abs(r.Slowdown-1) > 1e-12 || r.Steps != 2 {
		t.Fatalf("%+v", r)
	}
	// Four batches and three stages: (4 + 2) passes each way, four transfers, and the collective.
	if want := 6.0*100 + 6*200 + 2*1 + 2*1 + 10; r.Ideal != want {
		t.Errorf("a step takes %v, want %v", r.Ideal, want)
	}
}

func TestTheSlowWorkerOrStageIsFound(t *testing.T) {
	for _, c := range []struct {
		slow  func(replica, stage, step, batch int) float64
		cause Cause
	}{
		{func(r, p, _, _ int) float64 { return 1 + btof(r == 1 && p == 2) }, Worker},
		{func(_, p, _, _ int) float64 { return 1 + btof(p == 2) }, Stage},
		{func(r, _, s, b int) float64 { return 1 + btof((r*7+s*3+b)%5 == 0) }, Data},
	} {
		r := Analyse(pipeline(4, 3, 8, 5, c.slow))
		if r == nil || r.Cause != c.cause || r.Slowdown < 1.1 {
			t.Errorf("want %s: %+v", c.cause, r)
			continue
		}
		if c.cause == Worker && (r.Replica != 1 || r.Stage != 2) || c.cause == Stage && r.Stage != 2 {
			t.Errorf("%s: DP %d, PP %d", c.cause, r.Replica, r.Stage)
		}
	}
}

func btof(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func TestRunsWithoutAPipelineHaveNoAnalysis(t *testing.T) {
	if Analyse(nil) != nil || Analyse(pipeline(1, 1, 4, 2, func(int, int, int, int) float64 { return 1 })) != nil {
		t.Error("one worker has no peers")
	}
	ops := pipeline(2, 2, 2, 1, func(int, int, int, int) float64 { return 1 })
	for i := range ops { // no pass of the first stage: nothing may hang
		if ops[i].Stage == 0 && ops[i].Class == Forward {
			ops[i].Class = Rest
		}
	}
	Analyse(ops)
}

// A collective that was recorded with the wait for the last replica in it is replayed without: the replay waits itself.
func TestWaitingInsideCollectivesIsNotReplayed(t *testing.T) {
	slow := func(r, _, _, _ int) float64 { return 1 + 0.5*btof(r == 1) }
	plain, waiting := pipeline(2, 3, 4, 2, slow), pipeline(2, 3, 4, 2, slow)
	for i := range waiting {
		if o := &waiting[i]; o.Class == Collective && o.Replica == 0 {
			o.Duration += 700
		}
	}
	a, b := Analyse(plain), Analyse(waiting)
	if a.Actual != b.Actual || a.Ideal != b.Ideal {
		t.Errorf("%v and %v without the wait, %v and %v with it", a.Actual, a.Ideal, b.Actual, b.Ideal)
	}
}
