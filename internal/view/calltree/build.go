package calltree

import (
	"context"
	"fmt"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostValues bounds how many values of single locations are kept for quantiles.
const mostValues = 8 << 20

// build merges the call trees of a window.
func build(ctx context.Context, s store.Reader, w store.Window, metric trace.MetricID) (*tree, error) {
	if s.Info().Intervals > 0 {
		return fromIntervals(ctx, s, w)
	}
	return fromPaths(ctx, s, w, metric)
}

// --- from intervals

type childKey struct {
	parent int32
	region trace.RegionID
}

// A merger adds intervals to one tree. Its sums are integers, so that they do not
// depend on the order in which locations come.
type merger struct {
	mu       sync.Mutex
	window   store.Window
	children map[childKey]int32
	parent   []int32
	region   []trace.RegionID
	calls    []int64
	time     []trace.Time
	own      []trace.Time
	lanes    map[trace.LocationID]*lane
	values   int // kept so far; above mostValues none are
}

// A lane is the state of a location between batches.
type lane struct {
	number int
	at     []int32 // node at each depth
	time   []trace.Time
}

// fromIntervals takes O(intervals in the window).
func fromIntervals(ctx context.Context, s store.Reader, w store.Window) (*tree, error) {
	m := &merger{window: w, children: map[childKey]int32{}, lanes: map[trace.LocationID]*lane{}}
	if w.End >= s.Info().End {
		m.window.End = s.Info().End + 1 // what happens at the very end is part of the whole
	}
	if err := s.Intervals(ctx, w, func(c *trace.Columns) error { m.add(c); return nil }); err != nil {
		return nil, err
	}
	t := &tree{locations: len(m.lanes), nodes: make([]node, len(m.parent))}
	for i := range t.nodes {
		t.nodes[i] = node{parent: m.parent[i], region: m.region[i], calls: float64(m.calls[i]), inclusive: float64(m.time[i]), exclusive: float64(m.own[i])}
	}
	if m.values > mostValues {
		t.notes = append(t.notes, "there are too many locations and paths for quantiles over locations")
		return t, nil
	}
	for id := range s.Locations().Len() { // in order, so that the same request gives the same bytes
		if l := m.lanes[trace.LocationID(id)]; l != nil {
			for i, v := range l.time {
				if v != 0 {
					t.nodes[i].values = append(t.nodes[i].values, float64(v))
				}
			}
		}
	}
	return t, nil
}

func (m *merger) child(parent int32, region trace.RegionID) int32 {
	k := childKey{parent, region}
	id, ok := m.children[k]
	if !ok {
		id = int32(len(m.parent))
		m.children[k] = id
		m.parent, m.region = append(m.parent, parent), append(m.region, region)
		m.calls, m.time, m.own = append(m.calls, 0), append(m.time, 0), append(m.own, 0)
	}
	return id
}

// add takes a batch of one lane. What is open at its begin is in the state already,
// unless the lane is new.
func (m *merger) add(c *trace.Columns) {
	m.mu.Lock()
	defer m.mu.Unlock()
	l := m.lanes[c.Location]
	if l == nil {
		l = &lane{number: -1}
		m.lanes[c.Location] = l
	}
	if l.number != c.Lane {
		l.number, l.at = c.Lane, l.at[:0]
		for depth, o := range c.Open {
			m.interval(l, depth, o.Region, o.Begin, o.End)
		}
	}
	for i := range c.Begin {
		m.interval(l, int(c.Depth[i]), c.Region[i], c.Begin[i], c.End(i))
		m.calls[l.at[c.Depth[i]]]++
	}
}

func (m *merger) interval(l *lane, depth int, region trace.RegionID, begin, end trace.Time) {
	parent := int32(-1)
	if depth > 0 && depth <= len(l.at) {
		parent = l.at[depth-1]
	}
	id := m.child(parent, region)
	l.at = append(l.at[:min(depth, len(l.at))], id)
	for len(l.at) <= depth { // a depth that was left out, which no store gives
		l.at = append(l.at, id)
	}
	d := max(min(end, m.window.End)-max(begin, m.window.Begin), 0)
	m.time[id] += d
	m.own[id] += d
	if parent >= 0 {
		m.own[parent] -= d
	}
	if m.values > mostValues {
		l.time = nil
		return
	}
	if grown := int(id) + 1 - len(l.time); grown > 0 {
		m.values += grown
		l.time = append(l.time, make([]trace.Time, grown)...)
	}
	l.time[id] += d
}

// --- from call paths

// fromPaths takes O(rows).
func fromPaths(ctx context.Context, s store.Reader, w store.Window, metric trace.MetricID) (*tree, error) {
	paths := s.CallPaths()
	sums := make([]node, len(paths))
	has := make([]bool, len(paths)) // rows of its own
	kept, flat := 0, int64(0)
	locations := map[trace.LocationID]bool{}
	err := s.Profile(ctx, w.Locations, func(rows []trace.ProfileRow) error {
		for i := range rows {
			x := &rows[i]
			if x.Metric != metric {
				continue
			}
			locations[x.Location] = true
			if paths[x.Path].Flat {
				flat++
				continue
			}
			n := &sums[x.Path]
			has[x.Path] = true
			n.calls += x.Calls
			n.inclusive += x.Inclusive
			n.exclusive += x.Exclusive
			if kept++; kept <= mostValues {
				n.values = append(n.values, x.Inclusive)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t := &tree{locations: len(locations)}
	t.fromSums(paths, sums, has)
	if kept > mostValues {
		for i := range t.nodes {
			t.nodes[i].values = nil
		}
		t.notes = append(t.notes, "there are too many locations and paths for quantiles over locations")
	}
	return t, nil
}

// fromSums keeps paths with rows and what leads to them. A path without rows of its
// own, above others that have some, has their time.
func (t *tree) fromSums(paths []trace.CallPath, sums []node, has []bool) {
	used := make([]bool, len(paths))
	for i := range paths {
		for up := trace.CallPathID(i); has[i] && up != trace.NoCallPath && !used[up]; up = paths[up].Parent {
			used[up] = true
		}
	}
	place := make([]int32, len(paths))
	guessed := 0
	for i := range paths {
		if !used[i] {
			continue
		}
		n := sums[i]
		n.region, n.parent = paths[i].Region, -1
		if p := paths[i].Parent; p != trace.NoCallPath {
			n.parent = place[p] // parents are defined first
		}
		place[i] = int32(len(t.nodes))
		t.nodes = append(t.nodes, n)
		if !has[i] {
			guessed++
			t.nodes[place[i]].cut = true
		}
	}
	for i := len(paths) - 1; i >= 0 && guessed > 0; i-- {
		if used[i] {
			if n := &t.nodes[place[i]]; n.parent >= 0 && !has[paths[i].Parent] {
				t.nodes[n.parent].inclusive += n.inclusive
			}
		}
	}
	if guessed > 0 {
		for i := range t.nodes {
			t.whole += t.nodes[i].exclusive
		}
		t.notes = append(t.notes, fmt.Sprintf("%s call paths, marked …, have no numbers of their own in the source and show the sum of what they call; their time may be part of another path too", view.Thousands(int64(guessed))))
	}
}
