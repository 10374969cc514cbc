package callgrind

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/callgraph"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A thread is the files of one thread.
type thread struct {
	name  string
	graph *callgraph.Graph
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
	process := w.Location(importer.Process(strings.TrimSpace(name + " " + first.process)))
	for key, value := range map[string]string{"command": first.command, "creator": first.creator} {
		if value != "" {
			w.Property(key, value)
		}
	}
	for i, t := range threads {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		at := w.Location(trace.Location{Parent: process, Kind: trace.KindThread, Key: t.name,
			Name: cmp.Or(t.name, "thread"), Rank: trace.NoRank, Order: int64(i)})
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
	f := newFile(run.Label(name), callgraph.New())
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
	i := slices.IndexFunc(*threads,
		func(o *thread) bool { return o.name == t.name && slices.Equal(o.head.events, f.events) })
	if i < 0 {
		*threads = append(*threads, t)
	} else {
		(*threads)[i].graph.Merge(f.graph)
	}
	return f, nil
}

// report counts lines and names that were skipped or guessed.
func (f *file) report(w trace.Writer) {
	for _, x := range []struct {
		kind  trace.ReportKind
		what  string
		count int64
		place string
	}{
		{trace.MissingValues, "lines that make no sense", f.bad, f.firstBad},
		{trace.MissingValues, "lines of more than a megabyte", f.long, f.label},
		{trace.MissingDetails, "jumps", f.jumps, f.label},
		{trace.Redundant, "events that are computed from others", f.derived, f.label},
		{trace.Guessed, "names whose number the file does not explain", f.unnumbered, f.label},
	} {
		importer.Tell(w, x.kind, x.what, x.count, x.place)
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

// eventOf recognises the units that names of events tell, as Xdebug's do.
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

// write passes on a thread.
func (t *thread) write(w trace.Writer, at trace.LocationID) {
	var events []callgraph.Metric
	for i, name := range t.head.events {
		m, factor := eventOf(name)
		m.Default = i == 0
		m.Description = t.head.described[name]
		events = append(events, callgraph.Metric{ID: w.Metric(m), Factor: factor})
	}
	t.graph.Write(w, at, t.name, events)
}
