package table

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A busyRow is a row of busy.
type busyRow struct {
	*Run
	location   trace.LocationID
	path       string
	begin, end trace.Time
	roles      []trace.Time
}

func (x *busyRow) busy() (sum trace.Time) {
	for role, t := range x.roles {
		if trace.Role(role).Busy() {
			sum += t
		}
	}
	return sum
}

func ofRole(role trace.Role) column[busyRow] {
	return integer(role.String(), "ns", "time in this role", func(x *busyRow) int64 { return int64(x.roles[role]) })
}

// mostBins bounds how finely busy cuts time.
const mostBins = 1 << 20

var busy = function(scanned("busy",
	"Time of each location in each step of time, by role; each instant counts once. Busy is compute, io and copy.",
	func(r *Run) int64 { return int64(r.Store.Info().Rows) * 100 },
	[]column[busyRow]{
		narrow(integer("location", "", "its id; without the locations below it",
			func(x *busyRow) int64 { return int64(x.location) })),
		narrow(text("path", "of the location", func(x *busyRow) string { return x.path })),
		narrow(maybe("rank", "", "of the location", func(x *busyRow) (int64, bool) { return x.rank(x.location) })),
		integer("begin", "ns", "of the step", func(x *busyRow) int64 { return int64(x.begin) }),
		integer("end", "ns", "of the step", func(x *busyRow) int64 { return int64(x.end) }),
		integer("busy", "ns", "time in compute, io and copy", func(x *busyRow) int64 { return int64(x.busy()) }),
		ofRole(trace.RoleCompute), ofRole(trace.RoleCommunication), ofRole(trace.RoleSynchronization),
		ofRole(trace.RoleIdle),
		ofRole(trace.RoleIO), ofRole(trace.RoleCopy), ofRole(trace.RoleOverhead), ofRole(trace.RoleAnnotation),
		integer("none", "ns", "time with nothing open", func(x *busyRow) int64 {
			rest := x.end - x.begin
			for role, t := range x.roles {
				if trace.Role(role) != trace.RoleNone {
					rest -= t
				}
			}
			return int64(rest)
		}),
	}, scanBusy), []Column{
	{Name: "step", Kind: Integer, Unit: "ns", Help: "length of a step; left out or null: the whole window"},
	{Name: "from_time", Kind: Integer, Unit: "ns", Help: "begin of the window; left out or null: 0"},
	{Name: "to_time", Kind: Integer, Unit: "ns", Help: "end of the window; left out or null: the end of the run"},
})

func scanBusy(ctx context.Context, r *Run, f *Filter, to *rowsOf[busyRow]) error {
	whole := int64(r.Store.Info().End)
	begin, end := max(f.argument("from_time", 0), 0), min(f.argument("to_time", whole), whole)
	if begin >= end {
		return nil
	}
	step := f.argument("step", end-begin)
	if step <= 0 || (end-begin-1)/step+1 > mostBins {
		return fmt.Errorf("busy: a step of %d ns: want one above 0, of which at most %d fill the window", step,
			mostBins)
	}
	var edges []trace.Time
	for at := begin; at < end; at += step {
		edges = append(edges, trace.Time(at))
	}
	edges = append(edges, trace.Time(end))
	x := &busyRow{Run: r}
	return r.holding(ctx, f.locations(r, ""), func(some []trace.LocationID) error {
		return store.RoleRuns(ctx, r.Store, some, edges, func(k int, found []store.RoleRun) error {
			x.location, x.path = some[k], r.path(some[k])
			return addBusy(x, slices.Clone(found), edges, to)
		})
	})
}

// addBusy writes out the runs of one location, bin by bin.
func addBusy(x *busyRow, found []store.RoleRun, edges []trace.Time, to *rowsOf[busyRow]) error {
	slices.SortFunc(found, func(a, b store.RoleRun) int { return int(a.First) - int(b.First) })
	open := found[:0:0]
	next := 0
	for b := range int32(len(edges) - 1) {
		for ; next < len(found) && found[next].First == b; next++ {
			open = append(open, found[next])
		}
		x.begin, x.end = edges[b], edges[b+1]
		x.roles = append(x.roles[:0], make([]trace.Time, trace.RoleCount)...)
		for _, o := range open {
			if o.First == o.Last {
				x.roles[o.Role] += o.Time
			} else {
				x.roles[o.Role] += x.end - x.begin
			}
		}
		open = slices.DeleteFunc(open, func(o store.RoleRun) bool { return o.Last <= b })
		to.read(1)
		if err := to.add(x); err != nil {
			return err
		}
	}
	return nil
}
