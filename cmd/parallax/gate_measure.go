package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	statistics "github.com/parallax-hpc/parallax/internal/analysis/compare"
	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/fingerprint"
	"github.com/parallax-hpc/parallax/internal/analysis/pop"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/requests"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/compare"
)

// A measure is a number of a run that a limit may be on, besides times of regions.
type measure struct {
	unit    string // as view.FormatIn takes it; "share"
	falls   bool   // it gets worse if it falls
	missing string // "records no …", of a run without it
	of      func(context.Context, *view.Run) (value float64, has bool, err error)
}

// measures are those with a fixed name; requests-pNN are further ones.
var measures = map[string]measure{
	"load-balance": {"share", true, "has no load balance: it needs several ranks, GPUs or threads",
		factorOf(func(e pop.Efficiency) float64 { return e.LoadBalance })},
	"communication-efficiency": {"share", true, "has no communication efficiency: it needs several ranks or GPUs " +
		"that communicate", factorOf(func(e pop.Efficiency) float64 { return e.Communication })},
	"parallel-efficiency": {"share", true, "has no parallel efficiency: it needs several ranks, GPUs or threads",
		factorOf(func(e pop.Efficiency) float64 { return e.Parallel })},
	"step":     {"ns", false, "has no steps or iterations", stepLength},
	"gpu-busy": {"share", true, "has no work of a GPU", gpuBusy},
	"memory":   {"bytes", false, "has no counter of memory in bytes", memoryPeak},
}

var percentileName = regexp.MustCompile(`^requests-p(\d{1,2}(?:\.\d+)?)$`)

// measureNamed finds a measure; nil for none.
func measureNamed(name string) *measure {
	if m, ok := measures[name]; ok {
		return &m
	}
	found := percentileName.FindStringSubmatch(name)
	if found == nil {
		return nil
	}
	q, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		return nil
	}
	return &measure{"ns", false, "has no requests", func(ctx context.Context, r *view.Run) (float64, bool, error) {
		return requestQuantile(ctx, r, q/100)
	}}
}

// factorOf measures a factor of POP, the one that check has.
func factorOf(factor func(pop.Efficiency) float64) func(context.Context, *view.Run) (float64, bool, error) {
	return func(ctx context.Context, r *view.Run) (float64, bool, error) {
		e, err := diagnose.Efficiency(ctx, r)
		x := factor(e)
		return x, x > 0, err
	}
}

// stepLength is the mean length of the steps or iterations.
func stepLength(ctx context.Context, r *view.Run) (float64, bool, error) {
	p, err := fingerprint.OfRun.Of(ctx, r)
	if err != nil || len(p.Steps) == 0 {
		return 0, false, err
	}
	sum := 0.0
	for i := range p.Steps {
		sum += p.Steps[i].Total
	}
	return sum / float64(len(p.Steps)), true, nil
}

// gpuBusy is the share of time in which GPUs had work, a mean over GPUs.
func gpuBusy(ctx context.Context, r *view.Run) (float64, bool, error) {
	job, err := step.JobOfRun.Of(ctx, r)
	if err != nil || job == nil {
		return 0, false, err
	}
	sum, n := 0.0, 0
	for i := range job.GPUs {
		if u := job.GPUs[i].Utilization; u >= 0 {
			sum += u
			n++
		}
	}
	return sum / float64(max(n, 1)), n > 0, nil
}

func requestQuantile(ctx context.Context, r *view.Run, q float64) (float64, bool, error) {
	if !runfacts.HasSpans(r.Store) {
		return 0, false, nil
	}
	c, err := requests.Choose(ctx, r, store.Window{End: r.Store.Info().End}, nil)
	if err != nil || len(c.List) == 0 {
		return 0, false, err
	}
	times := make([]trace.Time, len(c.List))
	for i, k := range c.List {
		times[i] = c.Forest.Requests[k].Duration()
	}
	slices.Sort(times)
	return float64(request.Quantile(times, q)), true, nil
}

