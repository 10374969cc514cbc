package topology

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A binding is what an event of a layout stands for: a metric of a region.
type binding struct {
	name   string // "event0"
	label  string
	unit   string // "ns", "count" or the metric's
	values []float64
	min    float64
	max    float64
	mean   float64
}

// bind fills event0 … event3. Without any, event0 is the exclusive time in all
// busy regions.
func (r *result) bind(ctx context.Context) error {
	row := make(map[trace.LocationID]int, len(r.location))
	for i, id := range r.location {
		row[id] = i
	}
	for k := range 4 {
		name := fmt.Sprintf("event%d", k)
		text := r.request.Values.Text(name)
		if text == "" {
			continue
		}
		region, metric := text, "exclusive"
		if cut := strings.LastIndexByte(text, ':'); cut > 0 && text[:cut] != "re" && text[:cut] != "role" && text[:cut] != "category" {
			region, metric = text[:cut], text[cut+1:]
		}
		b, err := r.measure(ctx, row, name, region, metric)
		if err != nil {
			return err
		}
		r.bound = append(r.bound, b)
	}
	if len(r.bound) > 0 {
		return nil
	}
	b, err := r.measure(ctx, row, "event0", "", "exclusive")
	r.bound = append(r.bound, b)
	return err
}

// measure gives a metric of the regions that a pattern names, per location.
func (r *result) measure(ctx context.Context, row map[trace.LocationID]int, name, pattern, metric string) (binding, error) {
	s := r.request.Store()
	b := binding{name: name, label: pattern + ", " + metric, unit: "ns", values: make([]float64, len(r.location))}
	wanted := make([]bool, len(s.Regions()))
	if pattern == "" {
		b.label = "busy time"
		for id, g := range s.Regions() {
			wanted[id] = g.Role.Busy()
		}
	} else {
		ids, err := view.MatchRegions(s.Regions(), []string{pattern})
		if err != nil {
			return b, fmt.Errorf("--%s: %w", name, err)
		}
		for _, id := range ids {
			wanted[id] = true
		}
	}
	if metric == "calls" {
		b.unit = "count"
	}
	var err error
	if s.Info().Intervals > 0 {
		err = r.fromTime(ctx, row, wanted, metric, &b)
	} else {
		err = r.fromProfile(ctx, row, wanted, metric, &b)
	}
	b.summarise()
	return b, err
}

func (r *result) fromTime(ctx context.Context, row map[trace.LocationID]int, wanted []bool, metric string, b *binding) error {
	t, err := r.request.Store().Time(ctx, r.request.Window())
	if err != nil {
		return err
	}
	for k, id := range t.Locations {
		at, ok := row[id]
		if !ok {
			continue
		}
		for i := t.Offsets[k]; i < t.Offsets[k+1]; i++ {
			if !wanted[t.Region[i]] {
				continue
			}
			switch metric {
			case "inclusive":
				b.values[at] += float64(t.Inclusive[i])
			case "calls":
				b.values[at] += float64(t.Calls[i])
			case "exclusive":
				b.values[at] += float64(t.Exclusive[i])
			default:
				return fmt.Errorf("--%s: no metric %q; a trace has exclusive, inclusive and calls", b.name, metric)
			}
		}
	}
	return nil
}

func (r *result) fromProfile(ctx context.Context, row map[trace.LocationID]int, wanted []bool, metric string, b *binding) error {
	s := r.request.Store()
	which := view.DefaultMetric(s.Metrics())
	for i, m := range s.Metrics() {
		if m.Name == metric {
			which, b.unit = trace.MetricID(i), m.Unit
		}
	}
	paths, flat := s.CallPaths(), false
	for _, p := range paths {
		flat = flat || p.Flat
	}
	return s.Profile(ctx, r.request.Selection.Locations, func(rows []trace.ProfileRow) error {
		for _, x := range rows {
			at, ok := row[x.Location]
			if p := paths[x.Path]; !ok || x.Metric != which || p.Flat != flat || !wanted[p.Region] {
				continue
			}
			switch metric {
			case "inclusive":
				b.values[at] += x.Inclusive
			case "calls":
				b.values[at] += x.Calls
			default:
				b.values[at] += x.Exclusive
			}
		}
		return nil
	})
}

func (b *binding) summarise() {
	b.min, b.max = math.Inf(1), math.Inf(-1)
	sum := 0.0
	for _, v := range b.values {
		b.min, b.max, sum = min(b.min, v), max(b.max, v), sum+v
	}
	b.mean = sum / float64(max(len(b.values), 1))
}

// format writes a colour value with its unit.
func (r *result) format(v float64) string {
	if math.IsNaN(v) {
		return "none"
	}
	if r.bound[len(r.bound)-1].unit == "ns" {
		return view.FormatDuration(v)
	}
	return view.FormatCount(v)
}

// limit reads a limit of the range filter: a number, or a share of the range.
func (r *result) limit(text string, otherwise float64) (float64, error) {
	if text == "" {
		return otherwise, nil
	}
	number, isShare := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, fmt.Errorf("%q: want a number, or a share of the range such as 20%%", text)
	}
	if isShare {
		return r.lo + v/100*(r.hi-r.lo), nil
	}
	return v, nil
}

// parseSlice reads "x=3,y=2".
func parseSlice(text string) (s formula.Slice, ok bool, err error) {
	if text == "" {
		return s, false, nil
	}
	for _, part := range strings.Split(text, ",") {
		axis, number, has := strings.Cut(strings.TrimSpace(part), "=")
		a := strings.Index("xyz", strings.ToLower(axis))
		v, bad := strconv.ParseFloat(number, 64)
		if !has || len(axis) != 1 || a < 0 || bad != nil {
			return s, false, fmt.Errorf("--slice %q: want axis=value, joined by commas, such as x=3,y=2", text)
		}
		s.Axis[a], s.At[a] = true, v
	}
	return s, true, nil
}
