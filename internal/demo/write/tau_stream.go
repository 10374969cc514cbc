package write

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A tauStream adds up the calls of one location by call path.
type tauStream struct {
	f        *tau
	at       trace.LocationID
	nodes    []tauNode
	children map[tauKey]int32
	stack    []tauFrame
	whole    []tauInterval // given as a whole, nested when all are known
	last     trace.Time
	texts    map[string]int64 // attributes that are no numbers, by name
}

type tauNode struct {
	parent                int32
	region                trace.RegionID
	calls, subcalls       int64
	inclusive, childrenIn trace.Time
}

type tauKey struct {
	parent int32
	region trace.RegionID
}

type tauFrame struct {
	node  int32
	begin trace.Time
	end   trace.Time // of an interval given as a whole
}

type tauInterval struct {
	begin, end trace.Time
	region     trace.RegionID
}

func (s *tauStream) node(parent int32, region trace.RegionID) int32 {
	k := tauKey{parent, region}
	id, ok := s.children[k]
	if !ok {
		id = int32(len(s.nodes))
		s.children[k] = id
		s.nodes = append(s.nodes, tauNode{parent: parent, region: region})
	}
	return id
}

// call counts a call that took so long.
func (s *tauStream) call(id int32, took trace.Time) {
	n := &s.nodes[id]
	n.calls++
	n.inclusive += took
	if n.parent >= 0 {
		s.nodes[n.parent].subcalls++
		s.nodes[n.parent].childrenIn += took
	}
}

func (s *tauStream) Enter(t trace.Time, region trace.RegionID) {
	parent := int32(-1)
	if len(s.stack) > 0 {
		parent = s.stack[len(s.stack)-1].node
	}
	s.stack = append(s.stack, tauFrame{node: s.node(parent, region), begin: t})
	s.last = max(s.last, t)
}

func (s *tauStream) Leave(t trace.Time, region trace.RegionID) {
	s.last = max(s.last, t)
	at := len(s.stack) - 1
	for region != trace.NoRegion && at >= 0 && s.nodes[s.stack[at].node].region != region {
		at--
	}
	if at < 0 {
		return
	}
	for i := len(s.stack) - 1; i >= at; i-- {
		s.call(s.stack[i].node, t-s.stack[i].begin)
	}
	s.stack = s.stack[:at]
}

func (s *tauStream) Interval(begin, end trace.Time, region trace.RegionID) {
	s.whole = append(s.whole, tauInterval{begin, end, region})
	s.last = max(s.last, end)
}

func (s *tauStream) Instant(_ trace.Time, region trace.RegionID) {
	s.count(s.f.regions[region].Name, 1)
}

func (s *tauStream) Sample(c trace.CounterID, _ trace.Time, value float64) {
	s.count(s.f.counters[c].Name, value)
}

func (s *tauStream) count(name string, value float64) {
	s.f.guard.Lock()
	s.f.event(s.at, oneLine(name)).add(value)
	s.f.guard.Unlock()
}

// Attribute counts a number as a user event. Texts are only counted.
func (s *tauStream) Attribute(a trace.AttributeID, v trace.Value) {
	name, ok := s.f.attributeOf[a]
	if !ok {
		name = fmt.Sprintf("attribute %d", a)
	}
	if number, isNumber := v.Number(); isNumber && v.Kind != trace.ValueText && number-number == 0 {
		s.count(name, number)
		return
	}
	if s.texts == nil {
		s.texts = map[string]int64{}
	}
	s.texts[name]++
}

