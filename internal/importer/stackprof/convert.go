package stackprof

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// metrics returns the metric that samples measure, then samples, and the value of a sample.
func (p *profile) metrics() ([]trace.Metric, float64) {
	samples := trace.Metric{Name: "samples", Integer: true}
	switch p.mode {
	case "wall":
		return []trace.Metric{{Name: "time", Unit: "ns", Default: true}, samples}, p.interval * 1000
	case "cpu":
		return []trace.Metric{{Name: "CPU time", Unit: "ns", Default: true}, samples}, p.interval * 1000
	case "object":
		return []trace.Metric{{Name: "objects", Default: true}, samples}, p.interval
	}
	samples.Default = true
	return []trace.Metric{samples}, 1
}

func (p *profile) write(ctx context.Context, w trace.Writer, at trace.LocationID, label string) error {
	metrics, factor := p.metrics()
	w.Property("mode", p.mode)
	regions := map[int64]trace.RegionID{}
	for _, id := range p.order {
		f := p.frames[id]
		r := trace.Region{Name: f.name, File: f.file, Line: int(min(max(f.line, 0), 1<<30))}
		r.Name = cmp.Or(r.Name, "(no name)")
		if strings.HasPrefix(r.Name, "(") &&
			slices.Contains([]string{"(garbage collection)", "(marking)", "(sweeping)"}, r.Name) {
			r.Role = trace.RoleOverhead
		}
		if strings.HasPrefix(r.File, "<") { // written in C
			r.File, r.Line = "", 0
		}
		regions[id] = w.Region(r)
	}
	if p.missed > 0 && p.mode != "object" { // of objects, all between two that are taken
		w.Report(trace.MissingSamples, "samples that the profiler could not take", int64(p.missed), label)
	}
	values := func(count float64) []float64 {
		if len(metrics) == 1 {
			return []float64{count}
		}
		return []float64{count * factor, count}
	}
	if len(p.raw) > 0 {
		return p.stacks(ctx, w, at, regions, stack.New(w, metrics...), values, label)
	}
	ids := make([]trace.MetricID, len(metrics))
	for i, m := range metrics {
		ids[i] = w.Metric(m)
	}
	for _, id := range p.order {
		f := p.frames[id]
		self, total := values(f.self), values(f.total)
		flat := w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: regions[id], Flat: true})
		for i := range ids {
			w.Profile(trace.ProfileRow{Location: at, Path: flat, Metric: ids[i], Inclusive: total[i],
				Exclusive: self[i]})
		}
	}
	w.Report(trace.Guessed, "dumps without stacks: functions only; record with raw: true for call paths and times", 1,
		label)
	return ctx.Err()
}

// stacks adds up the stacks and shows them over time.
func (p *profile) stacks(ctx context.Context, w trace.Writer, at trace.LocationID, regions map[int64]trace.RegionID,
	total *stack.Profile, values func(float64) []float64, label string) error {
	var stream trace.Stream
	if len(p.deltas) > 0 {
		stream = w.Stream(w.Location(importer.Below(at, trace.KindSamples, "samples")),
			trace.StreamOptions{Unordered: true})
	}
	var open, now []trace.RegionID
	time, taken, unknown := int64(0), 0, int64(0)
	for i, n := 0, 0; i < len(p.raw); n++ {
		if n%4096 == 0 && ctx.Err() != nil {
			break
		}
		depth := p.raw[i]
		if depth < 0 || depth > int64(len(p.raw)-i-2) {
			w.Report(trace.MissingSamples, "stacks that are cut", 1, label)
			break
		}
		now = now[:0]
		for _, id := range p.raw[i+1 : i+1+int(depth)] {
			if r, ok := regions[id]; ok {
				now = append(now, r)
			} else {
				unknown++
			}
		}
		count := p.raw[i+1+int(depth)]
		i += int(depth) + 2
		if count < 0 {
			w.Report(trace.MissingSamples, "stacks that are cut", 1, label)
			break
		}
		if len(now) > 0 {
			total.Add(at, now, values(float64(count)))
		}
		if stream != nil {
			if taken < len(p.deltas) {
				time += limited(p.deltas[taken])
			}
			open = stack.Change(stream, trace.Time(time)*1000, open, now)
			for k := int64(1); k < count && taken+int(k) < len(p.deltas); k++ {
				time += limited(p.deltas[taken+int(k)])
			}
			taken += int(min(count, int64(len(p.deltas))))
		}
	}
	total.Finish()
	importer.Tell(w, trace.MissingFrames, "frames of stacks that are not there", unknown, label)
	if stream != nil {
		stack.Change(stream, trace.Time(time)*1000, open, nil)
		if err := stream.Close(); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// limited is a number of microseconds that is one: no sample is a week after another.
func limited(delta int64) int64 { return min(max(delta, 0), 7*24*3600*1e6) }
