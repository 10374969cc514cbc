package firefox

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// longestGap is for how many intervals a sample is shown until the next; before a longer gap nothing is known after
// one interval: the thread slept, or the profiler did.
const longestGap = 8

// A sampleTime is a sample by its number in the table.
type sampleTime struct {
	at  float64 // ms
	row int
}

// times puts samples on their clock, in order.
func (c *converter) times(t *table, place string) []sampleTime {
	list := make([]sampleTime, 0, t.rows)
	now, untimed := 0.0, int64(0)
	for i := range t.rows {
		at := t.at("time", i)
		if t.has("timeDeltas") {
			at = now + t.at("timeDeltas", i)
		}
		if math.IsNaN(at) || math.IsInf(at, 0) {
			untimed++
			continue
		}
		now = at
		list = append(list, sampleTime{at, i})
	}
	importer.Tell(c.w, trace.MissingSamples, "samples without a time", untimed, place)
	byTime := func(a, b sampleTime) int { return cmp.Compare(a.at, b.at) }
	if !slices.IsSortedFunc(list, byTime) {
		c.w.Report(trace.Repaired, "threads whose samples are not in order of time: sorted", 1, place)
		slices.SortStableFunc(list, byTime)
	}
	return list
}

// total is the profile that adds up weights of a kind.
func (c *converter) total(weights string) *stack.Profile {
	if c.totals[weights] == nil {
		first := len(c.totals) == 0
		list := []trace.Metric{
			{Name: "time", Unit: "ns", Default: first, Description: "samples times the interval between them"},
			{Name: "samples", Integer: true},
			{Name: "CPU time", Unit: "ns", Description: "that the thread took from the sample before"},
		}
		switch weights {
		case "bytes":
			list = []trace.Metric{{Name: "bytes", Unit: "bytes", Default: first}}
		case "tracing-ms":
			list = []trace.Metric{{Name: "time", Unit: "ns", Default: first}}
		}
		c.totals[weights] = stack.New(c.w, list...)
	}
	return c.totals[weights]
}

// values returns the amounts that a sample adds to the metrics of its total.
func (p *process) values(t *table, i int, to []float64) []float64 {
	weight := t.at("weight", i)
	if math.IsNaN(weight) || math.IsInf(weight, 0) {
		weight = 1
	}
	switch t.weights {
	case "bytes":
		return append(to[:0], weight)
	case "tracing-ms":
		return append(to[:0], weight*1e6)
	}
	cpu := t.at("threadCPUDelta", i)
	switch p.meta.cpuUnit {
	case "ns":
	case "µs", "us":
		cpu *= 1000
	default: // cycles, or not told
		cpu = 0
	}
	if !(cpu >= 0) || math.IsInf(cpu, 0) {
		cpu = 0
	}
	return append(to[:0], weight*max(p.meta.interval, 0)*1e6, weight, cpu)
}

// samples adds up the samples of a thread and shows them over time.
func (c *converter) samples(ctx context.Context, t *thread, s *stacker, at trace.LocationID, place string) error {
	if t.samples == nil || t.samples.rows == 0 {
		return nil
	}
	kind := t.samples.weights
	if kind != "bytes" && kind != "tracing-ms" {
		kind = "samples"
	}
	total := c.total(kind)
	row := c.w.Location(importer.Below(at, trace.KindSamples, "samples"))
	stream := c.w.Stream(row, trace.StreamOptions{})
	var open, now []trace.RegionID
	var values []float64
	sums := map[int][]float64{} // by stack, so that each is walked once
	var order []int
	empty := int64(0)
	list := c.times(t.samples, place)
	for k, x := range list {
		if k%4096 == 0 && ctx.Err() != nil {
			_ = stream.Close()
			return ctx.Err()
		}
		id := t.samples.index("stack", x.row)
		if now = s.path(id, now); len(now) == 0 {
			empty++
		} else {
			sum := sums[id]
			if values = s.process.values(t.samples, x.row, values); sum == nil {
				sum = make([]float64, len(values))
				sums[id] = sum
				order = append(order, id)
			}
			for i, v := range values {
				sum[i] += v
			}
		}
		if s.process.meta.bytes {
			continue
		}
		open = stack.Change(stream, c.time(s.process, x.at), open, now)
		if interval := s.process.meta.interval; interval > 0 &&
			(k+1 == len(list) || list[k+1].at-x.at > longestGap*interval) {
			open = stack.Change(stream, c.time(s.process, x.at+interval), open, nil)
		}
	}
	if len(list) > 0 && len(open) > 0 {
		stack.Change(stream, c.time(s.process, list[len(list)-1].at), open, nil)
	}
	for _, id := range order {
		now = s.path(id, now)
		total.AddFrames(at, s.lined, sums[id])
	}
	importer.Tell(c.w, trace.MissingSamples, "samples without a stack", empty, place)
	return stream.Close()
}
