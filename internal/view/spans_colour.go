package view

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// serviceHues is how many hues locations have; further services have them darker, then lighter.
const (
	serviceHues   = 12
	serviceShades = 3
)

// giveServices gives the services of a run their colours, most time first, and each one's to the operation in which it
// spends most: so a service looks alike where locations have colours and where regions have.
func (c *Colours) giveServices(ctx context.Context, s store.Reader) error {
	if !runfacts.HasSpans(s) {
		return nil
	}
	times, err := serviceTimes(ctx, s)
	if err != nil {
		return err
	}
	totals := map[trace.LocationID]float64{}
	for id, kind := range s.Locations().Kind {
		if kind == runfacts.KindService {
			totals[trace.LocationID(id)] = 0
			for _, t := range times[trace.LocationID(id)] {
				totals[trace.LocationID(id)] += t
			}
		}
	}
	c.services = map[trace.LocationID]scene.Colour{}
	regions := s.Regions()
	for n, id := range mostTime(totals) {
		colour := serviceColour(n)
		c.services[id] = colour
		for _, k := range mostTime(times[id]) {
			g := &regions[k]
			if _, taken := c.giver.Given(g.Name, uint8(g.Role)); !taken {
				c.giver.Set(g.Name, colour)
				break
			}
		}
	}
	return nil
}

// mostTime lists keys with a time, most first.
func mostTime[K cmp.Ordered](times map[K]float64) []K {
	return slices.SortedFunc(maps.Keys(times), func(a, b K) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b))
	})
}

func serviceColour(n int) scene.Colour {
	switch n / serviceHues % serviceShades {
	case 1:
		return scene.LocationTimeColour(n%serviceHues, 0.7)
	case 2:
		return scene.LocationTimeColour(n%serviceHues, 0.15)
	}
	return scene.LocationColour(n)
}

// serviceTimes is the exclusive time of each service in each region.
func serviceTimes(ctx context.Context, s store.Reader) (map[trace.LocationID]map[trace.RegionID]float64, error) {
	t, err := s.Time(ctx, store.Window{End: s.Info().End})
	if err != nil {
		return nil, err
	}
	source := runfacts.SpanSourceOf(ctx, s)
	out := map[trace.LocationID]map[trace.RegionID]float64{}
	for k, id := range t.Locations {
		service := source.Service(id)
		if out[service] == nil {
			out[service] = map[trace.RegionID]float64{}
		}
		for i := t.Offsets[k]; i < t.Offsets[k+1]; i++ {
			out[service][t.Region[i]] += float64(t.Exclusive[i])
		}
	}
	return out, nil
}

// Service is the colour of a service, the same in every view.
func (c *Colours) Service(id trace.LocationID) scene.Colour {
	colour, _ := c.OfService(id)
	return colour
}

// OfService is the colour of a location that is a service.
func (c *Colours) OfService(id trace.LocationID) (scene.Colour, bool) {
	colour, ok := c.services[id]
	if !ok {
		colour = scene.LocationColour(0)
	}
	return colour, ok
}

// ServiceLegend lists the colours of services, those with the most time first.
func (c *Colours) ServiceLegend(tree *store.Tree, times map[trace.LocationID]trace.Time) (out []scene.LegendEntry) {
	const most = 12
	services := slices.SortedFunc(maps.Keys(times), func(a, b trace.LocationID) int {
		return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b))
	})
	for i, id := range services {
		if i == most {
			return append(out,
				scene.LegendEntry{Label: fmt.Sprintf("and %d more services", len(services)-most),
					Colour: scene.UIAggregate, Region: scene.NoID, Parent: scene.NoID})
		}
		out = append(out,
			scene.LegendEntry{Label: tree.Name[id], Colour: c.Service(id), Region: scene.NoID, Parent: scene.NoID})
	}
	return out
}

// ServiceNote describes where colours of services start over; "" if they do not.
func (c *Colours) ServiceNote() string {
	if len(c.services) <= serviceHues*serviceShades {
		return ""
	}
	return "there are more services than colours: some share one"
}
