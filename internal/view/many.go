package view

import (
	"context"
	"errors"

	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// manyLocations is how many a run has from which on results about all of them are kept next to the store.
const manyLocations = 1 << 13

// HasMany reports whether a run has so many locations that a view of all would wait for results about them.
func HasMany(s store.Reader) bool { return s.Locations().Len() >= manyLocations }

// alike are the units of a run by how they behave, as `--arrange groups` compares them.
type alike struct{ Order, Of []int32 } // as GroupFinder returns them

var errNoOrder = errors.New("it is no order of units in groups")

func (a *alike) check(store.Reader) error {
	n := len(a.Order)
	if len(a.Of) != n {
		return errNoOrder
	}
	seen := make([]bool, n)
	for i, u := range a.Order {
		if u < 0 || int(u) >= n || seen[u] || a.Of[i] < 0 || int(a.Of[i]) >= n {
			return errNoOrder
		}
		seen[u] = true
	}
	return nil
}

// AlikeOfRun is the result of comparing all units of a run.
func AlikeOfRun(find GroupFinder) derived.Derived[*alike] {
	return derived.Derived[*alike]{Name: "alike", Version: 1, Keeps: HasMany, Restore: (*alike).check,
		Make: func(ctx context.Context, run *Run) (*alike, error) {
			c, err := usualArranging().compared(ctx, run.Store)
			if err != nil || len(c.units) == 0 {
				return &alike{}, err
			}
			order, of, err := find(c.behaviour, usualArranging().Likeness)
			return &alike{order, of}, err
		}}
}

// scores say how much the groupings of a run explain.
type scores struct {
	Names  []string
	Values []float64
	Ranked bool // else the run has no ranks, or too many
}

func (s *scores) check(store.Reader) error {
	if len(s.Names) == 0 || len(s.Names) != len(s.Values) {
		return errors.New("it has no score for each grouping")
	}
	return nil
}

// ScoresOfRun is the result of comparing the groupings of a run.
func ScoresOfRun(find GroupingFinder) derived.Derived[*scores] {
	return derived.Derived[*scores]{Name: "groupings", Version: 2, Keeps: HasMany, Restore: (*scores).check,
		Make: func(ctx context.Context, run *Run) (*scores, error) {
			g, err := groupingsOf(ctx, run, find)
			if err != nil {
				return nil, err
			}
			out := &scores{Ranked: g.ranks != nil}
			for i := range g.found {
				out.Names, out.Values = append(out.Names, g.found[i].Name), append(out.Values, g.found[i].Score)
			}
			return out, nil
		}}
}

// A comparison is the units of a run that are compared, and how they behave.
type comparison struct {
	holders, units []trace.LocationID
	of             []int32 // the unit of each holder
	behaviour      *trace.Behaviour
}
