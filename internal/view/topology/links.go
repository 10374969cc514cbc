package topology

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A traffic sums the messages between pairs of locations, both ways together.
type traffic struct {
	from, to []int // numbers of points
	amount   []float64
	part     []float32 // of the way that each line runs; nil: all of it
	most     float64
	unit     string // "bytes", or "count" where messages have no size
	pairs    int    // of all; more than are drawn
	between  string // the things that lines connect; "": points
}

// mostLinks is how many lines can be distinguished at all; those with the most are drawn.
const mostLinks = 6000

// readLinks adds up the messages between selected locations. A message of a thread is
// one of the point of the nearest location at or above it. O(links).
func (r *result) readLinks(ctx context.Context) error {
	if r.option("traffic") != "shown" {
		return nil
	}
	s := r.request.Store()
	tree := s.Locations()
	point := make(map[trace.LocationID]int, len(r.location))
	for i, id := range r.location {
		point[id] = i
	}
	number := make([]int32, tree.Len()) // of each location, or of the nearest above it
	for id := range number {
		number[id] = -1
		if up := tree.Parent[id]; up != trace.NoLocation {
			number[id] = number[up]
		}
		if i, ok := point[trace.LocationID(id)]; ok {
			number[id] = int32(i)
		}
	}
	type pair struct{ a, b int32 }
	sums := map[pair][2]int64{} // messages and bytes
	var lock sync.Mutex         // callbacks come from several goroutines
	timed, sel, end := s.Info().Timed(), r.request.Selection, r.request.Selection.End
	if end >= s.Info().End {
		end++ // links that start at the very end are part of the whole
	}
	err := s.Links(ctx, r.request.Window(), func(c *store.LinkColumns) error {
		lock.Lock()
		defer lock.Unlock()
		for i, kind := range c.Kind {
			a, b := number[c.FromLocation[i]], number[c.ToLocation[i]]
			if timed && !c.Untimed[i] && !(c.FromTime[i] >= sel.Begin && c.FromTime[i] < end) {
				continue // it counts where it starts, so that windows add up
			}
			if kind != trace.LinkMessage || a < 0 || b < 0 || a == b {
				continue
			}
			if a > b {
				a, b = b, a
			}
			v := sums[pair{a, b}]
			v[0], v[1] = v[0]+max(c.Count[i], 1), v[1]+max(c.Size[i], 0)
			sums[pair{a, b}] = v
		}
		return nil
	})
	if err != nil {
		return err
	}
	t := &traffic{unit: "bytes"}
	type line struct {
		pair
		v [2]int64
	}
	all := make([]line, 0, len(sums))
	bytes := int64(0)
	for k, v := range sums {
		all, bytes = append(all, line{k, v}), bytes+v[1]
	}
	which := 1
	if bytes == 0 {
		which, t.unit = 0, "count"
	}
	slices.SortFunc(all, func(x, y line) int {
		return cmp.Or(cmp.Compare(y.v[which], x.v[which]), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
	})
	if t.pairs = len(all); t.pairs == 0 {
		r.notes = append(r.notes, "no message runs between the locations shown: there is no traffic to draw")
		return nil
	}
	amount := make([]float64, len(all))
	ends := make([][2]int, len(all))
	for k, l := range all {
		ends[k], amount[k] = [2]int{int(l.a), int(l.b)}, float64(l.v[which])
	}
	if g := r.lattice(); g != nil {
		r.notes = append(r.notes, t.route(g, ends, amount))
		r.links = t
		return nil
	}
	if block := r.blockOfPoints(); block != nil && len(all) > mostSingle {
		r.notes = append(r.notes, t.bundle(block, r.centres(block), ends, amount))
		r.links = t
		return nil
	}
	t.most = amount[0]
	for k := min(len(all), mostLinks) - 1; k >= 0; k-- { // the largest are drawn last
		t.from, t.to, t.amount = append(t.from, ends[k][0]), append(t.to, ends[k][1]), append(t.amount, amount[k])
	}
	if len(all) > mostLinks {
		r.notes = append(r.notes,
			fmt.Sprintf("of %s pairs that send each other messages the %s with the most are drawn",
				view.Thousands(int64(len(all))), view.Thousands(mostLinks)))
	}
	r.links = t
	return nil
}

// marks are the lines, coloured by their traffic.
func (t *traffic) marks(ramp string) (out scene.SpaceLinks) {
	if t == nil {
		return out
	}
	out.Width = 1.5
	for k := range t.from {
		part := float32(1)
		if t.part != nil {
			part = t.part[k]
		}
		out.AddPart(t.from[k], t.to[k], part, scene.Ramp(ramp, t.amount[k]/t.most))
	}
	return out
}

func (r *result) linkLegend() []scene.LegendEntry {
	if r.links == nil {
		return nil
	}
	format := view.FormatCount
	if r.links.unit == "bytes" {
		format = view.FormatBytes
	}
	name := "lines: " + map[string]string{"bytes": "bytes sent", "count": "messages"}[r.links.unit] + " between two"
	if r.links.between != "" {
		name += " " + r.links.between
	}
	ramp := r.option("palette")
	return []scene.LegendEntry{plot.RampKey(name, ramp, format(0), format(r.links.most))}
}
