package rows

import (
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Merge goes through all lanes of a location at once and finds the role of
// each instant. A heap holds the lanes by the end of their present segment:
// O(log lanes) a segment.
type Merge struct {
	Of *Unpacked // where the rows are; nil: in the table

	views []Lane
	lanes []mergeLane
	heap  []int32
	count [trace.RoleCount]int // lanes that are in each role now
	view  Lane                 // of a location with one lane: here, not on the heap each time
	walk  Walker
}

type mergeLane struct {
	walk Walker
	end  trace.Time
	role trace.Role
}

// A roleSink takes the time of a role.
type roleSink interface {
	Add(from, to trace.Time, role trace.Role)
}

// Location adds the time of one location in [begin, end); where lanes are in
// different roles at once, store.RoleOfInstant decides.
func (m *Merge) Location(r *Table, id trace.LocationID, begin, end trace.Time, to roleSink) {
	first, last := r.C.LocationLane[id], r.C.LocationLane[id+1]
	if first == last || begin >= end {
		return
	}
	if last-first > 1 {
		m.run(r, int(first), int(last), begin, end, to)
		return
	}
	m.view = m.lane(r, int(first))
	v, w := &m.view, &m.walk
	if v.Last <= begin || !v.BeginsBefore(end) {
		return
	}
	w.Start(v, r.Roles, begin)
	end = min(end, v.Last)
	for {
		a, b, row, ok := w.Step(end)
		if !ok {
			return
		}
		if row >= 0 {
			to.Add(a, b, w.Role(row))
		}
	}
}

func (m *Merge) lane(r *Table, n int) Lane {
	if m.Of != nil {
		return m.Of.Lane(n)
	}
	return r.LaneByRows(n) // most ask for a part of it
}

// run adds the time of lanes [first, last) in [begin, end) to b.
func (m *Merge) run(r *Table, first, last int, begin, end trace.Time, b roleSink) {
	m.views, m.lanes, m.heap = m.views[:0], m.lanes[:0], m.heap[:0]
	m.count = [trace.RoleCount]int{}
	for n := first; n < last; n++ {
		v := m.lane(r, n)
		if v.Last > begin && v.BeginsBefore(end) {
			m.views = append(m.views, v)
		}
	}
	m.lanes = append(m.lanes, make([]mergeLane, len(m.views))...)
	for i := range m.views {
		m.lanes[i].walk.Start(&m.views[i], r.Roles, begin)
		if m.step(i, end) {
			m.heap = append(m.heap, int32(i))
		}
	}
	less := func(a, b int32) bool { return m.lanes[a].end < m.lanes[b].end }
	for i := len(m.heap)/2 - 1; i >= 0; i-- {
		spool.Sink(m.heap, i, less)
	}
	for now := begin; len(m.heap) > 0; {
		l := int(m.heap[0])
		to := m.lanes[l].end
		if to > now {
			if role := m.role(); role != trace.RoleNone {
				b.Add(now, to, role)
			}
			now = to
		}
		m.count[m.lanes[l].role]--
		if !m.step(l, end) {
			m.heap[0] = m.heap[len(m.heap)-1]
			m.heap = m.heap[:len(m.heap)-1]
		}
		spool.Sink(m.heap, 0, less)
	}
}

// step takes a lane to its next segment.
func (m *Merge) step(i int, end trace.Time) bool {
	l := &m.lanes[i]
	_, to, row, ok := l.walk.Step(end)
	if !ok {
		return false
	}
	l.end, l.role = to, l.walk.Role(row)
	m.count[l.role]++
	return true
}

// role of this instant.
func (m *Merge) role() trace.Role {
	best := trace.RoleNone
	for role, n := range m.count {
		if n > 0 {
			best = store.RoleOfInstant(trace.Role(role), best)
		}
	}
	return best
}
