package grouping

import (
	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Order lists locations, which ascend, so that those that behave alike are next to
// each other: order[k] is the place of the k-th. It tells how many groups there are.
func Order(regions []trace.Region, locations []trace.LocationID, scan callgraph.Scan) (order []int32, groups int, err error) {
	nodes, node := callgraph.Nodes(regions, false)
	table, err := Scan(&callgraph.Plan{Options: callgraph.Options{Node: node, Nodes: len(nodes)}, Locations: locations}, scan)
	if err != nil {
		return nil, 0, err
	}
	g := Group(table, Options{By: Both, Seed: 1})
	return g.ByGroup(), len(g.Members), nil
}
