package treemap

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/variable"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A painted variable has a colour.
type painted struct {
	variable.Variable
	colour scene.Colour
	flag   scene.Flag // of its strips
}

// values returns variable × node.
func (r *result) values(ctx context.Context, by string) ([][]float64, error) {
	q := r.request
	read := &variable.Query{Store: q.Store(), Selection: q.Selection, Metric: q.Values.Text("metric"),
		LeafOf: r.hierarchy.LeafOf, Nodes: r.tree.Len(), Leaves: r.hierarchy.Leaves, Regions: view.RegionPattern,
		Names: func(pattern string) (func(string) bool, error) { return view.ParsePattern(pattern) }}
	t, err := read.Read(ctx, by)
	if err != nil {
		return nil, err
	}
	if len(t.Variables) == 0 {
		return nil, q.Advise("other regions",
			"another metric").Empty("no region has a value other than 0 in the selection")
	}
	r.unit, r.unitName, r.mean = t.Unit, t.UnitName, t.Mean
	r.notes = append(r.notes, t.Notes...)
	if r.scale == entropy.Plain && t.Metric != "" {
		r.notes = append(r.notes,
			fmt.Sprintf("the paper's p: gain in values, loss in bits for %s", view.FormatIn(t.Unit, t.Metric)))
	}
	return t.Values, r.giveColours(ctx, t.Variables, t.By)
}

// giveColours gives variables the colours of their regions, or those of their kind, as other views have them.
func (r *result) giveColours(ctx context.Context, list []variable.Variable, by string) error {
	colours, err := r.request.Colours(ctx)
	if err != nil {
		return err
	}
	regions, categories, plain := r.request.Store().Regions(), scene.Giver{}, 0
	for _, v := range list {
		p := painted{Variable: v}
		switch {
		case v.Like == trace.NoRegion:
			p.colour = scene.LocationColour(plain)
			plain++
		case by == "categories":
			p.colour = categories.Give(v.Name, uint8(regions[v.Like].Role), nil)
		case by == "roles":
			p.colour = scene.RoleColour(uint8(regions[v.Like].Role))
		case by == "busy" && v.Name == "busy":
			p.colour = scene.RoleColour(uint8(trace.RoleCompute))
		case by == "busy":
			p.colour = scene.RoleColour(uint8(trace.RoleIdle))
		default:
			p.colour = colours.Of(&regions[v.Like])
		}
		r.variables = append(r.variables, p)
	}
	if r.request.Values.Text("paper") == "true" && list[0].Like != trace.NoRegion {
		r.paperColours()
	}
	return nil
}

// paperColours are green for the first of two states and red for the second.
func (r *result) paperColours() {
	states := 0
	for x := range r.variables {
		if r.variables[x].Instant {
			continue
		}
		states++
		r.variables[x].colour = scene.PaperGreen
		if x > 0 {
			r.variables[x].colour = scene.PaperRed
		}
	}
	if states > 2 {
		r.notes = append(r.notes, "the paper's colours tell the largest state (green) from all others (red)")
	}
}
