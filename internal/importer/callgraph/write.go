package callgraph

import (
	"path"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Metric describes one number of a cost, with the factor to its unit.
type Metric struct {
	ID     trace.MetricID
	Factor float64
}

// Write passes on the graph: functions as flat rows, and call paths. label names the thread in reports.
func (g *Graph) Write(w trace.Writer, at trace.LocationID, label string, metrics []Metric) {
	rows := func(path trace.CallPathID, calls float64, inclusive, self []float64) {
		for i, m := range metrics {
			row := trace.ProfileRow{Location: at, Path: path, Metric: m.ID, Calls: calls}
			if i < len(inclusive) {
				row.Inclusive = inclusive[i] * m.Factor
			}
			if i < len(self) {
				row.Exclusive = self[i] * m.Factor
			}
			w.Profile(row)
		}
	}
	g.finish()
	regions := map[*Function]trace.RegionID{}
	paths := map[*Function]trace.CallPathID{}
	circles := int64(0)
	for _, f := range g.functions {
		regions[f] = w.Region(f.region())
		if len(g.circles[f.circle]) > 1 {
			circles++
		}
		paths[f] = w.CallPath(trace.CallPath{Parent: trace.NoCallPath, Region: regions[f], Flat: true})
		rows(paths[f], f.Called, f.inclusive, f.Self)
	}
	for _, f := range g.functions {
		f.writeLines(w, at, metrics, paths)
	}
	if circles > 0 {
		w.Report(trace.Guessed,
			"functions that call each other in a circle: inclusive costs are at most those of the circle", circles,
			label)
	}
	g.paths().write(w, regions, rows, label)
}

// region is the region of a function; "???" stands for an unknown name.
func (f *Function) region() trace.Region {
	r := trace.Region{Name: f.Name, File: f.File, Line: f.Line}
	if f.Object != "" && f.Object != "???" {
		r.Category = path.Base(f.Object)
	}
	if f.File == "???" {
		r.File, r.Line = "", 0
	}
	return r
}

// write passes on the paths, and reports inexact values.
func (t *forest) write(w trace.Writer, regions map[*Function]trace.RegionID,
	rows func(path trace.CallPathID, calls float64, inclusive, self []float64), label string) {
	ids := map[*node]trace.CallPathID{}
	more := trace.NoRegion
	for _, n := range t.nodes {
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
	for _, x := range []struct {
		what  string
		count int
	}{
		{"functions with several callers: on call paths, what they call is shared out by what each caller took",
			t.shared},
		{"call paths that end where they would come back to a function", t.circles},
		{"call paths that are not followed further, the smallest: under (further calls)", t.cut},
	} {
		if x.count > 0 {
			w.Report(trace.Guessed, x.what, int64(x.count), label)
		}
	}
}
