package callgraph

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Collapsed is Nodes with some sets of regions as one node each, among the others as they
// are: a category that is of no interest need not hide the rest. The first pattern that a
// region matches takes it.
func Collapsed(regions []trace.Region, byCategory bool, patterns []string,
	compile func(string) (func(trace.RegionID, *trace.Region) bool, error)) ([]Node, []int32, error) {
	nodes, of := Nodes(regions, byCategory)
	if len(patterns) == 0 {
		return nodes, of, nil
	}
	set := make([]int, len(regions)) // the pattern of each region, from 1
	count := make([]int, len(patterns))
	for k, p := range patterns {
		match, err := compile(p)
		if err != nil {
			return nil, nil, fmt.Errorf("--collapse: %w", err)
		}
		for id := range regions {
			if set[id] == 0 && match(trace.RegionID(id), &regions[id]) {
				set[id] = k + 1
				count[k]++
			}
		}
		if count[k] == 0 {
			return nil, nil, fmt.Errorf("--collapse %q matches no region", p)
		}
	}
	// Regions of one name stay together: the node goes where its first region goes.
	var out []Node
	place := make([]int32, len(nodes))
	at := make([]int32, len(patterns))
	for i := range at {
		at[i] = -1
	}
	for n := range nodes {
		k := set[nodes[n].Regions[0]] - 1
		switch {
		case k < 0:
			place[n] = int32(len(out))
			out = append(out, nodes[n])
		case at[k] < 0:
			at[k] = int32(len(out))
			place[n] = at[k]
			out = append(out,
				Node{Name: collapsedName(patterns[k]), Category: nodes[n].Category, Role: nodes[n].Role,
					Regions: nodes[n].Regions})
		default:
			place[n] = at[k]
			out[at[k]].Regions = append(out[at[k]].Regions[:len(out[at[k]].Regions):len(out[at[k]].Regions)],
				nodes[n].Regions...)
		}
	}
	for id := range of {
		of[id] = place[of[id]]
	}
	return out, of, nil
}

// collapsedName names collapsed regions, unlike any region's own name.
func collapsedName(pattern string) string {
	for _, kind := range []string{"category:", "role:"} {
		if name, ok := strings.CutPrefix(pattern, kind); ok {
			return "[" + name + "]"
		}
	}
	return "[" + pattern + "]"
}
