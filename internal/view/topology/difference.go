package topology

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/proposal"
	"github.com/parallax-hpc/parallax/internal/analysis/ranks"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// subtract draws the first of two runs, coloured by how much more each location has in the second. Locations are those
// of ranks.Pair; locations that the second run does not have are not drawn.
func subtract(ctx context.Context, q *view.Request) (view.Result, error) {
	first, second := q.First(), q.Second()
	if !q.Values.Set("palette") {
		first.Values = first.Values.With("palette", "diverging")
	}
	sides := [2]*result{}
	for k, one := range []*view.Request{first, second} {
		r, err := compute(ctx, one)
		if err != nil {
			return nil, &view.BesideError{Run: q.Runs[k].Name, Err: err}
		}
		sides[k] = r.(*result)
	}
	r, other := sides[0], sides[1]
	if !r.showsAs(other) || len(r.points) != len(other.points) {
		return nil, fmt.Errorf("the runs are not coloured by one value: %s is by %s, %s by %s; choose --event0 or "+
			"--layout", q.Runs[0].Name, r.colour().label, q.Runs[1].Name, other.colour().label)
	}
	pair := ranks.Pair(q.Store(), q.Runs[1].Store)
	r.colourBy(other, pair.To)
	a, b := q.Runs[0].Name, q.Runs[1].Name
	shade := *r.colour()
	shade.label, shade.values = fmt.Sprintf("%s, %s less %s", shade.label, b, a), r.points[0].Color
	r.shade, r.less, r.unplaced = &shade, b+" less "+a, 0
	r.notes = append(r.before, "colours are what "+b+" has more than "+a) // filter writes those before them anew
	if note := view.PairingNote(pair, a, b); note != "" {
		r.notes = append(r.notes, note)
	}
	if err := r.filter(); err != nil {
		return nil, err
	}
	if r.option("range") == "" { // nothing is in the middle
		r.hi = max(r.hi, -r.lo)
		r.lo = -r.hi
	}
	return r, nil
}

// colourBy colours by how much more the location of another run has.
func (r *result) colourBy(other *result, to []trace.LocationID) {
	at := make(map[trace.LocationID]int, len(other.location))
	for i, id := range other.location {
		at[id] = i
	}
	for k := range r.points {
		colour := make([]float64, len(r.location))
		for i, id := range r.location {
			colour[i] = math.NaN()
			if n, ok := at[to[id]]; ok {
				colour[i] = other.points[k].Color[n] - r.points[k].Color[i]
			}
		}
		r.points[k].Color = colour
	}
}

// showsAs reports whether colours show the same value of two runs: the same one that was asked for, or that both begin
// with.
func (r *result) showsAs(other *result) bool {
	a, b := r.colour(), other.colour()
	return a.unit == b.unit && (a.by != "" || b.by != "" || a.text == b.text)
}

// Settle implements view.Chooser: a second run of as many ranks has the layout of the first, if it suggests the same
// one, or is on the grid that the first has by its messages. Its own may be another one, in which no point would be
// where the same rank is in the first.
func (r *result) Settle(second *view.Request) {
	if r.request.Values.Text("layout") != "" || r.cray != nil {
		return
	}
	if name, ok := r.sharedWith(second); ok {
		second.Values = second.Values.With("layout", name)
		return
	}
	grid := &r.proposed.layouts[0]
	if grid.Kind != proposal.Grid || len(grid.Dims) > 3 ||
		second.Store().Info().Ranks != len(grid.Places) || len(r.location) != len(grid.Places) {
		return
	}
	sides := [3]int{1, 1, 1}
	copy(sides[:], grid.Dims)
	for rank, at := range grid.Places {
		x, y, z := rank%sides[0], rank/sides[0]%sides[1], rank/sides[0]/sides[1]
		if at[0] != x || at[1] != y || len(at) > 2 && at[2] != z {
			return // not in order of rank
		}
	}
	second.Values = second.Values.With("layout", fmt.Sprintf("fill:%dx%dx%d", sides[0], sides[1], sides[2]))
}

// sharedWith returns the name of this run's first layout if another run suggests the same one.
func (r *result) sharedWith(other *view.Request) (name string, ok bool) {
	first := &r.proposed.layouts[0]
	if name = r.proposed.names(r.coordinateName())[0]; first.Kind == proposal.Coordinates {
		t := other.Store().Topologies()
		return name, len(t) > 0 && name != "" && t[0].Name == name && slices.Equal(t[0].Dims, r.topologies()[0].Dims)
	}
	found, err := LayoutsOfRun.Of(context.Background(), &other.Runs[0])
	if err != nil {
		return "", false
	}
	for k := range found.Found {
		if l := &found.Found[k]; nameOf(l) == name && slices.Equal(l.Dims, first.Dims) {
			return name, true
		}
	}
	return "", false
}

// ShareScale implements view.Scaled: colours mean the same in both runs where they show the same.
func (r *result) ShareScale(second view.Result) {
	other := second.(*result)
	if r.option("range") != "" || !r.showsAs(other) {
		return
	}
	r.lo, r.hi = min(r.lo, other.lo), max(r.hi, other.hi)
	other.lo, other.hi = r.lo, r.hi
}
