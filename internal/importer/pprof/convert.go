package pprof

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/pprof/profile"
	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A converter turns a profile into rows.
type converter struct {
	w       trace.Writer
	name    string
	frames  map[*profile.Location][]stack.Frame // outermost first
	rows    map[rowKey]trace.LocationID
	process map[string]trace.LocationID // by rank; "" for none
	labels  labels
	zero    bool // a sample without rank is of rank 0
	guessed int64
}

type rowKey struct{ rank, thread string }

func convert(ctx context.Context, p *profile.Profile, name, label string, w trace.Writer) error {
	if len(p.SampleType) == 0 || len(p.Sample) == 0 {
		return importer.Malformed(label, "", "the profile holds no samples")
	}
	c := &converter{w: w, name: name, frames: map[*profile.Location][]stack.Frame{},
		rows:    map[rowKey]trace.LocationID{},
		process: map[string]trace.LocationID{}}
	c.zero = ranksAreNumbers(p)
	metrics, scale := c.metrics(p)
	if m, factor, of := timeOfSamples(p); of >= 0 {
		for i := range metrics {
			metrics[i].Default = false
		}
		metrics, scale = append(metrics, m), append(scale, factor)
		for _, s := range p.Sample {
			s.Value = append(s.Value, s.Value[of])
		}
	}
	out := stack.New(w, metrics...)
	var frames []stack.Frame
	values := make([]float64, len(metrics))
	for i, s := range p.Sample {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		frames = frames[:0]
		for _, l := range slices.Backward(s.Location) {
			frames = append(frames, c.regions(l)...)
		}
		if len(frames) == 0 {
			frames = append(frames, stack.Frame{Region: w.Region(trace.Region{Name: "(no stack)"})})
		}
		for k := range values {
			values[k] = float64(s.Value[k]) * scale[k]
		}
		out.AddFrames(c.location(s), frames, values)
	}
	out.Finish()
	c.describe(p)
	return nil
}

// nanoseconds are the units of time, in nanoseconds.
var nanoseconds = map[string]float64{
	"nanoseconds": 1, "nanosecond": 1, "ns": 1, "microseconds": 1e3, "microsecond": 1e3, "us": 1e3,
	"milliseconds": 1e6, "millisecond": 1e6, "ms": 1e6, "seconds": 1e9, "second": 1e9, "s": 1e9,
}

// metrics returns the sample types, and the factors of their values. The one
// that pprof shows by itself is the default, else the last that is a time, else
// the last.
func (c *converter) metrics(p *profile.Profile) (metrics []trace.Metric, scale []float64) {
	best := len(p.SampleType) - 1
	for i, t := range p.SampleType {
		if nanoseconds[t.Unit] != 0 {
			best = i
		}
	}
	for i, t := range p.SampleType {
		if t.Type == p.DefaultSampleType && t.Type != "" {
			best = i
		}
	}
	names := map[string]int{}
	for i, t := range p.SampleType {
		m := trace.Metric{Name: t.Type, Unit: t.Unit, Integer: true, Default: i == best}
		factor := 1.0
		if f := nanoseconds[t.Unit]; f != 0 {
			m.Unit, factor = "ns", f
		} else if t.Unit == "count" {
			m.Unit = ""
		}
		if names[m.Name]++; names[m.Name] > 1 {
			m.Name += " " + strconv.Itoa(names[m.Name])
		}
		metrics, scale = append(metrics, m), append(scale, factor)
	}
	return metrics, scale
}

// timeOfSamples returns the metric of samples × the period that the profile states, if it gives samples as a count
// alone: with the factor and the index of the sample type; -1 for none.
func timeOfSamples(p *profile.Profile) (m trace.Metric, factor float64, of int) {
	of = slices.IndexFunc(p.SampleType, func(t *profile.ValueType) bool {
		return t.Unit == "count" && (t.Type == "samples" || t.Type == "sample")
	})
	timed := slices.ContainsFunc(p.SampleType, func(t *profile.ValueType) bool { return nanoseconds[t.Unit] != 0 })
	if of < 0 || timed || p.PeriodType == nil || p.Period <= 0 ||
		p.DefaultSampleType != "" && p.DefaultSampleType != p.SampleType[of].Type {
		return m, 0, -1
	}
	factor = float64(p.Period) * nanoseconds[p.PeriodType.Unit]
	if factor == 0 {
		return m, 0, -1
	}
	description := fmt.Sprintf("%s × %d %s, the period that the profile states", p.SampleType[of].Type, p.Period,
		p.PeriodType.Unit)
	return trace.Metric{Name: "sampled time", Unit: "ns", Integer: true, Default: true, Description: description},
		factor, of
}

