package view

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
)

// Calls are which calls a view of distributions reads.
type Calls struct {
	Nodes   []callgraph.Node
	Match   *callgraph.Matcher
	Options callgraph.Options
}

// Calls reads --by, --collapse, --caller and --path. The metric and the meaning of a point (--over) choose what is
// measured of a call. Calls without an end are left out; the note says how many.
func (r *Request) Calls(ctx context.Context, metric, over string) (c Calls, note string, err error) {
	s, v := r.Store(), r.Values
	var of []int32
	c.Nodes, of, err = callgraph.Collapsed(s.Regions(), v.Text("by") == "categories", v.Patterns("collapse"),
		RegionPattern)
	if err != nil {
		return c, "", err
	}
	c.Options = callgraph.Options{Node: of, Nodes: len(c.Nodes), Measure: callgraph.Exclusive,
		Innermost: metric == "exclusive"}
	switch {
	case metric == "calls" || over == "locations":
		c.Options.Measure = callgraph.Totals
	case metric == "inclusive":
		c.Options.Measure = callgraph.Inclusive
	}
	c.Match = &callgraph.Matcher{Nodes: c.Nodes, Regions: s.Regions(), Compile: RegionPattern}
	if err = c.Match.Choose(&c.Options, r.Selection.Regions, v.Patterns("caller"), v.Text("path")); err != nil {
		return c, "", err
	}
	c.Options.Skip, note, err = runfacts.LeaveOpen(ctx, s, r.Window())
	return c, note, err
}

// BlocksNote describes the compared blocks if locations are too many for n of something each.
func BlocksNote(b *runfacts.Blocks, what string) string {
	where := "runs of neighbours"
	if b.Level {
		where = "places of the tree"
	}
	return fmt.Sprintf("%s are similar, and too many for %s each: %s are compared instead, %d in all",
		Count(len(b.Of), "location"), what, where, len(b.Members))
}
