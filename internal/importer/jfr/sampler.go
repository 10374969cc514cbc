package jfr

import (
	"cmp"
	"context"
	"encoding/binary"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/stack"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A sampleKind is a kind of samples: the metric that they add to, and the field that says how much.
type sampleKind struct {
	metric, unit string
	weight       string // "": one each
	row          string // aside, where it is shown over time; "": nowhere
	// metric of samples × period, where the recording states the period; "": samples are not periodic
	time   string
	period string // field that states the period of one sample; "": settings state it
}

// sampleKinds are the events that are stacks taken now and then.
var sampleKinds = map[string]sampleKind{
	"jdk.ExecutionSample":    {metric: "samples", row: "samples", time: "sampled time"},
	"jdk.NativeMethodSample": {metric: "native samples", row: "native samples", time: "sampled native time"},
	"jdk.CPUTimeSample": {metric: "CPU time samples", row: "CPU time samples", time: "sampled CPU time",
		period: "samplingPeriod"},
	"profiler.WallClockSample": {metric: "wall clock samples", weight: "samples", row: "wall clock samples",
		time: "sampled wall clock time"},
	"jdk.ObjectAllocationSample":      {metric: "allocated", unit: "bytes", weight: "weight"},
	"jdk.ObjectAllocationInNewTLAB":   {metric: "allocated in new buffers", unit: "bytes", weight: "tlabSize"},
	"jdk.ObjectAllocationOutsideTLAB": {metric: "allocated outside buffers", unit: "bytes", weight: "allocationSize"},
	"jdk.OldObjectSample":             {metric: "old objects"},
	"profiler.LiveObject":             {metric: "live objects", unit: "bytes", weight: "allocationSize"},
	"profiler.Malloc":                 {metric: "native memory", unit: "bytes", weight: "size"},
}

// longestGap is for how many periods a sample is shown until the next.
const longestGap = 8

// usualPeriod is how often Java takes samples where the recording does not say.
const usualPeriod = 20 * time.Millisecond

// A sampler gathers samples. Each takes 32 bytes until the end, when they are put in order.
type sampler struct {
	w       trace.Writer
	totals  map[string]*sampleTotals
	names   []string
	paths   [][]trace.RegionID // distinct stacks
	lined   [][]stack.Frame    // the same with lines
	byPath  map[string]int
	ids     map[int64]int // of the chunk: stacks to paths
	texts   map[int64]string
	methods map[int64]trace.RegionID // of the chunk
	chunk   *chunk
	lists   map[sampleRow][]sample
	rows    []sampleRow
	periods map[string]time.Duration // by metric
	counted bool                     // an event of the hardware triggers samples: their interval is no time
	empty   int64
	cut     int64
}

// sampleTotals adds up one kind of samples.
type sampleTotals struct {
	*stack.Profile
	timed bool // the second metric is samples × period
}

type sampleRow struct {
	thread trace.LocationID
	name   string
}

type sample struct {
	at   trace.Time
	path int
}

func newSampler(w trace.Writer) *sampler {
	return &sampler{w: w, totals: map[string]*sampleTotals{}, byPath: map[string]int{}, lists: map[sampleRow][]sample{},
		periods: map[string]time.Duration{}}
}

// begin starts a chunk: numbers of constants are its own.
func (s *sampler) begin(k *chunk) {
	s.chunk = k
	s.ids, s.texts, s.methods = map[int64]int{}, map[int64]string{}, map[int64]trace.RegionID{}
}

// setting learns how often samples are taken: Java states a period with a unit, async-profiler an interval in ns.
func (s *sampler) setting(e *event) {
	id, _ := e.value("id")
	x := e.chunk.classes[id.n]
	if x == nil {
		return
	}
	text := strings.ReplaceAll(e.text("value"), " ", "")
	switch name := e.text("name"); {
	case name == "event" && x.name == "jdk.ActiveRecording":
		s.counted = !slices.Contains([]string{"", "cpu", "ctimer", "itimer", "wall"}, text)
		return
	case name == "interval":
		text += "ns"
	case name != "period":
		return
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		s.periods[sampleKinds[x.name].metric] = d
	}
}

// period is how much time a sample stands for; 0 where the recording does not say.
func (s *sampler) period(e *event, kind *sampleKind) float64 {
	if kind.period != "" {
		n, _ := e.number(kind.period)
		if _, f := e.value(kind.period); f != nil && f.ticks {
			n = float64(e.chunk.span(int64(n)))
		}
		return max(n, 0)
	}
	if kind.time == "" || s.counted {
		return 0
	}
	return float64(s.periods[kind.metric])
}

// method is the region of a method.
func (s *sampler) method(id int64) trace.RegionID {
	return importer.Once(s.methods, id, func() trace.RegionID {
		name := s.chunk.method(id)
		return s.w.Region(trace.Region{Name: cmp.Or(name, "(unknown method)"), File: fileOfMethod(name)})
	})
}

// fileOfMethod returns the path of the file that Java's rules put a method's class into: java/util/HashMap.java for
// java.util.HashMap$Node.getKey. Recordings have lines and no files. Hidden classes have none.
func fileOfMethod(name string) string {
	class, _, _ := strings.Cut(name, "(")
	dot := strings.LastIndexByte(class, '.')
	if dot <= 0 {
		return ""
	}
	class, _, _ = strings.Cut(class[:dot], "$")
	if class == "" || strings.ContainsAny(class, "/ <>\\") {
		return ""
	}
	return strings.ReplaceAll(class, ".", "/") + ".java"
}

// path finds the regions of a stack of the chunk, -1 for none.
func (s *sampler) path(id int64) int {
	if i, ok := s.ids[id]; ok {
		return i
	}
	found := s.chunk.stacks[id]
	at := -1
	if len(found.frames) > 0 {
		list := make([]trace.RegionID, 0, len(found.frames))
		lined := make([]stack.Frame, 0, len(found.frames))
		var key []byte
		for _, f := range slices.Backward(found.frames) { // the innermost comes first
			r := s.method(f.method)
			list = append(list, r)
			lined = append(lined, stack.Frame{Region: r, Line: max(int(f.line), 0)})
			key = binary.LittleEndian.AppendUint32(key, uint32(r))
			key = binary.LittleEndian.AppendUint32(key, uint32(f.line))
		}
		known, ok := s.byPath[string(key)]
		if !ok {
			known = len(s.paths)
			s.paths = append(s.paths, list)
			s.lined = append(s.lined, lined)
			s.byPath[string(key)] = known
		}
		at = known
	}
	s.ids[id] = at
	return at
}

// stackText is a stack as text, innermost frame first.
func (s *sampler) stackText(k *chunk, id int64) string {
	if text, ok := s.texts[id]; ok {
		return text
	}
	var b []byte
	for _, f := range k.stacks[id].frames {
		if len(b) > 0 {
			b = append(b, '\n')
		}
		b = append(b, k.method(f.method)...)
		if f.line > 0 {
			b = strconv.AppendInt(append(b, ':'), int64(f.line), 10)
		}
	}
	s.texts[id] = string(b)
	return s.texts[id]
}

// add takes a sample of a thread.
func (s *sampler) add(e *event, kind *sampleKind, thread trace.LocationID) {
	v, _ := e.value("stackTrace")
	path := s.path(v.n)
	if path < 0 {
		s.empty++
		return
	}
	if s.chunk.stacks[v.n].cut {
		s.cut++
	}
	weight := 1.0
	if kind.weight != "" {
		if n, ok := e.number(kind.weight); ok && n >= 0 {
			weight = n
		}
	}
	period := s.period(e, kind)
	total := s.total(kind, period)
	if values := []float64{weight, weight * period}; total.timed {
		total.AddFrames(thread, s.lined[path], values)
	} else {
		total.AddFrames(thread, s.lined[path], values[:1])
	}
	if kind.row == "" {
		return
	}
	key := sampleRow{thread, kind.row}
	if s.lists[key] == nil {
		s.rows = append(s.rows, key)
	}
	s.lists[key] = append(s.lists[key], sample{e.time(), path})
}

// total finds the sums of a kind. If its first sample has a period, they are of time too, and shown by time.
func (s *sampler) total(kind *sampleKind, period float64) *sampleTotals {
	return importer.Once(s.totals, kind.metric, func() *sampleTotals {
		s.names = append(s.names, kind.metric)
		count := trace.Metric{Name: kind.metric, Unit: kind.unit, Integer: true, Default: kind.metric == "samples"}
		if period <= 0 {
			return &sampleTotals{Profile: stack.New(s.w, count)}
		}
		in := trace.Metric{Name: kind.time, Unit: "ns", Integer: true, Default: count.Default,
			Description: kind.metric + " × the period that the recording states, at first " +
				time.Duration(period).String()}
		count.Default = false
		return &sampleTotals{stack.New(s.w, count, in), true}
	})
}

// finish shows the samples over time and writes the sums.
func (s *sampler) finish(ctx context.Context, label string) error {
	for _, key := range s.rows {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		list := s.lists[key]
		slices.SortStableFunc(list, func(a, b sample) int { return cmp.Compare(a.at, b.at) })
		at := s.w.Location(trace.Location{Parent: key.thread, Kind: trace.KindSamples, Key: key.name, Name: key.name,
			Rank: trace.NoRank})
		stream := s.w.Stream(at, trace.StreamOptions{})
		period := trace.Time(cmp.Or(s.periods[key.name], usualPeriod))
		var open []trace.RegionID
		for i, x := range list {
			open = stack.Change(stream, x.at, open, s.paths[x.path])
			if i+1 == len(list) || list[i+1].at-x.at > longestGap*period {
				open = stack.Change(stream, x.at+period, open, nil)
			}
		}
		if err := stream.Close(); err != nil {
			return err
		}
	}
	for _, name := range s.names {
		s.totals[name].Finish()
	}
	importer.Tell(s.w, trace.MissingSamples, "samples without a stack", s.empty, label)
	importer.Tell(s.w, trace.MissingFrames,
		"outer frames of samples whose stack was deeper than the recorder keeps (stackdepth)", s.cut, label)
	return nil
}