// regions returns the frames of a code address, outermost first.
func (c *converter) regions(l *profile.Location) []stack.Frame {
	frames, ok := c.frames[l]
	if ok {
		return frames
	}
	object := ""
	if l.Mapping != nil {
		object = path.Base(l.Mapping.File)
	}
	for _, line := range slices.Backward(l.Line) {
		if f := line.Function; f != nil && f.Name != "" {
			region := c.w.Region(trace.Region{Name: f.Name, Category: object, File: f.Filename,
				Line: inFile(f.StartLine)})
			frames = append(frames, stack.Frame{Region: region, Line: inFile(line.Line)})
		}
	}
	if len(frames) == 0 {
		name := fmt.Sprintf("0x%x", l.Address)
		if object != "" && object != "." {
			name = object + " " + name
		}
		frames = []stack.Frame{{Region: c.w.Region(trace.Region{Name: name, Category: object})}}
	}
	c.frames[l] = frames
	return frames
}

// inFile bounds a line number.
func inFile(line int64) int { return int(min(max(line, 0), 1<<30)) }

func isRank(label string) bool {
	return slices.Contains([]string{"rank", "mpi_rank", "mpi.rank"}, strings.ToLower(label))
}

func isThread(label string) bool {
	return slices.Contains([]string{"thread", "thread_id", "thread id", "tid", "thread_name", "thread name"},
		strings.ToLower(label))
}

// ranksAreNumbers reports whether samples have ranks as numbers, but none has rank
// 0: the encoding leaves out a number that is 0.
func ranksAreNumbers(p *profile.Profile) bool {
	numbers := false
	for _, s := range p.Sample {
		for name, values := range s.NumLabel {
			if isRank(name) && len(values) > 0 {
				if values[0] == 0 {
					return false
				}
				numbers = true
			}
		}
	}
	return numbers
}

// location finds who took a sample, from its labels.
func (c *converter) location(s *profile.Sample) trace.LocationID {
	var k rowKey
	c.labels.begin()
	label := func(name, value string) {
		switch {
		case isRank(name):
			k.rank = value
		case isThread(name):
			if k.thread != "" && k.thread != value {
				value = min(k.thread, value) + " " + max(k.thread, value)
			}
			k.thread = value
		default:
			c.labels.add(name, value)
		}
	}
	for name, values := range s.Label {
		label(name, strings.Join(values, " "))
	}
	for name, values := range s.NumLabel {
		if len(values) > 0 {
			label(name, strconv.FormatInt(values[0], 10))
		}
	}
	if k.rank == "" && c.zero {
		k.rank = "0"
		c.guessed++
	}
	at, ok := c.rows[k]
	if !ok {
		at = c.define(k)
		c.rows[k] = at
	}
	c.labels.count(at)
	return at
}

func (c *converter) define(k rowKey) trace.LocationID {
	process := importer.Once(c.process, k.rank, func() trace.LocationID {
		l := importer.Process(c.name)
		if k.rank != "" {
			l.Name = "rank " + k.rank
			if n, err := strconv.Atoi(k.rank); err == nil && n >= 0 && n < 1<<24 {
				l.Rank = n
			}
		}
		return c.w.Location(l)
	})
	if k.thread == "" {
		return process
	}
	return c.w.Location(trace.Location{Parent: process, Kind: trace.KindThread, Name: "thread " + k.thread,
		Key: k.thread, Rank: trace.NoRank})
}

// describe keeps the profile's own description, and counts parts left out.
func (c *converter) describe(p *profile.Profile) {
	if len(p.Comments) > 0 {
		c.w.Property("comment", strings.Join(p.Comments, "\n"))
	}
	if p.TimeNanos > 0 {
		c.w.Property("start", time.Unix(0, p.TimeNanos).UTC().Format("2006-01-02T15:04:05.999999999Z"))
	}
	if p.DurationNanos > 0 {
		c.w.Property("duration", time.Duration(p.DurationNanos).String())
	}
	if p.PeriodType != nil && p.Period > 0 {
		c.w.Property("period", fmt.Sprintf("%d %s of %s", p.Period, p.PeriodType.Unit, p.PeriodType.Type))
	}
	importer.Tell(c.w, trace.Guessed,
		"samples without a rank where others have one: the format cannot write rank 0", c.guessed, "")
	c.labels.write(c.w)
}
