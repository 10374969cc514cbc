package routetest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// parts of a step; if several are open the first counts.
var parts = []string{"kernel", "memcpy", "memset", "communication", "runtime", "loader", "cpu", "other"}

// A gpuWork is a row of a GPU with the call that launched it, if that is on record.
type gpuWork struct {
	Row
	lane, row        int
	part             string
	gpu, unit        trace.LocationID
	launched         bool
	called, returned trace.Time
	from             [2]int
}

// above is the nearest location of a kind.
func (x *Raw) above(id trace.LocationID, kind trace.Kind) trace.LocationID {
	for up := id; up != trace.NoLocation; up = x.Tree.Parent[up] {
		if x.Tree.Kind[up] == kind {
			return up
		}
	}
	return trace.NoLocation
}

// partOf returns the part that a region counts as, by the categories of the profiler.
func (x *Raw) partOf(id trace.RegionID) string {
	switch g := &x.Regions[id]; {
	case g.Category == "kernel" && g.Role == trace.RoleCommunication:
		return "communication"
	case g.Category == "kernel":
		return "kernel"
	case g.Category == "gpu_memcpy":
		return "memcpy"
	case g.Category == "gpu_memset":
		return "memset"
	case g.Category == "cuda_runtime":
		return "runtime"
	case strings.Contains(g.Name, "DataLoader"):
		return "loader"
	case g.Role == trace.RoleCommunication:
		return "communication"
	case strings.HasPrefix(g.Name, "ProfilerStep#"):
		return "" // the regions inside count
	}
	return "cpu"
}

// gpuWorks are the rows of GPUs.
func (x *Raw) gpuWorks() (out []gpuWork) {
	at := map[[2]int]int{}
	for n, l := range x.Lanes {
		gpu := x.above(l.Location, trace.KindDevice)
		if gpu == trace.NoLocation {
			continue
		}
		for i, r := range l.Rows {
			at[[2]int{n, i}] = len(out)
			out = append(out,
				gpuWork{Row: r, lane: n, row: i, part: x.partOf(r.Region), gpu: gpu,
					unit: x.above(l.Location, trace.KindProcess), from: [2]int{-1, -1}})
		}
	}
	for _, l := range x.Links {
		k, ok := at[l.ToRow]
		if l.Kind != trace.LinkSpawn || !ok || l.FromRow[0] < 0 {
			continue
		}
		call := x.Lanes[l.FromRow[0]].Rows[l.FromRow[1]]
		out[k].launched, out[k].called, out[k].returned, out[k].from = true, call.Begin, call.End, l.FromRow
	}
	return out
}

