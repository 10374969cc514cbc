package view

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Colours are those of the regions of a run, or of several that are shown together. They are given once, to
// the regions with the most time first, so all views of a run agree, whatever is selected.
type Colours struct {
	giver    scene.Giver
	services map[trace.LocationID]scene.Colour // of the first run
}

// Of returns the colour of a region.
func (c *Colours) Of(g *trace.Region) scene.Colour { return c.Named(g.Name, g.Role) }

// Named is the colour of all regions of a name; one that has none looks like its role.
func (c *Colours) Named(name string, role trace.Role) scene.Colour {
	colour, _ := c.giver.Given(name, uint8(role))
	return colour
}

// mostColoured is the number of runs that are looked at for their regions; those of further ones are mostly the same.
const mostColoured = 16

// Colours assigns colours to the regions of all runs of the request. Those of the first run are as if it
// were alone; regions that only others have come after them.
func (q *Request) Colours(ctx context.Context) (*Colours, error) {
	runs := q.Runs
	if q.together != nil {
		runs = q.together
	}
	if len(runs) == 1 {
		return ColoursOf(ctx, &runs[0])
	}
	if q.together != nil && len(runs) == 2 { // asked for each picture of a panel
		return derived.Keep(runs[1].Cache, "colours beside "+nameOf(&runs[0]), (*Colours).sizeBytes,
			func() (*Colours, error) { return newColours(ctx, runs) })
	}
	return newColours(ctx, runs[:min(len(runs), mostColoured)])
}

// ColourAs gives regions the colours that they have in another run; those that only this run has come after them.
func (q *Request) ColourAs(other Run) {
	q.together = append([]Run{other}, q.Runs...)
}

// nameOf tells a run from others of its name, and from what it was before it grew.
func nameOf(r *Run) string {
	info := r.Store.Info()
	return fmt.Sprintf("%q %d %d %d", r.Name, r.Store.Generation(), info.Intervals, info.End)
}

func (c *Colours) sizeBytes() int64 { return 96 * int64(c.giver.Len()) }

// ColoursOf assigns colours to the regions of a run.
func ColoursOf(ctx context.Context, r *Run) (*Colours, error) {
	return derived.Keep(r.Cache, "colours", (*Colours).sizeBytes,
		func() (*Colours, error) {
			return newColours(ctx, []Run{*r})
		})
}

