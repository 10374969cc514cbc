package steppath

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A member is one unit's part of a collective: a piece of GPU work, or an exchange of a thread.
type member struct {
	lane *lane
	at   int32
}

// readWaits reads orders to wait for another stream, where the recorder keeps them (CUPTI's synchronization records).
func (g *Graph) readWaits() error {
	s := g.source
	for _, u := range g.units {
		for _, l := range u.works {
			l.keys = map[int32]string{}
		}
	}
	var mu sync.Mutex
	type key struct {
		lane uint32
		row  int32
	}
	streams := map[key]string{}
	err := s.Attribute("wait_on_stream", func(c *store.AttributeColumns) {
		mu.Lock()
		defer mu.Unlock()
		for i, row := range c.Row {
			streams[key{s.Lane(c.Location, c.Lane), row}] = c.Value[i].String()
		}
	})
	if err != nil || len(streams) == 0 {
		return err
	}
	for u := range g.units {
		g.units[u].streams = map[string]*lane{}
	}
	numbers := map[*lane]string{}
	err = s.Attribute("stream", func(c *store.AttributeColumns) {
		mu.Lock()
		defer mu.Unlock()
		if l := g.lanes[s.Lane(c.Location, c.Lane)]; l != nil && l.gpu >= 0 && len(c.Value) > 0 {
			numbers[l] = c.Value[0].String()
		}
	})
	if err != nil {
		return err
	}
	for l, n := range numbers {
		if old := g.units[l.unit].streams[n]; old == nil || len(l.row) > len(old.row) {
			g.units[l.unit].streams[n] = l
		}
	}
	// Waits are on the stream that waits, among its work or on a lane beside.
	return s.Intervals(func(c *trace.Columns) error {
		id := s.Lane(c.Location, c.Lane)
		if s.GPU[c.Location] < 0 {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		for i := range c.Region {
			if stream, ok := streams[key{id, int32(c.First + i)}]; ok {
				for lane := s.Lanes[c.Location]; lane < s.Lanes[c.Location+1]; lane++ {
					if l := g.lanes[lane]; l != nil {
						l.waits = append(l.waits, wait{c.Begin[i], stream})
					}
				}
			}
		}
		return nil
	})
}

// matchMembers finds the collectives of several units: by process group and sequence number where the recorder states
// them, else by name and order.
func (g *Graph) matchMembers() error {
	for _, l := range g.lanes {
		slices.SortFunc(l.waits,
			func(a, b wait) int { return cmp.Or(cmp.Compare(a.time, b.time), cmp.Compare(a.stream, b.stream)) })
	}
	if len(g.units) < 2 {
		return nil
	}
	s := g.source
	for _, name := range []string{"Process Group Name", "Seq"} {
		var mu sync.Mutex
		err := s.Attribute(name, func(c *store.AttributeColumns) {
			mu.Lock()
			defer mu.Unlock()
			l := g.lanes[s.Lane(c.Location, c.Lane)]
			if l == nil || l.gpu < 0 {
				return
			}
			for i, row := range c.Row {
				if k := l.index(row); k >= 0 {
					l.keys[k] += name + c.Value[i].String() + "\x00"
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for u := range g.units {
		var list []member
		for _, l := range g.units[u].threads {
			l.keys = map[int32]string{}
			for i := range l.row {
				if up := l.parent[i]; g.exchange[l.region[i]] && (up < 0 || !g.exchange[l.region[up]]) {
					list = append(list, member{l, int32(i)})
				}
			}
		}
		for _, l := range g.units[u].works {
			for i := range l.row {
				if g.kinds[l.region[i]] == Communication {
					list = append(list, member{l, int32(i)})
				}
			}
		}
		slices.SortFunc(list, func(a, b member) int {
			return cmp.Or(cmp.Compare(a.lane.begin[a.at], b.lane.begin[b.at]),
				cmp.Compare(a.lane.location, b.lane.location), cmp.Compare(a.at, b.at))
		})
		order := map[string]int{}
		for _, m := range list {
			key := m.lane.keys[m.at]
			if !strings.Contains(key, "Seq") {
				key += s.Regions[m.lane.region[m.at]].Name
				order[key]++
				key += fmt.Sprint("\x00", order[key])
			}
			m.lane.keys[m.at] = key
			g.members[key] = append(g.members[key], m)
		}
	}
	for _, list := range g.members {
		if len(list) > 1 {
			g.matched++
		}
	}
	return nil
}

// ready is when a member has its data: where it begins, or where the wait for its own GPU ends with which it begins.
func (g *Graph) ready(l *lane, i int32) trace.Time {
	if k := i + 1; l.gpu < 0 && int(k) < len(l.row) && l.parent[k] == i && g.sync[l.region[k]] {
		return l.end[k]
	}
	return l.begin[i]
}

// lastMember is the member of a collective that was ready last, nil if that is this one or there are no others.
// Members that do not meet in time are none of one collective.
func (g *Graph) lastMember(l *lane, i int32) (*lane, int32) {
	list := g.members[l.keys[i]]
	if len(list) < 2 {
		return nil, 0
	}
	best, at := member{l, i}, g.ready(l, i)
	for _, m := range list {
		if m.lane.begin[m.at] >= l.end[i] || m.lane.end[m.at] <= l.begin[i] {
			continue
		}
		if t := g.ready(m.lane, m.at); t > at {
			best, at = m, t
		}
	}
	if best.lane == l && best.at == i {
		return nil, 0
	}
	return best.lane, best.at
}