// left lists the records of the stream that are not in the file.
func (s *tauStream) left() string {
	var parts []string
	for name, n := range s.texts {
		parts = append(parts, fmt.Sprintf("texts of %s: %d", name, n))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

func (s *tauStream) Close() error {
	for i := len(s.stack) - 1; i >= 0; i-- {
		s.call(s.stack[i].node, s.last-s.stack[i].begin)
	}
	s.stack = nil
	s.nest()
	err := s.write()
	s.f.fail(err)
	return err
}

// nest finds callers for intervals given as a whole: the shortest that holds each.
// Those that overlap without nesting run side by side.
func (s *tauStream) nest() {
	slices.SortStableFunc(s.whole,
		func(a, b tauInterval) int { return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(b.end, a.end)) })
	var lanes [][]tauFrame
	for _, x := range s.whole {
		at := -1
		for k := range lanes {
			l := lanes[k]
			for len(l) > 0 && l[len(l)-1].end <= x.begin {
				l = l[:len(l)-1]
			}
			lanes[k] = l
			if len(l) == 0 || l[len(l)-1].end >= x.end {
				at = k
				break
			}
		}
		if at < 0 {
			at = len(lanes)
			lanes = append(lanes, nil)
		}
		parent := int32(-1)
		if l := lanes[at]; len(l) > 0 {
			parent = l[len(l)-1].node
		}
		id := s.node(parent, x.region)
		s.call(id, x.end-x.begin)
		lanes[at] = append(lanes[at], tauFrame{node: id, end: x.end})
	}
	s.whole = nil
}

// A tauTotal is a region over all its callers.
type tauTotal struct {
	calls, subcalls      int64
	inclusive, exclusive trace.Time
}

// write makes the file of the thread, but for its user events.
func (s *tauStream) write() error {
	f := s.f
	file, err := os.Create(f.name(s.at))
	if err != nil {
		return err
	}
	f.guard.Lock()
	f.done[s.at] = true
	f.guard.Unlock()
	f.mu.RLock()
	defer f.mu.RUnlock()
	totals, order, paths := s.totals()
	w := bufio.NewWriter(file)
	fmt.Fprintf(w, "%d templated_functions_MULTI_TIME\n# Name Calls Subrs Excl Incl ProfileCalls # %s\n",
		len(order)+paths, f.metadata(s.at, s.left()))
	for _, r := range order {
		t := totals[r]
		s.line(w, s.timer(r), t.calls, t.subcalls, t.exclusive, t.inclusive, s.group(r))
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		if n.parent < 0 || n.calls == 0 {
			continue
		}
		group := "TAU_CALLPATH|" + s.group(n.region)
		s.line(w, s.path(int32(i)), n.calls, n.subcalls, n.inclusive-n.childrenIn, n.inclusive, group)
	}
	fmt.Fprintln(w, "0 aggregates")
	return cmp.Or(w.Flush(), file.Close())
}

// totals adds up call paths by region; recursion counts once in inclusive time.
func (s *tauStream) totals() (totals map[trace.RegionID]tauTotal, order []trace.RegionID, paths int) {
	totals = map[trace.RegionID]tauTotal{}
	for i := range s.nodes {
		n := &s.nodes[i]
		t, known := totals[n.region]
		if !known {
			order = append(order, n.region)
		}
		t.calls += n.calls
		t.subcalls += n.subcalls
		t.exclusive += n.inclusive - n.childrenIn
		outermost := true
		for up := n.parent; up >= 0; up = s.nodes[up].parent {
			outermost = outermost && s.nodes[up].region != n.region
		}
		if outermost {
			t.inclusive += n.inclusive
		}
		totals[n.region] = t
		if n.parent >= 0 && n.calls > 0 {
			paths++
		}
	}
	return totals, order, paths
}

func (s *tauStream) line(w *bufio.Writer, name string, calls, subcalls int64, exclusive, inclusive trace.Time,
	group string) {
	fmt.Fprintf(w, "\"%s\" %d %d %s %s 0 GROUP=\"%s\" \n", name, calls, subcalls, short(float64(exclusive)/1000),
		short(float64(inclusive)/1000), group)
}

func (s *tauStream) group(r trace.RegionID) string {
	if g := oneLine(s.f.regions[r].Category); g != "" {
		return g
	}
	return "TAU_DEFAULT"
}

// timer is a region's name with its place in the source.
func (s *tauStream) timer(r trace.RegionID) string {
	g := &s.f.regions[r]
	name := strings.ReplaceAll(oneLine(g.Name), "=>", "->")
	if g.File != "" {
		return fmt.Sprintf("%s [{%s} {%d,0}]", name, g.File, g.Line)
	}
	return name
}

func (s *tauStream) path(id int32) string {
	var names []string
	for ; id >= 0; id = s.nodes[id].parent {
		names = append(names, s.timer(s.nodes[id].region))
	}
	slices.Reverse(names)
	return strings.Join(names, " => ")
}