// open reports the parts that are open in [begin, end) on the locations that a filter takes, for each range between
// two changes.
func (x *Raw) open(begin, end trace.Time, of func(trace.LocationID) bool,
	each func(length trace.Time, open map[string]bool)) {
	var rows []Row
	cuts := []trace.Time{begin, end}
	for _, l := range x.Lanes {
		if !of(l.Location) {
			continue
		}
		for _, r := range l.Rows {
			if r.Begin < end && r.End > begin {
				rows, cuts = append(rows, r), append(cuts, max(r.Begin, begin), min(r.End, end))
			}
		}
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	for k := 0; k+1 < len(cuts); k++ {
		open := map[string]bool{}
		for _, r := range rows {
			if r.Begin <= cuts[k] && r.End > cuts[k] {
				open[x.partOf(r.Region)] = true
			}
		}
		each(cuts[k+1]-cuts[k], open)
	}
}

// partsOf is the time of a unit by part: of those that are open the first counts.
func (x *Raw) partsOf(unit trace.LocationID, begin, end trace.Time) map[string]float64 {
	out := map[string]float64{}
	x.open(begin, end, func(id trace.LocationID) bool { return x.above(id, trace.KindProcess) == unit },
		func(length trace.Time, open map[string]bool) {
			for _, p := range parts {
				if open[p] || p == "other" {
					out[p] += float64(length)
					return
				}
			}
		})
	return out
}

// gpuTimes divides the time of a GPU: each part without the time that a more useful one hides.
type gpuTimes struct {
	Span, Computation, Idle float64
	Exposed                 float64 `json:"exposed_communication"`
	Copy                    float64 `json:"exposed_copy"`
	Communication           float64
}

func (x *Raw) gpuTime(gpu trace.LocationID, begin, end trace.Time) (t gpuTimes) {
	t.Span = float64(end - begin)
	x.open(begin, end, func(id trace.LocationID) bool { return x.above(id, trace.KindDevice) == gpu },
		func(length trace.Time, open map[string]bool) {
			v := float64(length)
			if open["communication"] {
				t.Communication += v
			}
			switch {
			case open["kernel"] || open["memset"]:
				t.Computation += v
			case open["communication"]:
				t.Exposed += v
			case open["memcpy"]:
				t.Copy += v
			default:
				t.Idle += v
			}
		})
	return t
}

// A laidStep is a step with its time range once it waits for the GPU.
type laidStep struct {
	name       string
	begin, end trace.Time
}

// laidSteps: a step ends when the last work that it launched does, and begins when the one before is over; work
// without a launch delays the first.
func (x *Raw) laidSteps(unit trace.LocationID, works []gpuWork) (out []laidStep) {
	for n, l := range x.Lanes {
		if x.above(l.Location, trace.KindProcess) != unit {
			continue
		}
		for i, r := range l.Rows {
			if !strings.HasPrefix(x.Regions[r.Region].Name, "ProfilerStep#") {
				continue
			}
			s := laidStep{begin: r.Begin, end: r.End}
			lane := slices.Index(x.of[l.Location], n)
			facts, _ := x.Reader.IntervalAttributes(store.Row{Location: l.Location, Lane: lane, Row: i})
			for _, a := range facts {
				if a.Key == "raw name" {
					s.name = a.Value.String()
				}
			}
			out = append(out, s)
		}
	}
	firstWork, before := trace.Time(-1), trace.Time(0)
	inside := func(s *laidStep, w *gpuWork) bool {
		return w.unit == unit && w.launched && w.called >= s.begin && w.returned <= s.end
	}
	marks := slices.Clone(out)
	for i := range works {
		if len(marks) > 0 && inside(&marks[0], &works[i]) && (firstWork < 0 || works[i].Begin < firstWork) {
			firstWork = works[i].Begin
		}
	}
	for i := range works {
		w := &works[i]
		mine := false
		for k := range marks {
			mine = mine || inside(&marks[k], w)
		}
		if w.unit == unit && !mine && w.End < firstWork {
			before = max(before, w.End)
		}
	}
	for i := range out {
		out[i].begin = max(out[i].begin, before)
		out[i].end = max(out[i].end, out[i].begin)
		for k := range works {
			if inside(&marks[i], &works[k]) {
				out[i].end = max(out[i].end, works[k].End)
			}
		}
		before = out[i].end
	}
	return out
}

// stepsRoute recomputes steps, their parts and the time of GPUs, stretch by stretch.
var stepsRoute = Route{Options: []map[string]string{{}, {"picture": "idle"}, {"by": "ranks"}}, Check: func(r *Run) {
	if r.Result == nil {
		return
	}
	var d struct {
		Rows []struct {
			Step                                                               string
			Location                                                           trace.LocationID
			Begin, End                                                         trace.Time
			Total                                                              float64
			Kernel, Memcpy, Memset, Communication, Runtime, Loader, CPU, Other float64
			GPUs                                                               []struct {
				gpuTimes
				Location trace.LocationID
			}
		}
		Mean map[string]float64
		GPUs []struct {
			gpuTimes
			Location    trace.LocationID
			Works       int
			Utilization *float64
			Unlinked    struct {
				Count int
				Time  float64
			}
			Causes map[string]float64 `json:"idle_by_cause"`
		}
		Unlinked struct {
			Count int
			Time  float64
		}
		Idle struct {
			Time   float64
			Causes map[string]float64
			Shares map[string]float64
		}
		Verdict struct {
			Bound  string
			Share  float64
			Shares map[string]float64
		}
	}
	r.Data(&d)
	// a GPU job: parts can be told by category
	told := slices.ContainsFunc(r.Regions, func(g trace.Region) bool { return g.Category == "cuda_runtime" })
	whole := r.Window.Begin == 0 && r.Window.End >= r.End
	works := r.gpuWorks()
	sums := map[string]float64{}
	var spans gpuTimes
	for i := range d.Rows {
		x := &d.Rows[i]
		got := map[string]float64{"kernel": x.Kernel, "memcpy": x.Memcpy, "memset": x.Memset,
			"communication": x.Communication, "runtime": x.Runtime, "loader": x.Loader, "cpu": x.CPU, "other": x.Other}
		all := 0.0
		for p, v := range got {
			all += v
			sums[p] += v / float64(len(d.Rows))
		}
		sums["total"] += x.Total / float64(len(d.Rows))
		what := fmt.Sprintf(" of %s of location %d", x.Step, x.Location)
		r.same("parts"+what, all, x.Total)
		r.same("length"+what, float64(x.End-x.Begin), x.Total)
		if x.Begin < r.Window.Begin || x.End > r.Window.End {
			r.wrong("%s lies at [%d, %d)", x.Step, x.Begin, x.End)
		}
		if !told {
			continue
		}
		for p, want := range r.partsOf(x.Location, x.Begin, x.End) {
			r.same(p+what, got[p], want)
		}
		for _, g := range x.GPUs {
			want := r.gpuTime(g.Location, x.Begin, x.End)
			sameTimes(r, what, g.gpuTimes, want)
			spans.Span, spans.Computation, spans.Exposed, spans.Copy = spans.Span+want.Span,
				spans.Computation+want.Computation, spans.Exposed+want.Exposed, spans.Copy+want.Copy
		}
	}
	if len(d.Rows) > 0 {
		for p, v := range d.Mean {
			r.same("mean of "+p, v, sums[p])
		}
	}
	idle, unlinked, unlinkedTime := 0.0, 0, 0.0
	for i, g := range d.GPUs {
		what := fmt.Sprintf(" of GPU %d", i)
		r.same("time"+what, g.Computation+g.Exposed+g.Copy+g.Idle, g.Span)
		sum := 0.0
		for _, t := range g.Causes {
			sum += t
		}
		r.same("causes"+what, sum, g.Idle)
		idle, unlinked, unlinkedTime = idle+g.Idle, unlinked+g.Unlinked.Count, unlinkedTime+g.Unlinked.Time
		if !told || !whole {
			continue
		}
		begin, end, count, loose := trace.Time(1<<62), trace.Time(0), 0, 0
		looseTime := 0.0
		for _, w := range works {
			if w.gpu != g.Location {
				continue
			}
			begin, end, count = min(begin, w.Begin), max(end, w.End), count+1
			if !w.launched {
				loose++
				looseTime += float64(w.End - w.Begin)
			}
		}
		sameTimes(r, what, g.gpuTimes, r.gpuTime(g.Location, begin, end))
		r.same("works"+what, float64(g.Works), float64(count))
		r.same("works without a launch"+what, float64(g.Unlinked.Count), float64(loose))
		r.same("their time"+what, g.Unlinked.Time, looseTime)
	}
	r.same("works without a launch", float64(d.Unlinked.Count), float64(unlinked))
	r.same("their time", d.Unlinked.Time, unlinkedTime)
	if told && whole && r.Window.Locations == nil {
		n := 0
		for id := range r.Tree.Len() {
			unit := trace.LocationID(id)
			if r.Tree.Kind[unit] != trace.KindProcess {
				continue
			}
			for _, want := range r.laidSteps(unit, works) {
				if n < len(d.Rows) {
					if x := &d.Rows[n]; x.Location != unit || x.Step != want.name || x.Begin != want.begin ||
						x.End != want.end {
						r.wrong("step %d is %s of %d at [%d, %d), recomputed %s of %d at [%d, %d)", n, x.Step,
							x.Location, x.Begin, x.End, want.name, unit, want.begin, want.end)
					}
				}
				n++
			}
		}
		r.same("steps", float64(len(d.Rows)), float64(n))
	}
	if told && len(d.Rows) > 0 && spans.Span > 0 {
		r.same("share of computation", d.Verdict.Shares["compute"], spans.Computation/spans.Span)
		r.same("share of copies", d.Verdict.Shares["copy"], spans.Copy/spans.Span)
		if s := d.Verdict.Shares["communication"]; s < spans.Exposed/spans.Span-1e-9 {
			r.wrong("communication takes %v, which is less than the GPU's %v", s, spans.Exposed/spans.Span)
		}
		if d.Verdict.Bound != "" {
			r.same("share of what it is bound by", d.Verdict.Share, d.Verdict.Shares[d.Verdict.Bound])
		}
	}
	sum := 0.0
	for c, t := range d.Idle.Causes {
		sum += t
		r.same("share of "+c, d.Idle.Shares[c], t/max(d.Idle.Time, 1))
	}
	r.same("causes of idle time", sum, d.Idle.Time)
	if len(d.Rows) == 0 {
		r.same("idle time of all GPUs", d.Idle.Time, idle)
	}
}}

func sameTimes(r *Run, what string, got, want gpuTimes) {
	r.Helper()
	r.same("span"+what, got.Span, want.Span)
	r.same("computation"+what, got.Computation, want.Computation)
	r.same("exposed communication"+what, got.Exposed, want.Exposed)
	r.same("exposed copies"+what, got.Copy, want.Copy)
	r.same("idle"+what, got.Idle, want.Idle)
	r.same("communication"+what, got.Communication, want.Communication)
}
