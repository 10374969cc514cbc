package callgraph

import (
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Place is a source line. Code that was inlined may be of another file than its function.
type Place struct {
	File string
	Line int
}

// A line is the cost of a place in a function, and the calls that it makes.
type line struct {
	place Place
	self  []float64
	calls []*edge
}

// lineAt finds the line of a function, or makes it.
func (f *Function) lineAt(p Place) *line {
	if l := f.byPlace[p]; l != nil {
		return l
	}
	if f.byPlace == nil {
		f.byPlace = map[Place]*line{}
	}
	l := &line{place: p}
	f.byPlace[p] = l
	f.lines = append(f.lines, l)
	return l
}

// AddAt adds the function's own cost at a place.
func (f *Function) AddAt(p Place, cost []float64) {
	f.Add(cost)
	l := f.lineAt(p)
	l.self = add(l.self, cost)
}

// CallAt is Call from a place.
func (g *Graph) CallAt(from, to *Function, p Place, count float64, cost []float64) {
	g.Call(from, to, count, cost)
	from.lineAt(p).call(to, count, cost)
}

func (l *line) call(to *Function, count float64, cost []float64) {
	for _, e := range l.calls {
		if e.to == to {
			e.count += count
			e.cost = add(e.cost, cost)
			return
		}
	}
	l.calls = append(l.calls, &edge{to: to, count: count, cost: add(nil, cost)})
}

// mergeLines adds the lines of a function of another graph, whose functions find gives.
func (f *Function) mergeLines(o *Function, find func(*Function) *Function) {
	for _, from := range o.lines {
		l := f.lineAt(from.place)
		l.self = add(l.self, from.self)
		for _, e := range from.calls {
			l.call(find(e.to), e.count, e.cost)
		}
	}
}

// writeLines writes the rows of the function's lines; paths are those of functions without callers.
func (f *Function) writeLines(w trace.Writer, at trace.LocationID, metrics []Metric,
	paths map[*Function]trace.CallPathID) {
	if !slices.ContainsFunc(f.lines, func(l *line) bool { return l.place.Line > 0 }) {
		return
	}
	var rows []trace.LineRow
	for _, l := range f.lines {
		row := trace.LineRow{Location: at, Path: paths[f], Callee: trace.NoCallPath, File: trace.NoFile,
			Line: uint32(l.place.Line)}
		if l.place.File != f.File {
			row.File = trace.SourceFile(w, strings.TrimPrefix(l.place.File, "???"))
		}
		inclusive := add(nil, l.self)
		for _, e := range l.calls {
			if e.to != f { // a recursion is contained in the cost of the outer call
				inclusive = add(inclusive, e.cost)
			}
		}
		for i := range inclusive {
			if i < len(f.inclusive) && f.inclusive[i] >= 0 { // functions may call each other in a circle
				inclusive[i] = min(inclusive[i], f.inclusive[i])
			}
		}
		rows = appendLine(rows, row, metrics, inclusive, l.self)
		for _, e := range l.calls {
			row.Callee, row.Calls = paths[e.to], e.count
			rows = appendLine(rows, row, metrics, e.cost, nil)
		}
	}
	trace.AddLines(w, rows)
}

func appendLine(rows []trace.LineRow, row trace.LineRow, metrics []Metric, inclusive, self []float64) []trace.LineRow {
	for i, m := range metrics {
		row.Metric, row.Inclusive, row.Exclusive = m.ID, 0, 0
		if i < len(inclusive) {
			row.Inclusive = inclusive[i] * m.Factor
		}
		if i < len(self) {
			row.Exclusive = self[i] * m.Factor
		}
		if row.Inclusive != 0 || row.Exclusive != 0 || row.Calls != 0 {
			rows = append(rows, row)
		}
	}
	return rows
}
