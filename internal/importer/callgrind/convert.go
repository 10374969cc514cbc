package callgrind

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A thread is the files of one thread.
type thread struct {
	name  string
	graph *graph
	head  head
}

func read(ctx context.Context, run importer.Run, w trace.Writer) error {
	var threads []*thread
	var heads []head
	for _, name := range run.Files {
		f, err := readFile(ctx, run, name, w, &threads)
		if err != nil {
			return err
		}
		heads = append(heads, f.head)
	}
	first := heads[0]
	if i := slices.IndexFunc(heads, func(h head) bool { return h.command != "" }); i >= 0 {
		first = heads[i]
	}
	name := path.Base(run.Name)
	if fields := strings.Fields(first.command); len(fields) > 0 {
		name = path.Base(fields[0])
	}
	process := w.Location(trace.Location{Parent: trace.NoLocation, Kind: trace.KindProcess, Name: strings.TrimSpace(name + " " + first.process), Rank: trace.NoRank})
	for key, value := range map[string]string{"command": first.command, "creator": first.creator} {
		if value != "" {
			w.Property(key, value)
		}
	}
	for i, t := range threads {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at := w.Location(trace.Location{Parent: process, Kind: trace.KindThread, Key: t.name, Name: cmp.Or(t.name, "thread"), Rank: trace.NoRank, Order: int64(i)})
		t.write(w, at)
	}
	return nil
}

// readFile reads a file into the graph of its thread. Another list of events is another graph.
func readFile(ctx context.Context, run importer.Run, name string, w trace.Writer, threads *[]*thread) (*file, error) {
	in, err := run.Open(name)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	f := newFile(run.Label(name), newGraph())
	if err := f.read(ctx, in); err != nil {
		return nil, err
	}
	if f.costs == 0 && len(run.Files) == 1 {
		return nil, importer.Malformed(f.label, "", "holds no costs")
	}
	f.report(w)
	t := &thread{graph: f.graph, head: f.head}
	if f.thread != "" {
		t.name = "thread " + f.thread
	}
	i := slices.IndexFunc(*threads, func(o *thread) bool { return o.name == t.name && slices.Equal(o.head.events, f.events) })
	if i < 0 {
		*threads = append(*threads, t)
	} else {
		(*threads)[i].graph.merge(f.graph)
	}
	return f, nil
}

// merge adds the functions of another part.
func (g *graph) merge(o *graph) {
	for _, f := range o.functions {
		to := g.function(f.name, f.file, f.object)
		to.self = add(to.self, f.self)
		to.line = cmp.Or(to.line, f.line)
		for _, e := range f.calls {
			g.call(to, g.function(e.to.name, e.to.file, e.to.object), e.count, e.cost)
		}
	}
}

// report says what was not kept as it stands.
func (f *file) report(w trace.Writer) {
	for _, x := range []struct {
		kind  trace.ReportKind
		what  string
		count int64
		place string
	}{
		{trace.Skipped, "lines that make no sense", f.bad, f.firstBad},
		{trace.Skipped, "lines of more than a megabyte", f.long, f.label},
		{trace.Skipped, "jumps", f.jumps, f.label},
		{trace.Skipped, "events that are computed from others", f.derived, f.label},
		{trace.Guessed, "names whose number the file does not explain", f.unnumbered, f.label},
	} {
		if x.count > 0 {
			w.Report(x.kind, x.what, x.count, x.place)
		}
	}
	switch {
	case !f.ended:
		w.Report(trace.Repaired, "files without totals at their end: cut off, or written without", 1, f.label)
	case !slices.Equal(trimmed(f.totals), trimmed(f.sum)):
		w.Report(trace.Repaired, "files whose totals are not the sum of their costs", 1, f.label)
	}
}

func trimmed(list []float64) []float64 {
	for len(list) > 0 && list[len(list)-1] == 0 {
		list = list[:len(list)-1]
	}
	return list
}

// An event is a metric with the factor to its unit.
type event struct {
	metric trace.MetricID
	factor float64
}

// eventOf knows the units that names of events tell, as Xdebug's do.
func eventOf(name string) (trace.Metric, float64) {
	m, factor := trace.Metric{Name: name, Integer: true}, 1.0
	short, unit, ok := strings.Cut(name, "_(")
	if !ok {
		return m, factor
	}
	switch strings.TrimSuffix(unit, ")") {
	case "10ns":
		return trace.Metric{Name: strings.ToLower(short), Unit: "ns"}, 10
	case "ns":
		return trace.Metric{Name: strings.ToLower(short), Unit: "ns"}, 1
	case "us", "µs":
		return trace.Metric{Name: strings.ToLower(short), Unit: "ns"}, 1e3
	case "ms":
		return trace.Metric{Name: strings.ToLower(short), Unit: "ns"}, 1e6
	case "bytes":
		return trace.Metric{Name: strings.ToLower(short), Unit: "bytes"}, 1
	}
	return m, factor
}

// write hands a thread over: functions as flat rows, and call paths.
func (t *thread) write(w trace.Writer, at trace.LocationID) {
	var events []event
	for i, name := range t.head.events {
		m, factor := eventOf(name)
		m.Default = i == 0
		m.Description = t.head.described[name]
		events = append(events, event{w.Metric(m), factor})
	}
	rows := func(path trace.CallPathID, calls float64, inclusive, self []float64) {
		for i, e := range events {
			row := trace.ProfileRow{Location: at, Path: path, Metric: e.metric, Calls: calls}
			if i < len(inclusive) {
				row.Inclusive = inclusive[i] * e.factor
			}
			if i < len(self) {
				row.Exclusive = self[i] * e.factor
			}
			w.Profile(row)
		}
	}
	t.graph.finish()
	regions := map[*function]trace.RegionID{}
	circles := int64(0)
	for _, f := range t.graph.functions {
		r := trace.Region{Name: f.name, File: f.file, Line: f.line}
		if f.object != "" && f.object != "???" {
			r.Category = path.Base(f.object)
		}
		if f.file == "???" {
			r.File, r.Line = "", 0
		}
		regions[f] = w.Region(r)
		if len(t.graph.circles[f.circle]) > 1 {
			circles++
		}
		rows(w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: regions[f], Flat: true}), f.called, f.inclusive, f.self)
	}
	if circles > 0 {
		w.Report(trace.Guessed, "functions that call each other in a circle: inclusive costs are at most those of the circle", circles, t.name)
	}
	forest := t.graph.paths()
	ids := map[*node]trace.CallPathID{}
	more := trace.NoRegion
	for _, n := range forest.nodes {
		parent := trace.NoCallPath
		if n.parent != nil {
			parent = ids[n.parent]
		}
		region := more
		if n.f != nil {
			region = regions[n.f]
		} else if more == trace.NoRegion {
			more = w.Region(trace.Region{Name: "(further calls)"})
			region = more
		}
		ids[n] = w.CallPath(trace.CallPath{Parent: parent, Region: region})
		rows(ids[n], n.calls, n.cost, n.self)
	}
	if forest.shared > 0 {
		w.Report(trace.Guessed, "functions with several callers: on call paths, what they call is shared out by what each caller took", int64(forest.shared), t.name)
	}
	if forest.circles > 0 {
		w.Report(trace.Guessed, "call paths that end where they would come back to a function", int64(forest.circles), t.name)
	}
	if forest.cut > 0 {
		w.Report(trace.Guessed, "call paths that are not followed further, the smallest: under (further calls)", int64(forest.cut), t.name)
	}
}
