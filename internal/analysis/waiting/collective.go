package waiting

import (
	"slices"
	"sort"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Call is the part of one unit in a collective.
type Call struct {
	Unit       int32
	Begin, End trace.Time
	Region     trace.RegionID
	// Own is how long the unit worked on its own since it left the one before: the time in between without
	// its waits.
	Own trace.Time
}

// A Meeting is one collective of a group.
type Meeting struct {
	Calls []Call // one a unit
	// First and Last are the arrivals, Left is when the last one leaves.
	First, Last, Left trace.Time
	// LastUnit arrived last. Cause is to blame: among those that arrived about
	// last the one that worked longest on its own since the collective before.
	LastUnit, Cause int32
	// Waited is the skew, Transfer the rest, added up over units.
	Waited, Transfer trace.Time
}

// Wait is the skew of one call: until the last has come, or until it left.
func (m *Meeting) Wait(c *Call) trace.Time { return max(min(c.End, m.Last)-c.Begin, 0) }

// near is how close to the last one must arrive to be one of the last, as a part of
// the time from the first arrival.
const near = 0.1

// Meetings pairs the calls of one communicator, or of one region where the source names none: the k-th of
// each unit belong together. Calls are sorted by unit and begin. If units do not have equally many, or
// indexed is false because the window does not begin with the first, calls belong together that overlap
// with one of the unit that has fewest. Collectives of fewer than two units are none. It also returns the
// share of those that some left before others came: near 1 the pairing or the clocks are wrong. O(n log n).
func Meetings(calls []Call, waits []*UnitWaits, indexed bool) (list []Meeting, broken float64) {
	byUnit := split(calls)
	if len(byUnit) < 2 {
		return nil, 0
	}
	for _, own := range byUnit {
		addOwn(own, waits[own[0].Unit])
	}
	fewest := byUnit[0]
	equal := true
	for _, u := range byUnit {
		equal = equal && len(u) == len(byUnit[0])
		if len(u) < len(fewest) {
			fewest = u
		}
	}
	bad := 0
	for k := range fewest {
		m := Meeting{Calls: make([]Call, 0, len(byUnit))}
		for _, u := range byUnit {
			switch {
			case indexed && equal:
				m.Calls = append(m.Calls, u[k])
			default:
				if c, ok := overlapping(u, &fewest[k]); ok {
					m.Calls = append(m.Calls, c)
				}
			}
		}
		if len(m.Calls) < 2 {
			continue
		}
		if m.finish() {
			bad++
		}
		list = append(list, m)
	}
	if len(list) == 0 {
		return nil, 0
	}
	return list, float64(bad) / float64(len(list))
}

func split(calls []Call) (out [][]Call) {
	for i := 0; i < len(calls); {
		k := i
		for k < len(calls) && calls[k].Unit == calls[i].Unit {
			k++
		}
		out = append(out, calls[i:k])
		i = k
	}
	return out
}

// addOwn fills in how long each worked on its own before.
func addOwn(calls []Call, l *UnitWaits) {
	end, waited := trace.Time(0), trace.Time(0)
	for i := range calls {
		c := &calls[i]
		c.Own = max(c.Begin-end-(l.Waited(c.Begin)-waited), 0)
		end, waited = c.End, l.Waited(c.End)
	}
}

// overlapping finds the call with the most time in common, by the nearest end.
func overlapping(calls []Call, with *Call) (Call, bool) {
	i := sort.Search(len(calls), func(i int) bool { return calls[i].End >= with.End })
	best, found := trace.Time(-1), -1
	for _, k := range [...]int{i - 1, i} {
		if k < 0 || k >= len(calls) {
			continue
		}
		if o := min(calls[k].End, with.End) - max(calls[k].Begin, with.Begin); o > best {
			best, found = o, k
		}
	}
	if found < 0 || best < 0 {
		return Call{}, false
	}
	return calls[found], true
}

// finish finds the last unit and the waiting for it; it returns true if some left before the last had come.
func (m *Meeting) finish() bool {
	m.First, m.Last = m.Calls[0].Begin, m.Calls[0].Begin
	earliest := m.Calls[0].End
	m.Left, m.LastUnit = m.Calls[0].End, m.Calls[0].Unit
	for i := range m.Calls {
		c := &m.Calls[i]
		m.First, m.Left, earliest = min(m.First, c.Begin), max(m.Left, c.End), min(earliest, c.End)
		if c.Begin > m.Last {
			m.Last, m.LastUnit = c.Begin, c.Unit
		}
	}
	border := m.Last - trace.Time(near*float64(m.Last-m.First))
	m.Cause = m.LastUnit
	most := trace.Time(-1)
	for i := range m.Calls {
		c := &m.Calls[i]
		w := m.Wait(c)
		m.Waited += w
		m.Transfer += c.End - c.Begin - w
		if c.Begin >= border && c.Own > most {
			most, m.Cause = c.Own, c.Unit
		}
	}
	return earliest < m.Last
}

// Gather lists the calls of collective regions from the stays of units, by key, such as a communicator or
// the region's name. Each list is sorted by unit and begin.
func Gather[K comparable](waits []*UnitWaits, collective []bool, key func(unit, stay int) K) map[K][]Call {
	out := map[K][]Call{}
	for u, l := range waits {
		for i, s := range l.Stays {
			if collective[s.Region] {
				k := key(u, i)
				out[k] = append(out[k], Call{Unit: int32(u), Begin: s.Begin, End: s.End, Region: s.Region})
			}
		}
	}
	return out
}

// Ends returns for each unit when it left collectives, ascending.
func Ends(meetings []Meeting, units int) [][]trace.Time {
	out := make([][]trace.Time, units)
	for i := range meetings {
		for _, c := range meetings[i].Calls {
			out[c.Unit] = append(out[c.Unit], c.End)
		}
	}
	for _, l := range out {
		slices.Sort(l)
	}
	return out
}
