// Package pstats reads the files that Python's cProfile and profile write with -o and module pstats loads.
//
// The format: one dictionary, written by Python's marshal. A key is (file, line, function); its value is (primitive
// calls, calls, own seconds, total seconds, callers), and callers are a dictionary of keys to the same four. Read are
// the types that such files hold, of Python 2 and 3.
//
// Terms: a function is a region, its own time exclusive; package callgraph lists the exact values of a graph
// without paths. Built-in functions have no file. Calls count recursion, the total time counts it once. There are no
// threads.
package pstats

import (
	"context"
	"fmt"
	"io"
	"path"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/importer/callgraph"
	"github.com/parallax-hpc/parallax/internal/importer/wire"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Format is that of Python's profilers.
var Format = &importer.Format{Name: "pstats", Title: "Python profiles (cProfile -o, pstats)",
	Claim: importer.EachFile(isStats), Import: importer.OneFile(read)}

// isStats: a dictionary whose first key is a tuple of three, the first a text.
func isStats(head []byte) bool {
	if len(head) < 16 || head[0]&^remember != '{' {
		return false
	}
	at := 0
	switch head[1] &^ remember {
	case ')':
		if head[2] != 3 {
			return false
		}
		at = 3
	case '(':
		if string(head[2:6]) != "\x03\x00\x00\x00" {
			return false
		}
		at = 6
	default:
		return false
	}
	switch head[at] &^ remember {
	case 'z', 'Z', 'a', 'A', 'u', 's', 't':
		return true
	}
	return false
}

// largest bounds a file, which is held in memory.
const largest = 1 << 30

func read(ctx context.Context, run importer.Run, in io.Reader, label string, w trace.Writer) error {
	data, err := io.ReadAll(io.LimitReader(in, largest))
	if ctx.Err() != nil {
		return ctx.Err()
	}
	d := &decoder{Cursor: wire.Of(data)}
	g := callgraph.New()
	called := map[*callgraph.Function]float64{}
	d.entries(func(key, value any) {
		if !add(g, called, key, value) {
			w.Report(trace.MissingValues, "entries that are no function with its times", 1,
				fmt.Sprintf("%s: byte %d", label, d.Offset()))
		}
	})
	for f, n := range called {
		f.Called = n // edges tell only calls by functions that were profiled
	}
	if len(called) == 0 {
		return importer.Malformed(label, fmt.Sprintf("byte %d", d.Offset()), "holds no functions of a Python profile")
	}
	if d.Failed() || err != nil || d.Left() > 0 {
		w.Report(trace.MissingRest, "files that break off, read up to there", 1,
			fmt.Sprintf("%s: byte %d", label, d.Offset()))
	}
	process := w.Location(importer.Process(path.Base(run.Name)))
	time := callgraph.Metric{ID: w.Metric(trace.Metric{Name: "time", Unit: "ns", Default: true}), Factor: 1e9}
	g.Write(w, process, label, []callgraph.Metric{time})
	return nil
}

// add takes a function with its callers.
func add(g *callgraph.Graph, called map[*callgraph.Function]float64, key, value any) bool {
	f, ok := function(g, key)
	v, isTuple := value.([]any)
	if !ok || !isTuple || len(v) < 5 {
		return false
	}
	calls, ok1 := number(v[1])
	own, ok2 := number(v[2])
	if !ok1 || !ok2 {
		return false
	}
	f.Add([]float64{own})
	called[f] += calls
	callers, _ := v[4].([]pair)
	for _, p := range callers {
		from, ok := function(g, p.key)
		if !ok {
			continue
		}
		count, _ := number(p.value) // profile.py has only a count
		cost := 0.0
		if t, ok := p.value.([]any); ok && len(t) >= 4 {
			count, _ = number(t[0])
			cost, _ = number(t[3])
		}
		g.Call(from, f, count, []float64{cost})
	}
	return true
}

func function(g *callgraph.Graph, key any) (*callgraph.Function, bool) {
	k, ok := key.([]any)
	if !ok || len(k) != 3 {
		return nil, false
	}
	file, ok1 := k[0].(string)
	line, ok2 := number(k[1])
	name, ok3 := k[2].(string)
	if !ok1 || !ok2 || !ok3 || line < 0 || line > 1<<30 {
		return nil, false
	}
	if file == "~" { // built in
		file = ""
	}
	return g.FunctionAt(name, file, "", int(line)), true
}

func number(v any) (float64, bool) {
	x, ok := v.(float64)
	return x, ok
}
