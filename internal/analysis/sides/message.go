package sides

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// mostPartners is with how many units partners are compared one by one.
const mostPartners = 256

// An exchange sums the messages of a unit to or from a partner.
type exchange struct {
	unit    int32
	partner trace.LocationID // NoLocation: all of them
	sent    bool
}

type amount struct{ count, bytes float64 }

// messages reads the messages that each unit sent and received: in all, and by partner
// if there are not too many of them. A message counts where it starts.
func (g *gatherer) messages(ctx context.Context, side int) error {
	s := &g.r.Sides[side]
	if !g.r.by["messages"] && !g.r.by["partner"] || s.Store.Info().Links == 0 {
		return nil
	}
	sums := map[exchange]*amount{}
	sized := false
	unit := s.unitAt()
	partner, names, err := g.partners(ctx, s)
	if err != nil {
		return err
	}
	var mu sync.Mutex
	for _, w := range s.windows() {
		w.Locations = s.Units // messages may be on a process above the location of its intervals
		n, err := s.Store.LinkCount(w)
		if err != nil {
			return err
		}
		if n > mostScanned {
			g.r.note(fmt.Sprintf("messages are not compared: up to %s are too many to look at each; choose a shorter "+
				"time", words.Thousands(n)))
			return nil
		}
		err = s.Store.Links(ctx, w, func(l *store.LinkColumns) error {
			mu.Lock()
			defer mu.Unlock()
			for i := range l.Kind {
				if l.Kind[i] != trace.LinkMessage ||
					!l.Untimed[i] && (l.FromTime[i] < w.Begin || l.FromTime[i] >= w.End) {
					continue
				}
				n, bytes := float64(max(l.Count[i], 1)), float64(max(l.Size[i], 0))
				sized = sized || l.Size[i] > 0
				for _, sent := range [2]bool{true, false} {
					mine, other := l.FromLocation[i], l.ToLocation[i]
					if !sent {
						mine, other = other, mine
					}
					if unit[mine] < 0 {
						continue
					}
					addTo(sums, exchange{unit[mine], trace.NoLocation, sent}, n, bytes)
					if partner != nil {
						addTo(sums, exchange{unit[mine], partner[other], sent}, n, bytes)
					}
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if g.profile(side) {
			break
		}
	}
	g.addMessages(side, sums, names, sized)
	return nil
}

func addTo(sums map[exchange]*amount, e exchange, n, bytes float64) {
	a := sums[e]
	if a == nil {
		a = &amount{}
		sums[e] = a
	}
	a.count += n
	a.bytes += bytes
}

// partners returns the unit of every location of the run, and the units' names; nil if they are too many.
func (g *gatherer) partners(ctx context.Context, s *Side) (of []trace.LocationID,
	names map[trace.LocationID]string, err error) {
	holders, err := runfacts.ChosenHolders(ctx, s.Store, nil)
	if err != nil {
		return nil, nil, err
	}
	units, _, err := runfacts.Units(s.Tree, holders, g.r.ask.Group)
	if err != nil || len(units) > mostPartners || !g.r.by["partner"] {
		return nil, nil, nil
	}
	whole := &Side{Tree: s.Tree, Units: units}
	out := make([]trace.LocationID, s.Tree.Len())
	for id, k := range whole.unitAt() {
		if out[id] = trace.LocationID(id); k >= 0 {
			out[id] = units[k]
		}
	}
	names = map[trace.LocationID]string{}
	for i, n := range runfacts.ShortNames(s.Tree, units) {
		names[units[i]] = n
	}
	return out, names, nil
}

func sortedExchanges(sums map[exchange]*amount) []exchange {
	return slices.SortedFunc(maps.Keys(sums), func(x, y exchange) int {
		if x.sent != y.sent {
			if x.sent {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(x.unit, y.unit), cmp.Compare(x.partner, y.partner))
	})
}

// addMessages makes quantities of the sums.
func (g *gatherer) addMessages(side int, sums map[exchange]*amount, names map[trace.LocationID]string, sized bool) {
	scale, rate := 1.0, ""
	if g.scale(side) != 1 {
		scale, rate = 1e9*g.scale(side), " per second"
	}
	units := float64(len(g.r.Sides[0].Units) + len(g.r.Sides[1].Units))
	for _, e := range sortedExchanges(sums) {
		a := sums[e]
		way := "received"
		if e.sent {
			way = "sent"
		}
		if e.partner == trace.NoLocation {
			if g.r.by["messages"] {
				g.add(g.at(key{"messages", "messages " + way + rate, ""}, "count"), side, e.unit, a.count*scale)
				if sized {
					g.add(g.at(key{"messages", "bytes " + way + rate, ""}, "bytes"), side, e.unit, a.bytes*scale)
				}
			}
			g.wholes["count"] += a.count * scale / units / 2
			g.wholes["bytes"] += a.bytes * scale / units / 2
			continue
		}
		name := names[e.partner]
		if name == "" {
			name = g.r.Sides[side].Tree.Path(e.partner)
		}
		word := "received from " + name
		if e.sent {
			word = "sent to " + name
		}
		if sized {
			g.add(g.at(key{"partner", "bytes " + word + rate, ""}, "bytes"), side, e.unit, a.bytes*scale)
		} else {
			g.add(g.at(key{"partner", "messages " + word + rate, ""}, "count"), side, e.unit, a.count*scale)
		}
	}
}
