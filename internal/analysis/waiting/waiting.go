// Package waiting finds who waited for whom: at collectives, where all wait for the
// last to arrive, and at messages, where a receiver waits for a late sender or a
// sender for a late receiver.
//
// The time of a call that waits has two parts: skew, until the last has come or
// the message is sent, and transfer, from then on. Skew is somebody's fault,
// transfer is the network's. Late senders and receivers are the wait states of
// Wolf and Mohr ("Automatic performance analysis of hybrid MPI/OpenMP
// applications", 2003). Lateness spreads: who had to wait is late for the next.
// So the lateness of a sender counts only as far as it worked longer on its own
// since the last collective than the one that waits did; the rest it passes on,
// after Böhme, Geimer, Wolf, Arnold ("Identifying the root causes of wait states",
// ICPP 2010), who replay the trace for the same end.
package waiting

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Stay is one outermost interval of a unit in a region in which it may wait.
type Stay struct {
	Begin, End trace.Time
	Region     trace.RegionID
	// Group numbers the communicator of a collective; 0 if it is not known.
	Group int32
}

// UnitWaits holds the stays of one unit in order, and the time waited up to each.
type UnitWaits struct {
	Stays  []Stay
	waited []trace.Time // before stay i; where stays overlap time counts once
	reach  []trace.Time // largest end of stays 0 … i
	last   trace.Time
}

// Waits reports whether regions of a role are stays.
func Waits(r trace.Role) bool {
	return r == trace.RoleCommunication || r == trace.RoleSynchronization || r == trace.RoleIdle
}

// NewUnitWaits sorts stays and adds them up. O(n log n).
func NewUnitWaits(stays []Stay) *UnitWaits {
	slices.SortFunc(stays, func(a, b Stay) int {
		switch {
		case a.Begin != b.Begin:
			return cmp.Compare(a.Begin, b.Begin)
		case a.End != b.End:
			return cmp.Compare(b.End, a.End)
		}
		return int(a.Region) - int(b.Region)
	})
	l := &UnitWaits{Stays: stays, waited: make([]trace.Time, len(stays)), reach: make([]trace.Time, len(stays))}
	sum, until := trace.Time(0), trace.Time(-1<<62)
	for i, s := range stays {
		l.waited[i] = sum
		if s.End > until {
			sum += s.End - max(s.Begin, until)
			until = s.End
		}
		l.reach[i] = until
	}
	l.last = sum
	return l
}

// Waited is the time spent in stays before t. O(log n).
func (l *UnitWaits) Waited(t trace.Time) trace.Time {
	i := sort.Search(len(l.Stays), func(i int) bool { return l.Stays[i].Begin >= t }) - 1
	if i < 0 {
		return 0
	}
	after := l.last
	if i+1 < len(l.waited) {
		after = l.waited[i+1]
	}
	return after - max(l.reach[i]-t, 0)
}

// At finds a stay that holds t; the latest to begin where several do. O(log n) but
// for stays that overlap.
func (l *UnitWaits) At(t trace.Time) (int, bool) {
	i := sort.Search(len(l.Stays), func(i int) bool { return l.Stays[i].Begin > t }) - 1
	for ; i >= 0 && l.reach[i] >= t; i-- {
		if l.Stays[i].End >= t {
			return i, true
		}
	}
	return 0, false
}

// A Collector gathers the stays of units from the rows of a store. Batches of
// different locations may come at once.
type Collector struct {
	// Stay says which regions are stays, by id.
	Stay []bool
	// Unit of a location; -1 for those that do not count.
	Unit []int32
	// Group gives the communicator of a row, 0 if it is not known; nil: of none.
	Group func(location trace.LocationID, lane, row int) int32
	// Keep bounds the stays kept of all units together; 0: no bound.
	Keep int

	mu     sync.Mutex
	lanes  map[lane]*gathered
	kept   int
	Missed bool // some were not kept
}

type lane struct {
	location trace.LocationID
	number   int
}

type gathered struct {
	stays []Stay
	until trace.Time
}

// Add takes a batch.
func (c *Collector) Add(cols *trace.Columns) {
	if c.Unit[cols.Location] < 0 {
		return
	}
	c.mu.Lock()
	g := c.lanes[lane{cols.Location, cols.Lane}]
	if g == nil {
		if c.lanes == nil {
			c.lanes = map[lane]*gathered{}
		}
		g = &gathered{until: -1 << 62}
		c.lanes[lane{cols.Location, cols.Lane}] = g
	}
	full := c.Keep > 0 && c.kept >= c.Keep
	c.Missed = c.Missed || full
	c.mu.Unlock()
	if full {
		return
	}
	before := len(g.stays)
	for _, o := range cols.Open {
		if c.Stay[o.Region] && o.Begin >= g.until {
			g.stays = append(g.stays, Stay{o.Begin, o.End, o.Region, c.group(cols, o.Row)})
			g.until = o.End
		}
	}
	for i, r := range cols.Region {
		if c.Stay[r] && cols.Begin[i] >= g.until {
			g.stays = append(g.stays, Stay{cols.Begin[i], cols.End(i), r, c.group(cols, cols.First+i)})
			g.until = cols.End(i)
		}
	}
	if n := len(g.stays) - before; n > 0 {
		c.mu.Lock()
		c.kept += n
		c.mu.Unlock()
	}
}

func (c *Collector) group(cols *trace.Columns, row int) int32 {
	if c.Group == nil {
		return 0
	}
	return c.Group(cols.Location, cols.Lane, row)
}

// Waits returns the waits of each unit.
func (c *Collector) Waits(units int) []*UnitWaits {
	lists := make([][]Stay, units)
	keys := make([]lane, 0, len(c.lanes))
	for k := range c.lanes {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b lane) int {
		if a.location != b.location {
			return int(a.location) - int(b.location)
		}
		return a.number - b.number
	})
	for _, k := range keys {
		u := c.Unit[k.location]
		lists[u] = append(lists[u], c.lanes[k].stays...)
	}
	out := make([]*UnitWaits, units)
	for u := range out {
		out[u] = NewUnitWaits(lists[u])
	}
	return out
}

// collectives are parts of names, in lower case, of operations in which all of a
// group take part.
var collectives = []string{
	"barrier", "bcast", "broadcast", "allreduce", "all_reduce", "reduce", "gather", "scatter", "alltoall", "all_to_all",
	"scan",
}

// IsCollective reports whether a region of role communication or synchronization is
// an operation in which all of a group take part, by its name.
func IsCollective(g *trace.Region) bool {
	if g.Role != trace.RoleCommunication && g.Role != trace.RoleSynchronization {
		return false
	}
	name := strings.ToLower(g.Name)
	if i := strings.IndexByte(name, '('); i > 0 {
		name = name[:i]
	}
	for _, c := range collectives {
		if strings.Contains(name, c) {
			return true
		}
	}
	return false
}
