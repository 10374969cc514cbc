package trace

// A namedMatcher matches by name: a Leave closes the nearest open Enter of its
// region, whatever is open inside. O(1) amortised.
type namedMatcher struct {
	entries []namedEntry
	last    map[RegionID]int32 // the nearest open entry of each region, -1
	open    int
}

type namedEntry struct {
	frame
	below  int32 // the next open entry of the same region, -1
	closed bool
}

func (m *namedMatcher) reset() {
	m.entries = m.entries[:0]
	clear(m.last)
	m.open = 0
}

func (m *namedMatcher) enter(f frame) {
	if m.last == nil {
		m.last = map[RegionID]int32{}
	}
	m.entries = append(m.entries, namedEntry{frame: f, below: m.nearest(f.region)})
	m.last[f.region] = int32(len(m.entries) - 1)
	m.open++
}

func (m *namedMatcher) nearest(region RegionID) int32 {
	if i, ok := m.last[region]; ok {
		return i
	}
	return -1
}

// leave takes out the nearest open entry of region; of all with NoRegion.
func (m *namedMatcher) leave(region RegionID) (frame, bool) {
	if m.open == 0 {
		return frame{}, false
	}
	i := int32(len(m.entries) - 1) // never closed: see below
	if region != NoRegion {
		i = m.nearest(region)
	}
	if i < 0 {
		return frame{}, false
	}
	e := &m.entries[i]
	f := e.frame
	e.closed = true
	m.last[f.region] = e.below
	m.open--
	m.trim()
	return f, true
}

// trim keeps the last entry an open one, and at least a half of all.
func (m *namedMatcher) trim() {
	for n := len(m.entries); n > 0 && m.entries[n-1].closed; n-- {
		m.entries = m.entries[:n-1]
	}
	if len(m.entries) < 64 || m.open*2 > len(m.entries) {
		return
	}
	kept := m.entries[:0]
	clear(m.last)
	for _, e := range m.entries {
		if !e.closed {
			e.below = m.nearest(e.region)
			m.last[e.region] = int32(len(kept))
			kept = append(kept, e)
		}
	}
	m.entries = kept
}

// drain yields open intervals, innermost first, and empties m.
func (m *namedMatcher) drain(f func(frame)) {
	for i := len(m.entries) - 1; i >= 0; i-- {
		if !m.entries[i].closed {
			f(m.entries[i].frame)
		}
	}
	m.reset()
}
