package store

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A RoleRun is time that a location is in a role: Time within the bin First, or, where
// Last is beyond it, all of the bins First … Last, and then Time says nothing.
type RoleRun struct {
	First, Last int32
	Role        trace.Role
	Time        trace.Time
}

// A RoleRunner is a Reader that can give role times of many locations one by one,
// without a query for each.
type RoleRunner interface {
	RoleRuns(ctx context.Context, locations []trace.LocationID, edges []trace.Time,
		f func(k int, runs []RoleRun) error) error
}

// RoleRuns returns the time of each of the locations by itself, without those below it,
// per role, from each edge to the next. f is called for one location after the other
// with all that is not zero; no bin of a role is in two runs. The runs are f's until it returns.
func RoleRuns(ctx context.Context, r Reader, locations []trace.LocationID, edges []trace.Time,
	f func(k int, runs []RoleRun) error) error {
	if t, ok := r.(RoleRunner); ok {
		return t.RoleRuns(ctx, locations, edges, f)
	}
	var runs []RoleRun
	var times []trace.Time
	tree := r.Locations()
	for k, id := range locations {
		own, err := r.RoleTime(ctx, []trace.LocationID{id}, edges)
		if err != nil {
			return err
		}
		if tree.Last[id] > id {
			var below []trace.LocationID
			for c := id + 1; c <= tree.Last[id]; c = tree.Last[c] + 1 {
				below = append(below, c)
			}
			others, err := r.RoleTime(ctx, below, edges)
			if err != nil {
				return err
			}
			for i, t := range others {
				own[i] = own[i].Minus(t)
			}
		}
		times = times[:0]
		for _, t := range own {
			times = append(times, t.Time()) // of one location: at most the bin
		}
		runs = AppendRoleRuns(runs[:0], times)
		if err := f(k, runs); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// AppendRoleRuns appends the times of one location that are not zero, which are at bin*trace.RoleCount + role.
func AppendRoleRuns(runs []RoleRun, times []trace.Time) []RoleRun {
	for i, t := range times {
		if t != 0 {
			bin := int32(i / trace.RoleCount)
			runs = append(runs, RoleRun{First: bin, Last: bin, Role: trace.Role(i % trace.RoleCount), Time: t})
		}
	}
	return runs
}

// RoleTimes writes the result of RoleRuns in full: the time of the k-th location in bin b is at
// [(k*bins+b)*trace.RoleCount + role]. Nothing outside the edges counts.
func RoleTimes(ctx context.Context, r Reader, locations []trace.LocationID, edges []trace.Time) ([]trace.Time, error) {
	bins := max(len(edges)-1, 0)
	out := make([]trace.Time, len(locations)*bins*trace.RoleCount)
	if len(out) == 0 {
		return out, ctx.Err()
	}
	err := RoleRuns(ctx, r, locations, edges, func(k int, runs []RoleRun) error {
		for _, x := range runs {
			at := (k*bins+int(x.First))*trace.RoleCount + int(x.Role)
			if x.First == x.Last {
				out[at] += x.Time
				continue
			}
			for b := x.First; b <= x.Last; b++ {
				out[at] += edges[b+1] - edges[b]
				at += trace.RoleCount
			}
		}
		return nil
	})
	return out, err
}