func newColours(ctx context.Context, runs []Run) (*Colours, error) {
	c := &Colours{}
	weights := make([][]float64, len(runs))
	var used [trace.RoleCount]bool
	for i := range runs {
		var err error
		if weights[i], err = regionWeights(ctx, runs[i].Store); err != nil {
			return nil, err
		}
		for id, w := range weights[i] {
			used[runs[i].Store.Regions()[id].Role] = used[runs[i].Store.Regions()[id].Role] || w > 0
		}
	}
	for role := 1; role < trace.RoleCount; role++ {
		if !used[role] {
			c.giver.Lend(uint8(role))
		}
	}
	if err := c.giveServices(ctx, runs[0].Store); err != nil {
		return nil, err
	}
	for i := range runs {
		if err := c.give(ctx, runs[i].Store, weights[i]); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// give goes through the regions of a run, most time first.
func (c *Colours) give(ctx context.Context, s store.Reader, weights []float64) error {
	regions := s.Regions()
	order := make([]trace.RegionID, len(regions))
	for i := range order {
		order[i] = trace.RegionID(i)
	}
	whole := map[string]float64{} // of all regions of a name
	for id, g := range regions {
		whole[g.Name] += weights[id]
	}
	slices.SortFunc(order, func(a, b trace.RegionID) int {
		return cmp.Or(cmp.Compare(whole[regions[b].Name], whole[regions[a].Name]),
			cmp.Compare(regions[a].Name, regions[b].Name), cmp.Compare(weights[b], weights[a]), cmp.Compare(a, b))
	})
	var next neighbours
	if len(regions) > leastChoices {
		var err error
		if next, err = findNeighbours(ctx, s); err != nil {
			return err
		}
	}
	var taken, near []scene.Colour // by services, by these and neighbours
	for _, s := range c.services {
		taken = append(taken, scene.Near(s)...)
	}
	for _, id := range order {
		near = append(near[:0], taken...)
		for other := range next[id] {
			if n, ok := c.giver.Given(regions[other].Name, uint8(regions[other].Role)); ok {
				near = append(near, n)
			}
		}
		c.giver.Give(regions[id].Name, uint8(regions[id].Role), near)
	}
	return nil
}

// leastChoices is how many regions have colours of their own, whatever their roles are.
var leastChoices = func() int {
	least := scene.Choices(uint8(trace.RoleCompute))
	for role := 1; role < trace.RoleCount; role++ {
		least = min(least, scene.Choices(uint8(role)))
	}
	return least
}()

// regionWeights is the exclusive time of each region in the whole run, or the metric that stands for time in
// a profile.
func regionWeights(ctx context.Context, s store.Reader) ([]float64, error) {
	out := make([]float64, len(s.Regions()))
	if s.Info().Timed() {
		t, err := store.TotalTime(ctx, s, store.Window{End: s.Info().End})
		if errors.Is(err, store.ErrOutline) {
			return alikeWeights(out), nil
		}
		if err != nil {
			return nil, err
		}
		for i, id := range t.Region {
			out[id] += t.Exclusive[i].Float64()
		}
	}
	if s.Info().Timed() || s.Info().Profile == 0 {
		return out, nil
	}
	rows, err := store.ProfileTotals(ctx, s)
	if errors.Is(err, store.ErrOutline) {
		return alikeWeights(out), nil
	}
	if err != nil {
		return nil, err
	}
	metric, paths := runfacts.DefaultMetric(s.Metrics()), s.CallPaths()
	for _, x := range rows {
		if x.Metric == metric {
			out[paths[x.Path].Region] += x.Exclusive
		}
	}
	return out, nil
}

// alikeWeights gives all regions the same weight: an outline does not tell their times.
func alikeWeights(weights []float64) []float64 {
	for i := range weights {
		weights[i] = 1
	}
	return weights
}

// neighbours says which regions are drawn side by side: caller and callee, and calls that follow each other.
type neighbours map[trace.RegionID]map[trace.RegionID]bool

func (n neighbours) add(a, b trace.RegionID) {
	if a == b || n[a][b] {
		return
	}
	for _, pair := range [2][2]trace.RegionID{{a, b}, {b, a}} {
		if n[pair[0]] == nil {
			n[pair[0]] = map[trace.RegionID]bool{}
		}
		n[pair[0]][pair[1]] = true
	}
}

// Neighbours are looked for in so many calls of so many locations, so that it takes no longer in large runs.
const (
	mostSampledLocations = 8
	mostSampledCalls     = 1 << 16
)

// findNeighbours looks at the call paths of a profile, or at the first calls of locations all over the tree.
func findNeighbours(ctx context.Context, s store.Reader) (neighbours, error) {
	n := neighbours{}
	paths := s.CallPaths()
	for _, p := range paths {
		if int(p.Parent) < len(paths) {
			n.add(paths[p.Parent].Region, p.Region)
		}
	}
	var holders []trace.LocationID
	tree := s.Locations()
	for id, holds := range tree.Holds {
		if holds && int(tree.Last[id]) == id {
			holders = append(holders, trace.LocationID(id))
		}
	}
	enough := errors.New("enough calls")
	for k := range min(len(holders), mostSampledLocations) {
		id := holders[k*len(holders)/min(len(holders), mostSampledLocations)]
		calls := 0
		w := store.Window{End: s.Info().End, Locations: []trace.LocationID{id}}
		err := s.Intervals(ctx, w, func(c *trace.Columns) error {
			n.addCalls(c)
			if calls += c.Len(); calls >= mostSampledCalls {
				return enough
			}
			return nil
		})
		if err != nil && !errors.Is(err, enough) {
			return nil, err
		}
	}
	return n, nil
}

// addCalls adds callers with callees, and successive calls of one caller, in a batch of
// rows.
func (n neighbours) addCalls(c *trace.Columns) {
	last := map[int32]trace.RegionID{} // the call before, of each parent
	for i := range c.Len() {
		parent := c.Parent[i]
		if at := int(parent) - c.First; at >= 0 && at < c.Len() {
			n.add(c.Region[at], c.Region[i])
		}
		if before, ok := last[parent]; ok {
			n.add(before, c.Region[i])
		}
		last[parent] = c.Region[i]
	}
}
