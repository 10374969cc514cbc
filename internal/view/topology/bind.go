package topology

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A binding is the value of an event of a layout: a number of each location.
type binding struct {
	name   string // "event0"
	text   string // its binding, as the user would write it
	by     string // who did: "user", "layout", or "" if it was not chosen
	label  string
	unit   string // "ns", "bytes", "count" or ""
	values []float64
	min    float64
	max    float64
	mean   float64
}

// bind fills event0 … event3. Events that the layout uses and the user did not bind are
// bound to the regions that take most time; without any use event0 is the time in all
// busy regions, or that of byWeight.
func (r *result) bind(ctx context.Context) error {
	r.row = make([]int32, r.request.Store().Locations().Len())
	for id := range r.row {
		r.row[id] = -1
	}
	for i, id := range r.location {
		r.row[id] = int32(i)
	}
	used := uint(0)
	if r.chosen != nil {
		used = r.chosen.Events("")
	}
	r.wide = used != 0
	var largest []string
	for k := range 4 {
		name := fmt.Sprintf("event%d", k)
		text, by := r.option(name), "layout"
		if r.request.Values.Set(name) {
			by = "user"
		}
		if text != "" && !r.request.Values.Set(name) { // the layout's file asks, and any run may be shown by it
			if _, err := r.read(ctx, name, text); err != nil {
				r.notes = append(r.notes,
					fmt.Sprintf("the layout binds %s to %s, which is not in this run: %v", name, text, err))
				text = ""
			}
		}
		if text == "" && used&(1<<k) != 0 {
			if largest == nil {
				var err error
				if largest, err = r.largest(ctx); err != nil {
					return err
				}
			}
			if len(largest) == 0 {
				return fmt.Errorf("--%s: the layout uses it, and there is no region to bind it to", name)
			}
			by = ""
			text = largest[min(k, len(largest)-1)] + ":exclusive"
			r.notes = append(r.notes,
				fmt.Sprintf("%s is bound to %s", name, r.named(strings.TrimSuffix(text, ":exclusive"))))
		}
		if text == "" {
			continue
		}
		b, err := r.read(ctx, name, text)
		if err != nil {
			return fmt.Errorf("--%s: %w", name, err)
		}
		if r.chosen != nil && r.chosen.UI != nil && r.chosen.UI.Label[k] != "" && text == r.chosen.UI.Defaults[name] {
			b.label = r.chosen.UI.Label[k]
		}
		b.text, b.by = text, by
		b.summarise()
		r.bound = append(r.bound, b)
	}
	if len(r.bound) > 0 {
		return nil
	}
	b := binding{name: "event0", label: valueOf(r.proposed.role), values: make([]float64, len(r.location))}
	regions := ""
	if r.proposed.role != trace.RoleCompute {
		regions = "role:" + r.proposed.role.String()
		b.text = regions + ":exclusive"
		r.notes = append(r.notes, "colours are "+b.label+": busy time is less than 1 % of all")
	}
	m, err := runfacts.ChooseMetric(r.request.Store(), "exclusive")
	if err == nil {
		err = r.fromRegions(ctx, &b, regions, m)
	}
	b.summarise()
	r.bound = append(r.bound, b)
	return err
}

// window is the window that values are read from. If places depend on them it is all
// locations, so that nothing moves when fewer are selected.
func (r *result) window() store.Window {
	w := r.request.Window()
	if r.wide {
		w.Locations = nil
	}
	return w
}

// read finds the numbers that a text names.
func (r *result) read(ctx context.Context, name, text string) (binding, error) {
	b := binding{name: name, values: make([]float64, len(r.location))}
	kind, rest, _ := strings.Cut(text, ":")
	switch kind {
	case "metadata":
		return b, r.fromMetadata(&b, rest)
	case "atomic":
		return b, r.fromAtomics(ctx, &b, rest)
	case "counter":
		return b, r.fromCounters(ctx, &b, rest)
	}
	region, metric := r.split(text)
	m, err := runfacts.ChooseMetric(r.request.Store(), metric)
	if err != nil {
		return b, err
	}
	b.label = r.named(region) + ", " + m.Name
	return b, r.fromRegions(ctx, &b, region, m)
}