// memoryWords are parts of names of counters of memory.
var memoryWords = []string{"memory", "heap", "rss", "resident"}

// memoryPeak is the largest value of any counter of memory.
func memoryPeak(ctx context.Context, r *view.Run) (peak float64, has bool, err error) {
	var ids []trace.CounterID
	for id, c := range r.Store.Counters() {
		name := strings.ToLower(c.Name)
		if c.Unit == "bytes" && !c.Monotone &&
			slices.ContainsFunc(memoryWords, func(w string) bool { return strings.Contains(name, w) }) {
			ids = append(ids, trace.CounterID(id))
		}
	}
	if len(ids) == 0 {
		return 0, false, nil
	}
	var mu sync.Mutex
	err = r.Store.Samples(ctx, ids, 0, r.Store.Info().End+1, func(c *store.SampleColumns) error {
		mu.Lock()
		defer mu.Unlock()
		for _, v := range c.Value {
			peak, has = max(peak, v), true
		}
		return nil
	})
	return peak, has, err
}

// A measured is a measure of all runs, by side.
type measured struct {
	*measure
	values   [2][]float64
	estimate statistics.Estimate
}

// needsRows reports whether the limit is on a measure that is not in the fingerprint of a run.
func (l changeLimit) needsRows() bool { return measureNamed(l.what) != nil && l.what != "step" }

// measureLimits reads the measures that limits ask for.
func measureLimits(ctx context.Context, limits []changeLimit, runs []view.Run, side []int) error {
	for i := range limits {
		l := &limits[i]
		m := measureNamed(l.what)
		if m == nil {
			continue
		}
		x := &measured{measure: m}
		for k := range runs {
			v, has, err := m.of(ctx, &runs[k])
			switch {
			case err != nil:
				return fmt.Errorf("--fail-on %q: run %s: %w", l.text, runs[k].Name, err)
			case !has:
				return usage("--fail-on %q: run %s %s", l.text, runs[k].Name, m.missing)
			}
			if s := side[k]; s >= 0 {
				x.values[s] = append(x.values[s], v)
			}
		}
		x.estimate = statistics.Of(x.values[0], x.values[1])
		l.measured = x
	}
	return nil
}

// judge holds the change against a limit: it is broken or holds if the interval of the change says so.
func (x *measured) judge(l *changeLimit) (statistics.Answer, string) {
	e := &x.estimate
	if e.A == 0 {
		return x.judgeNew()
	}
	worse, limit := e.Change, l.value
	if x.falls {
		worse, limit = worse.Reversed(), -limit
	}
	text := fmt.Sprintf("%s to %s, %s (%s)", x.format(e.A), x.format(e.B),
		view.FormatSigned("%+.2f%%", 100*e.Change.Share), compare.Interval(e))
	answer := worse.Within(l.value)
	if answer != statistics.CannotTell {
		return answer, text
	}
	if worse.Share > l.value {
		text += ", beyond the limit"
	} else {
		text += ", within the limit"
	}
	return answer, text + uncertain(e.NA, e.NB, statistics.NeededFor(x.values[0], x.values[1], limit))
}

// judgeNew answers for a value that A does not have: any is beyond every limit, unless it gets worse if it falls.
func (x *measured) judgeNew() (statistics.Answer, string) {
	e := &x.estimate
	text := fmt.Sprintf("%s to %s, new", x.format(e.A), x.format(e.B))
	switch {
	case e.B == 0 || x.falls:
		return statistics.Holds, text
	case e.Decisive() <= statistics.Level:
		return statistics.Broken, text
	}
	return statistics.CannotTell, text + uncertain(e.NA, e.NB, statistics.Needed(x.values[1], x.values[0], 1))
}

func (x *measured) format(v float64) string {
	if x.unit == "share" {
		return view.FormatShare(v)
	}
	return view.FormatIn(v, x.unit)
}
