package topology

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/analysis/proposal"
)

// choose reads which layout is asked for, and returns the function that will place the
// locations:
//
//	text:NAME⏎…     a file, read as ParaProf does; the first block where NAME is empty
//	strict:NAME⏎…   the text of an editor: the first fault is an error
//	fill:XxYxZ      a box, filled in order of rank
//	rows            rows in order of rank
//	grid, nodes, hosts[:LEVELS], chain, hilbert
//	                proposals from the run, see propose
//	hierarchy       the tree of locations
//	NAME            a topology of the data, or a ready-made layout
//
// Without a word it is the first layout that the run suggests; with a map the topology of
// that.
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
	case "rows":
		return func(context.Context) error { return r.byRows() }, nil
	case "hierarchy":
		return func(context.Context) error { return r.byHierarchy() }, nil
	}
	topologies := r.topologies()
	for i := range topologies {
		if asked == topologies[i].Name || asked == "" && r.cray != nil {
			return func(context.Context) error { return r.byCoordinates(&topologies[i]) }, nil
		}
	}
	if asked == "" {
		first := &r.proposed.layouts[0]
		if first.Kind == proposal.Coordinates {
			return func(context.Context) error { return r.byCoordinates(&topologies[0]) }, nil
		}
		if len(topologies) > 0 && isLine(&topologies[0]) {
			r.notes = append(r.notes, foldNote(&topologies[0]))
		}
		return func(context.Context) error { return r.byPlaces(first) }, nil
	}
	l, known := r.proposed.find(asked)
	switch {
	case l != nil:
		return func(context.Context) error { return r.byPlaces(l) }, nil
	case known:
		return nil, fmt.Errorf("--layout %s: the run does not suggest that one; it suggests %s", asked,
			strings.Join(r.proposed.names(r.coordinateName()), ", "))
	}
	return r.byFormula, r.parse(readyMade(), asked, true)
}

// coordinateName is the name of the data's coordinates in --layout.
func (r *result) coordinateName() string {
	if t := r.topologies(); len(t) > 0 {
		return t[0].Name
	}
	return ""
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
		return fmt.Errorf("--layout: no layout %q; there are %s", name,
			strings.Join(append(append(known, r.proposed.names(r.coordinateName())...), "fill:XxYxZ", "hierarchy"),
				", "))
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
	r.given = r.input()
	out, err := r.chosen.Apply(ctx, r.given)
	if err != nil {
		return r.inText(err)
	}
	r.points, r.cube = out.Points, out.Restrict
	r.placed, r.spans = formula.PlaceSpans(r.points, out.Restrict)
	slices.Sort(r.lacking)
	r.notes = append(append(r.notes, r.lacking...), r.warn()...)
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