// split cuts REGION:METRIC at the last colon; a metric of the source may be followed by
// ":inclusive". Without a metric it is the exclusive time.
func (r *result) split(text string) (region, metric string) {
	cut := strings.LastIndexByte(text, ':')
	if cut <= 0 || slices.Contains([]string{"re", "role", "category"}, text[:cut]) {
		return text, "exclusive"
	}
	region, metric = text[:cut], text[cut+1:]
	if metric != "inclusive" && metric != "exclusive" {
		return region, metric
	}
	if next := strings.LastIndexByte(region, ':'); next > 0 {
		name := region[next+1:]
		if slices.ContainsFunc(r.request.Store().Metrics(), func(m trace.Metric) bool { return m.Name == name }) {
			return region[:next], name + ":" + metric
		}
	}
	return region, metric
}

// fromRegions adds up a metric over the regions that a pattern names; "": the busy ones.
func (r *result) fromRegions(ctx context.Context, b *binding, pattern string, m runfacts.MetricChoice) error {
	s := r.request.Store()
	wanted := make([]bool, len(s.Regions()))
	if pattern == "" {
		for id := range s.Regions() {
			g := &s.Regions()[id]
			wanted[id] = g.Role.Busy() && !runfacts.Sampled(g)
		}
	} else {
		ids, err := view.MatchRegions(s.Regions(), []string{pattern})
		if err != nil {
			return err
		}
		for _, id := range ids {
			wanted[id] = true
		}
	}
	b.unit = m.Unit
	if m.Join == trace.JoinMean || m.Join == trace.JoinMin || m.Join == trace.JoinMax {
		for i := range b.values {
			b.values[i] = math.NaN()
		}
	}
	return runfacts.Totals(ctx, s, r.window(), m.ID, func(list []runfacts.Total) {
		at := r.row[list[0].Location]
		if at < 0 {
			return
		}
		var sum runfacts.Joined
		for i := range list {
			if wanted[list[i].Region] {
				sum.Add(m.Join, m.Of(list[i].Calls, list[i].Inclusive, list[i].Exclusive))
			}
		}
		b.values[at] = sum.Value(m.Join)
	})
}

// named is a region as people call it: "#7" stands for a name that is no pattern.
func (r *result) named(pattern string) string {
	if n, ok := strings.CutPrefix(pattern, "#"); ok {
		if id, err := strconv.Atoi(n); err == nil && id >= 0 && id < len(r.request.Store().Regions()) {
			return r.request.Store().Regions()[id].Name
		}
	}
	return pattern
}

// largest names the regions by their time in all, most first.
func (r *result) largest(ctx context.Context) ([]string, error) {
	s := r.request.Store()
	m, err := runfacts.ChooseMetric(s, "exclusive")
	if err != nil {
		return nil, err
	}
	time := make([]float64, len(s.Regions()))
	err = runfacts.Totals(ctx, s, r.window(), m.ID, func(list []runfacts.Total) {
		for i := range list {
			time[list[i].Region] += list[i].Exclusive
		}
	})
	var ids []int
	for id, t := range time {
		if t > 0 && !runfacts.Sampled(&s.Regions()[id]) {
			ids = append(ids, id)
		}
	}
	slices.SortStableFunc(ids, func(a, b int) int {
		if time[a] != time[b] {
			return int(math.Copysign(1, time[b]-time[a]))
		}
		return a - b
	})
	var out []string
	for _, id := range ids[:min(len(ids), 4)] {
		name := s.Regions()[id].Name
		if strings.ContainsAny(name, "*?[]{}\\") || strings.HasPrefix(name, "re:") {
			name = fmt.Sprintf("#%d", id)
		}
		out = append(out, name)
	}
	return out, err
}

func (b *binding) summarise() {
	b.min, b.max = math.Inf(1), math.Inf(-1)
	sum, n := 0.0, 0
	for _, v := range b.values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			b.min, b.max, sum, n = min(b.min, v), max(b.max, v), sum+v, n+1
		}
	}
	b.mean = sum / float64(n)
	if n == 0 {
		b.min, b.max, b.mean = math.NaN(), math.NaN(), math.NaN()
	}
}

// format writes a value of the binding for people.
func (b *binding) format(v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "none"
	case b.unit == "ns":
		return view.FormatDuration(v)
	case b.unit == "bytes":
		return view.FormatBytes(v)
	case v < 0:
		return "−" + view.FormatCount(-v)
	}
	return view.FormatCount(v)
}
