package view

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Holders returns the selected locations that have values, ascending, and which of all have some. It is an EmptyError
// if no time is selected or none of them has values; of names the values.
func (r *Request) Holders(ctx context.Context, of string) (chosen []trace.LocationID, holds []bool, err error) {
	if err := r.checkTime(); err != nil {
		return nil, nil, err
	}
	if holds, err = runfacts.Holders(ctx, r.Store()); err != nil {
		return nil, nil, err
	}
	chosen = runfacts.Chosen(r.Store().Locations(), r.Selection.Locations, holds)
	if len(chosen) == 0 {
		return nil, nil, Empty("choose other locations", "no location with %s in the selection", of)
	}
	return chosen, holds, nil
}

// A Roster is the compared items of a view: units, which are locations, or ranks in place of all of theirs.
type Roster struct {
	Holders []trace.LocationID // that hold calls, ascending
	UnitOf  []int32            // of each holder: its place in Units
	Units   []trace.LocationID
	Names   []string // of units
}

// Roster returns the units of the selection that have calls, by --group. The note says what joins them.
func (r *Request) Roster(ctx context.Context, each string) (x Roster, notes []string, err error) {
	if x.Holders, _, err = r.Holders(ctx, "calls"); err != nil {
		return x, nil, err
	}
	tree := r.Store().Locations()
	if x.Units, x.UnitOf, err = runfacts.Units(tree, x.Holders, r.Values.Text("group")); err != nil {
		return x, nil, err
	}
	if x.Joined() {
		notes = []string{fmt.Sprintf("%s are taken together by rank; --group locations %s each",
			Count(len(x.Holders), "location"), each)}
	}
	x.Names = runfacts.UnitNames(tree, x.Units)
	return x, notes, nil
}

// Joined reports whether some units are several locations.
func (x *Roster) Joined() bool { return len(x.Units) < len(x.Holders) }
