package diagnose

// Fault: a pipelined training job loses time since like operations do not take the same time.

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/whatif"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// slowdownTold is the slowdown from which on it is reported.
const slowdownTold = 1.05

// A pipeline is a run whose rows are stages and replicas of a training job, with steps and batches told next to each
// operation.
type pipeline struct {
	*diagnosis
	replica, stage []int32 // by location, -1
	kinds          []trace.RegionID
	ops            []whatif.Operation
	said           []finding.Evidence // numbers of the sentence
}

// findPipelines finds the time that a pipelined training job loses because like operations do not take the same
// time, and the replica, stage or kind that costs it.
func findPipelines(c *diagnosis) error {
	if c.spans || len(c.processors) > 0 {
		return nil
	}
	if c.profile {
		return nil
	}
	if n, err := c.store.Count(c.window); err != nil || n > mostScanned {
		return err
	}
	p := &pipeline{diagnosis: c}
	if !p.place() {
		return nil
	}
	if err := p.gather(); err != nil {
		return err
	}
	r := whatif.Analyse(p.ops)
	if r == nil || r.Slowdown < slowdownTold {
		return nil
	}
	p.tell(r)
	return nil
}

// place reads the coordinates of rows: pp, and dp where there is one.
func (p *pipeline) place() bool {
	p.replica, p.stage = make([]int32, p.tree.Len()), make([]int32, p.tree.Len())
	stages := false
	for id := range p.replica {
		p.replica[id], p.stage[id] = -1, -1
		if up := p.tree.Parent[id]; up != trace.NoLocation { // those of a process are those of its threads and streams
			p.replica[id], p.stage[id] = p.replica[up], p.stage[up]
		}
		for _, a := range p.tree.Attributes[id] {
			n, ok := a.Value.Integer()
			switch {
			case !ok || n < 0 || n > 1<<20:
			case a.Key == "dp":
				p.replica[id] = int32(n)
			case a.Key == "pp":
				p.stage[id] = int32(n)
				stages = true
			case a.Key == "tp" && n > 0: // they do the same
				p.stage[id] = -1
			}
		}
		if p.stage[id] >= 0 && p.replica[id] < 0 {
			p.replica[id] = 0
		}
	}
	return stages
}

