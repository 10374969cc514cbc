package topology

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// choose reads which layout is asked for, and gives what will place the locations:
//
//	text:NAME⏎…     a file, read as ParaProf does; the first block where NAME is empty
//	strict:NAME⏎…   the text of an editor: the first fault is an error
//	fill:XxYxZ      a box, filled in order of rank
//	hierarchy       the tree of locations
//	NAME            a topology of the data, or a ready-made layout
//
// Without a word it is the first topology of the data, else a block.
func (r *result) choose() (place func(context.Context) error, err error) {
	if err := r.readMap(); err != nil {
		return nil, err
	}
	asked := r.request.Values.Text("layout")
	kind, rest, _ := strings.Cut(asked, ":")
	switch kind {
	case "text", "strict":
		name, body, _ := strings.Cut(rest, "\n")
		return r.byFormula, r.parse(body, name, kind == "strict")
	case "fill":
		dims, err := parseBox(rest)
		return func(context.Context) error { return r.byFill(dims) }, err
	case "hierarchy":
		return func(context.Context) error { return r.byHierarchy() }, nil
	}
	topologies := r.topologies()
	for i := range topologies {
		if asked == topologies[i].Name || asked == "" {
			return func(context.Context) error { return r.byCoordinates(&topologies[i]) }, nil
		}
	}
	if asked == "" {
		asked = "block"
	}
	return r.byFormula, r.parse(readyMade(), asked, true)
}

// parse compiles the layout of a name.
func (r *result) parse(text, name string, strict bool) error {
	var layouts []*formula.Layout
	var warnings []string
	var err error
	if strict {
		layouts, err = formula.Parse(text)
	} else {
		layouts, warnings, err = formula.ParseCompatible(text)
	}
	r.source = text
	if err != nil {
		return r.inText(err)
	}
	if len(layouts) == 0 {
		return fmt.Errorf("--layout: no block can be read%s", strings.Join(append([]string{""}, warnings...), "; "))
	}
	r.notes = append(r.notes, warnings...)
	var known []string
	for _, l := range layouts {
		known = append(known, l.Name)
		if l.Name == name || name == "" && r.chosen == nil {
			r.chosen = l
		}
	}
	if r.chosen == nil {
		for _, t := range r.topologies() {
			known = append(known, t.Name)
		}
		return fmt.Errorf("--layout: no layout %q; there are %s", name, strings.Join(append(known, "fill:XxYxZ", "hierarchy"), ", "))
	}
	r.layout = r.chosen.Name
	return nil
}

// inText makes an error show its line.
func (r *result) inText(err error) error {
	var bad *formula.Error
	if errors.As(err, &bad) {
		bad.In(r.source)
	}
	return fmt.Errorf("--layout: %w", err)
}

func (r *result) byFormula(ctx context.Context) error {
	out, err := r.chosen.Apply(ctx, r.input())
	if err != nil {
		return r.inText(err)
	}
	r.points = out.Points
	for k := range r.points {
		r.placed = append(r.placed, r.points[k].Place(out.Restrict))
	}
	if r.chosen.Sets("color") || r.chosen.Sets("color0") {
		r.shade = r.ownColour()
	}
	for a, name := range []string{"x", "y", "z"} {
		r.axes[a] = name
		if e := r.chosen.Events(name); e != 0 && e&(e-1) == 0 { // of one event alone
			for i := range r.bound {
				if r.bound[i].name == fmt.Sprintf("event%d", trailing(e)) {
					r.axes[a] = name + ": " + r.bound[i].label
				}
			}
		}
	}
	return nil
}

// ownColour finds the event whose values the colours are; a number without unit of none.
func (r *result) ownColour() *binding {
	for i := range r.bound {
		same := true
		for k, c := range r.points[0].Color {
			v := r.bound[i].values[k]
			same = same && (c == v || c != c && v != v)
		}
		if same {
			return &r.bound[i]
		}
	}
	b := &binding{name: "color", label: "color", values: r.points[0].Color}
	b.summarise()
	return b
}

func trailing(bits uint) int {
	n := 0
	for bits&1 == 0 {
		bits, n = bits>>1, n+1
	}
	return n
}

// input binds the names of a layout to the run.
func (r *result) input() *formula.Input {
	tree := r.request.Store().Locations()
	scalar, column := map[string]float64{"context": 0}, map[string][]float64{}
	for _, b := range r.bound {
		scalar[b.name+".min"], scalar[b.name+".max"], scalar[b.name+".mean"] = b.min, b.max, b.mean
		column[b.name+".val"], column[b.name] = b.values, b.values
		column["color"] = b.values
	}
	ranks := make([]float64, len(r.location))
	threads := make([]float64, len(r.location))
	for i, id := range r.location {
		ranks[i] = float64(max(tree.Rank[id], 0))
		if i > 0 && tree.Rank[id] == tree.Rank[r.location[i-1]] && tree.Rank[id] >= 0 {
			threads[i] = threads[i-1] + 1
		}
	}
	column["node"], column["thread"] = ranks, threads
	for a, axis := range []string{"x", "y", "z"} {
		scalar["axisdim"+axis] = 1
		if t := r.topologies(); len(t) > 0 && a < len(t[0].Dims) {
			scalar["axisdim"+axis] = float64(t[0].Dims[a])
		}
	}
	keys := map[string][]float64{}
	coordinates := func(n string) []float64 {
		a := strings.Index("xyzw", strings.TrimPrefix(n, "coord"))
		t := r.topologies()
		if len(n) != 6 || a < 0 || len(t) == 0 {
			return nil
		}
		out := make([]float64, len(r.location))
		for i, c := range coordinatesOf(&t[0], tree, r.location) {
			if out[i] = math.NaN(); a < len(c) {
				out[i] = float64(c[a])
			}
		}
		return out
	}
	return &formula.Input{
		N:      len(r.location),
		Scalar: func(n string) (float64, bool) { v, ok := scalar[n]; return v, ok },
		Column: func(n string) ([]float64, bool) {
			r.lock.Lock()
			defer r.lock.Unlock()
			v, ok := column[n]
			if !ok && strings.HasPrefix(n, "coord") {
				if v = coordinates(n); v != nil {
					column[n], ok = v, true
				}
			}
			return v, ok
		},
		Metadata: func(key string) []float64 {
			r.lock.Lock()
			defer r.lock.Unlock()
			v, ok := keys[key]
			if !ok && r.cray != nil {
				v, ok = r.cray.Metadata(key, r.ranks())
			}
			if !ok {
				v, _ = metadata(tree, r.location, key)
			}
			keys[key] = v
			return v
		},
	}
}

// coordinatesOf gives the coordinates of each location, or of the nearest above it
// that has some; nil of none.
func coordinatesOf(t *trace.Topology, tree *store.Tree, ids []trace.LocationID) [][]int {
	at := make(map[trace.LocationID][]int, len(t.Coordinates))
	for _, c := range t.Coordinates {
		at[c.Location] = c.At
	}
	out := make([][]int, len(ids))
	for i, id := range ids {
		for up := id; up != trace.NoLocation; up = tree.Parent[up] {
			if c, ok := at[up]; ok {
				out[i] = c
				break
			}
		}
	}
	return out
}
