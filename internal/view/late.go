package view

import (
	"context"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/callsums"
)

// ManyOwners is from how many locations on the rows of callgraph.Gather stay in the store: a picture needs sums of
// them, and 16 million rows take 2 GB. Tests take fewer.
var ManyOwners = 1 << 13

// LateRows are rows of calls that stay in the store until they are asked for. Nil holds none.
type LateRows struct {
	n      int
	plan   func() *callgraph.Plan
	scan   callgraph.Scan
	failed error
}

// GatherLate gathers the calls of a plan into sums; also gets the rows too, some owners at a time.
func GatherLate(ctx context.Context, q *Request, plan *callgraph.Plan, sums *callsums.Table,
	also func([]callgraph.Row)) (*LateRows, error) {
	x := &LateRows{scan: q.Digests(context.WithoutCancel(ctx), callgraph.DigestName)}
	options, locations, owner, owners := plan.Options, plan.Locations, plan.Owner, plan.Owners
	begin, end := plan.Begin, plan.End
	x.plan = func() *callgraph.Plan {
		return &callgraph.Plan{Options: options, Locations: locations, Owner: owner, Owners: owners, Begin: begin,
			End: end}
	}
	sums.Owners = len(locations)
	plan.Shapes = false // they are of boxes
	err := callgraph.GatherEach(plan, q.Digests(ctx, callgraph.DigestName), func(rows []callgraph.Row) {
		x.n += len(rows)
		sums.Add(rows)
		also(rows)
	})
	plan.Shapes = options.Shapes
	return x, err
}

// Len returns the number of rows.
func (x *LateRows) Len() int {
	if x == nil {
		return 0
	}
	return x.n
}

// Failed returns the error of reading them.
func (x *LateRows) Failed() error {
	if x == nil {
		return nil
	}
	return x.failed
}

// First returns the first rows in the order of owners, at least so many as are wanted.
func (x *LateRows) First(most int) []callgraph.Row {
	if most >= x.n {
		return x.Read(nil)
	}
	all := len(x.plan().Locations)
	for n := most; ; n *= 2 { // owners: each has some rows, if any
		owners := make([]int32, min(n, all))
		for i := range owners {
			owners[i] = int32(i)
		}
		if rows := x.Read(owners); len(rows) >= most || n >= all || x.failed != nil {
			return rows
		}
	}
}

// Read returns rows in the order of owners: all, or those of some owners, which ascend. Where it fails, see Failed,
// there are none.
func (x *LateRows) Read(owners []int32) []callgraph.Row {
	plan := x.plan()
	chosen := owners != nil && plan.Owner == nil // else it reads all, since an owner is several locations
	if chosen {
		all := plan.Locations
		plan.Locations = nil
		for _, owner := range owners {
			plan.Locations = append(plan.Locations, all[owner])
		}
	}
	rows, err := callgraph.Gather(plan, x.scan)
	if err != nil {
		x.failed = err
		return nil
	}
	if chosen {
		for i := range rows {
			rows[i].Owner = owners[rows[i].Owner]
		}
	} else if owners != nil {
		rows = slices.DeleteFunc(rows, func(r callgraph.Row) bool {
			_, in := slices.BinarySearch(owners, r.Owner)
			return !in
		})
	}
	return rows
}