// gather makes the operations: one scan, and one query an attribute.
func (p *pipeline) gather() error {
	type place struct {
		location  trace.LocationID
		lane, row int32
	}
	numbers := [3]map[place]int64{}
	var mu sync.Mutex
	for i, names := range [][]string{{"step"}, {"mb_id", "microbatch"}, {"seq_id"}} {
		numbers[i] = map[place]int64{}
		for _, name := range names {
			err := runfacts.AttributeNamed(p.ctx, p.store, p.window, name, func(a *store.AttributeColumns) error {
				mu.Lock()
				defer mu.Unlock()
				for k, row := range a.Row {
					if n, ok := a.Value[k].Integer(); ok && p.stage[a.Location] >= 0 {
						numbers[i][place{a.Location, int32(a.Lane), row}] = n
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
	if len(numbers[0]) == 0 || len(numbers[1]) == 0 {
		return nil
	}
	kinds := map[trace.RegionID]int{}
	err := p.store.Intervals(p.ctx, p.window, func(c *trace.Columns) error {
		if p.stage[c.Location] < 0 {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		for i, region := range c.Region {
			at := place{c.Location, int32(c.Lane), int32(c.First + i)}
			step, ok := numbers[0][at]
			class, known := operationClass(&p.regions[region])
			if !ok || !known {
				continue
			}
			batch, ok := numbers[1][at]
			if !ok || batch < 0 {
				batch = numbers[2][at]
			}
			kinds[region] = 0
			p.ops = append(p.ops,
				whatif.Operation{Step: step, Batch: batch, Replica: int(p.replica[c.Location]),
					Stage: int(p.stage[c.Location]), Kind: int(region), Class: class, Begin: c.Begin[i],
					Duration: c.Duration[i]})
		}
		return nil
	})
	for region := range kinds {
		p.kinds = append(p.kinds, region)
	}
	slices.Sort(p.kinds)
	for i, region := range p.kinds {
		kinds[region] = i
	}
	for i := range p.ops {
		p.ops[i].Kind = kinds[trace.RegionID(p.ops[i].Kind)]
	}
	slices.SortFunc(p.ops, compareOperations) // who came first must not matter
	return err
}

func compareOperations(a, b whatif.Operation) int {
	for _, d := range []int64{a.Step - b.Step, int64(a.Begin - b.Begin), int64(a.Replica - b.Replica),
		int64(a.Stage - b.Stage), int64(a.Kind - b.Kind), a.Batch - b.Batch, int64(a.Duration - b.Duration)} {
		if d != 0 {
			if d < 0 {
				return -1
			}
			return 1
		}
	}
	return 0
}

// operationClass returns the class of a region in a pipeline, by its name; false if it repeats another
// region.
func operationClass(g *trace.Region) (whatif.Class, bool) {
	name := strings.ToLower(g.Name)
	forward, backward := strings.Contains(name, "forward"), strings.Contains(name, "backward")
	switch {
	case strings.Contains(name, "send"):
		return 0, false
	case strings.Contains(name, "recv"):
		if backward {
			return whatif.BackwardTransfer, true
		}
		return whatif.ForwardTransfer, forward
	case g.Role == trace.RoleCommunication:
		return whatif.Collective, true
	case forward:
		return whatif.Forward, true
	case backward:
		return whatif.Backward, true
	}
	return whatif.Rest, true
}

// tell says it.
func (p *pipeline) tell(r *whatif.Result) {
	f := finding.Finding{Kind: finding.Straggler, View: "timeline", Hit: 1 - 1/r.Slowdown, Share: 1 - 1/r.Slowdown,
		ShareOf: "the length of the job", Severity: finding.LevelOf(1 - 1/r.Slowdown)}
	f.Lost = trace.Time(float64(p.length) * f.Share * float64(len(p.units)))
	text := fmt.Sprintf("The job takes %.2f times as long as it would if equal operations took equal time (%s per "+
		"step instead of %s)", r.Slowdown, words.FormatDuration(r.Actual), words.FormatDuration(r.Ideal))
	switch r.Cause {
	case whatif.Worker:
		f.Text = fmt.Sprintf("DP %d / PP %d holds up the others. %s. If only this worker were slow, it would take "+
			"%.2f times as long.%s",
			r.Replica, r.Stage, text, r.ByWorker, p.against(r))
		f.Selection.Locations = p.rowsOf(r.Replica, r.Stage)
	case whatif.Stage:
		f.Text = fmt.Sprintf("Stage PP %d holds up the others in all replicas. %s. If only this stage were slow, "+
			"it would take %.2f times as long.%s", r.Stage, text, r.ByStage[r.Stage], p.against(r))
		f.Selection.Locations = p.rowsOf(-1, r.Stage)
	default:
		f.Text = text +
			". No worker and no stage explains half of it, so the work itself is uneven, as with sequences of " +
			"different length."
	}
	f.Evidence = []finding.Evidence{{Name: "slowdown", Value: r.Slowdown, Predicted: true},
		{Name: "step", Value: r.Actual, Unit: "ns", Predicted: true},
		{Name: "ideal step", Value: r.Ideal, Unit: "ns", Predicted: true},
		{Name: "steps", Value: float64(r.Steps), Unit: "count"}}
	f.Evidence = append(f.Evidence, p.said...)
	for i, s := range r.ByReplica {
		if i < 64 {
			f.Evidence = append(f.Evidence, finding.Evidence{Name: fmt.Sprintf("slowdown by DP %d alone", i), Value: s})
		}
	}
	for i, s := range r.ByStage {
		if i < 64 {
			f.Evidence = append(f.Evidence, finding.Evidence{Name: fmt.Sprintf("slowdown by PP %d alone", i), Value: s})
		}
	}
	for i, s := range r.ByKind {
		f.Evidence = append(f.Evidence,
			finding.Evidence{Name: "slowdown by " + p.regions[p.kinds[i]].Name + " alone", Value: s})
	}
	p.add(f, nil)
	p.gainOfRun(float64(p.length)*f.Share, "equal operations took equal time", spreadOf(r.Gains...))
	p.list[len(p.list)-1].Gain.By = "replay"
}

// against describes how long the passes of the slow one take, and of the others.
func (p *pipeline) against(r *whatif.Result) string {
	var parts []string
	var own, others []trace.LocationID // of workers
	for id := range p.stage {
		switch {
		case p.stage[id] < 0:
		case int(p.stage[id]) == r.Stage && (r.Cause == whatif.Stage || int(p.replica[id]) == r.Replica):
			own = append(own, trace.LocationID(id))
		default:
			others = append(others, trace.LocationID(id))
		}
	}
	mean := func(name string, region trace.RegionID, v float64, at []trace.LocationID) string {
		e := finding.Evidence{Name: name, Value: v, Unit: "ns"}
		if len(at) <= mostNumbers && p.window.Whole(p.store) {
			e.From = fmt.Sprintf("select avg(duration) from intervals where region_id = %d and location in (%s)",
				region,
				numbers(at))
		}
		p.said = append(p.said, e)
		return Format(e)
	}
	for k, region := range p.kinds {
		var sum, rest float64
		var owned, more int
		for i := range p.ops {
			o := &p.ops[i]
			if o.Kind != k || o.Class != whatif.Forward && o.Class != whatif.Backward {
				continue
			}
			if o.Stage == r.Stage && (r.Cause == whatif.Stage || o.Replica == r.Replica) {
				sum, owned = sum+float64(o.Duration), owned+1
			} else {
				rest, more = rest+float64(o.Duration), more+1
			}
		}
		if owned > 0 && more > 0 {
			name := p.regions[region].Name
			parts = append(parts, fmt.Sprintf("%s takes %s on it against %s", name,
				mean(name, region, sum/float64(owned), own),
				mean(name+" on the others", region, rest/float64(more), others)))
		}
	}
	if parts == nil {
		return ""
	}
	return " " + capital(strings.Join(parts, ", ")) + "."
}

// rowsOf returns the rows of a worker, or of a stage.
func (p *pipeline) rowsOf(replica, stage int) []trace.LocationID {
	out := []trace.LocationID{}
	for id := range p.stage {
		if int(p.stage[id]) == stage && (replica < 0 || int(p.replica[id]) == replica) && len(out) < mostChosen {
			out = append(out, trace.LocationID(id))
		}
	}
	return out
}
