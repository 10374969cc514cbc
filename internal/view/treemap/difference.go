package treemap

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"github.com/parallax-hpc/parallax/internal/analysis/ranks"
	"github.com/parallax-hpc/parallax/internal/analysis/variable"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// difference returns the values of two runs as the common part, the surplus of the second
// and its deficit, for each state: a cell's area is all of it, and the best cut aggregates
// where locations changed alike.
func (r *result) difference(ctx context.Context) ([][]float64, error) {
	q := r.request
	sides := [2]*result{{request: q.First()}, {request: q.Second()}}
	var values [2][][]float64
	by, err := r.commonStates(ctx)
	if err != nil {
		return nil, err
	}
	for k, s := range sides {
		s.labelled = &labelled{scale: r.scale, hierarchy: r.hierarchy, tree: r.tree}
		if k == 1 {
			grouped, err := hierarchyOf(ctx, s.request, view.Arranged{})
			if err != nil {
				return nil, &view.BesideError{Run: q.Runs[k].Name, Err: err}
			}
			s.hierarchy = grouped.Hierarchy
			s.tree = &entropy.Tree{Parent: s.hierarchy.Parent, Last: s.hierarchy.Last}
		}
		if values[k], err = s.values(ctx, by); err != nil {
			return nil, &view.BesideError{Run: q.Runs[k].Name, Err: err}
		}
		for _, v := range s.variables {
			if v.Instant {
				return nil,
					fmt.Errorf("--values %s: instants of two runs are not compared; choose states, a counter or a "+
						"metric", by)
			}
		}
		for _, n := range s.notes {
			r.notes = append(r.notes, q.Runs[k].Name+": "+n)
		}
	}
	r.unit, r.unitName, r.mean = sides[0].unit, sides[0].unitName, sides[0].mean
	return r.subtract(sides, values)
}

// commonStates is --values, or the states that suit both runs: roles if one of them has many
// regions.
func (r *result) commonStates(ctx context.Context) (string, error) {
	q := r.request
	if by := q.Values.Text("values"); by != "" {
		return by, nil
	}
	for _, one := range []*view.Request{q.First(), q.Second()} {
		by, err := variable.Usual(ctx, one.Store())
		if err != nil || by == "roles" {
			return by, err
		}
	}
	return "regions", nil
}

// subtract makes the variables of both sides those of their difference.
func (r *result) subtract(sides [2]*result, values [2][][]float64) ([][]float64, error) {
	q := r.request
	pairs := ranks.Pair(q.Runs[0].Store, q.Runs[1].Store)
	if note := view.PairingNote(pairs, q.Runs[0].Name, q.Runs[1].Name); note != "" {
		r.notes = append(r.notes, note)
	}
	nodes := r.tree.Len()
	r.variables = []painted{{colour: scene.UIAggregate, Variable: variable.Variable{Name: "in both",
		Region: trace.NoRegion, Like: trace.NoRegion}}}
	out := [][]float64{make([]float64, nodes)}
	place := map[string]int{}
	for _, s := range sides {
		for _, v := range s.variables {
			if _, ok := place[v.Name]; ok {
				continue
			}
			place[v.Name] = len(out)
			more, less := v, v
			more.Name, less.Name, less.flag = v.Name+", more in "+q.Runs[1].Name, v.Name+", less in "+q.Runs[1].Name,
				scene.Hatched
			if s == sides[1] {
				more.Region, less.Region = trace.NoRegion, trace.NoRegion // numbers of another run
			}
			r.variables = append(r.variables, more, less)
			out = append(out, make([]float64, nodes), make([]float64, nodes))
		}
	}
	scale := sides[1].unit / sides[0].unit
	var paired, all [2]int
	taken := make([]bool, sides[1].tree.Len())
	both := make([][2]float64, len(out)) // of a leaf, by place
	for i := range nodes {
		id := r.hierarchy.Location[i]
		if !r.tree.Leaf(i) || id == trace.NoLocation {
			continue
		}
		there := int32(-1)
		if to := pairs.To[id]; to != trace.NoLocation {
			there = sides[1].hierarchy.LeafOf[to]
		}
		all[0]++
		if there >= 0 {
			paired[0]++
			taken[there] = true
		}
		clear(both)
		for x, v := range sides[0].variables {
			both[place[v.Name]][0] = values[0][x][i]
		}
		if there >= 0 {
			for x, v := range sides[1].variables {
				both[place[v.Name]][1] = values[1][x][there] * scale
			}
		}
		for x := 1; x < len(out); x += 2 {
			a, b := both[x][0], both[x][1]
			out[0][i] += min(a, b)
			out[x][i], out[x+1][i] = max(b-a, 0), max(a-b, 0)
		}
	}
	for i := range taken {
		if sides[1].tree.Leaf(i) {
			if all[1]++; taken[i] {
				paired[1]++
			}
		}
	}
	if paired[0] == 0 {
		return nil,
			fmt.Errorf("no location of %s is one of %s, by rank or by path; the view compare holds whole runs "+
				"against each other", q.Runs[0].Name, q.Runs[1].Name)
	}
	for k, n := range paired {
		if miss := all[k] - n; miss > 0 {
			text := "%s of %s is none of %s, and counts as less"
			if k == 1 {
				text = "%s of %s is none of %s, and is not shown"
			}
			r.notes = append(r.notes, fmt.Sprintf(text, view.Count(miss, "location"), q.Runs[k].Name, q.Runs[1-k].Name))
		}
	}
	r.notes = append(r.notes,
		fmt.Sprintf("%s less %s: a full colour is more of a state in %s, a hatched one less; areas are what both "+
			"have and what differs", q.Runs[1].Name, q.Runs[0].Name, q.Runs[1].Name))
	return out, nil
}
