package kaleidoscope

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A told is what JSON and table tell of drawn calls besides their places, and of regions. It takes a look at every
// call, in the store where calls stay there.
type told struct {
	number, made, expects []int32 // of each node as drawn
	regions               []invocation.Makes
}

// tell looks at every call. Where calls stay in the store they are gone through once, and none is kept.
func (r *result) tell() (*told, error) {
	goals := r.goals()
	if !r.forest.calls.OfRows() {
		return r.tellKept(goals), nil
	}
	var nodes, items []int32
	for i := range r.items { // in the order of nodes
		if !r.items[i].Merged {
			nodes, items = append(nodes, r.origin[i]), append(items, int32(i))
		}
	}
	s, err := r.forest.calls.Survey(context.Background(), nodes, r.until, len(r.forest.regions))
	if err != nil {
		return nil, err
	}
	n := len(r.items)
	t := &told{make([]int32, n), make([]int32, n), make([]int32, n), s.Regions}
	for k, i := range items {
		t.number[i], t.made[i], t.expects[i] = s.Number[k], s.Made[k], s.Late[k]
		if names, known := goals[r.nodes[i].Region]; known {
			t.expects[i] = max(s.Late[k], int32(len(names))-(s.Made[k]-s.Late[k]))
		}
	}
	return t, nil
}

// tellKept does for calls in memory.
func (r *result) tellKept(goals map[trace.RegionID][]string) *told {
	c := r.forest.calls
	_, made := r.forest.counts()
	expects := r.expects(made, goals)
	t := &told{regions: make([]invocation.Makes, len(r.forest.regions))}
	for i := range r.layout.Tree.Len() {
		node := r.node(i)
		t.number, t.made = append(t.number, c.Number(node)), append(t.made, made[node])
		t.expects = append(t.expects, expects[node])
	}
	for i, region := range c.Region {
		if region != trace.NoRegion {
			t.regions[region].Add(made[i])
		}
	}
	return t
}

// expects counts, for each node of the forest, the calls that it has not made yet: those that it made later, or as many
// as its source names and it had not made.
func (r *result) expects(made []int32, goals map[trace.RegionID][]string) []int32 {
	c := r.forest.calls
	out := make([]int32, c.Len())
	for i, p := range c.Tree.Parent {
		if p >= 0 && c.Begin[i] > r.until {
			out[p]++
		}
	}
	if len(goals) == 0 {
		return out
	}
	for i, region := range c.Region {
		if names, known := goals[region]; known {
			out[i] = max(out[i], int32(len(names))-(made[i]-out[i]))
		}
	}
	return out
}
