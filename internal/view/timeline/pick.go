package timeline

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// near is how far from a line or symbol a cursor may be, in pixels.
const near = 3

// Pick says what is at a place: a link, an instant, a counter, an interval, an
// aggregate, or the row.
func (r *result) Pick(x, y float64) (view.Fact, bool) {
	d := r.drawn
	if d == nil || math.IsNaN(x) || math.IsNaN(y) {
		return view.Fact{}, false
	}
	px, py := float32(x), float32(y)
	i := d.rowAt(py)
	if i < 0 || px >= d.frame.x+d.frame.w {
		return view.Fact{}, false
	}
	if px < d.frame.x {
		return r.rowFact(i), true
	}
	if f, ok := r.pickCritical(px, py, i); ok {
		return f, true
	}
	if f, ok := r.pickLink(px, py); ok {
		return f, true
	}
	if f, ok := r.pickInstant(px, py, i); ok {
		return f, true
	}
	if px > d.x(r, r.selection.End) { // the axis goes on after the run
		return r.rowFact(i), true
	}
	t := d.time(r, px)
	for _, c := range d.rows[i].counters {
		if py >= c.from-2 && py < c.to+2 {
			return r.counterFact(r.series[c.index], t), true
		}
	}
	if g := r.groups[i]; g != nil {
		return r.groupFact(i, g, t), true
	}
	return r.pickSpan(i, px, py, t)
}

func (d *drawing) rowAt(y float32) int {
	if y < d.frame.y || y >= d.frame.y+d.frame.h {
		return -1
	}
	i := sort.Search(len(d.rows), func(i int) bool { return d.rows[i].to > y })
	if i == len(d.rows) {
		return -1
	}
	return i
}

// rowFact describes a row.
func (r *result) rowFact(i int) view.Fact {
	w := &r.rows[i]
	f := view.Fact{Title: w.label, Lines: []view.FactLine{}}
	tree := r.reader.Locations()
	if w.location != trace.NoLocation {
		f.Lines = append(f.Lines, line("path", tree.Path(w.location)), line("kind", string(tree.Kind[w.location])))
		if rank := tree.Rank[w.location]; rank != trace.NoRank {
			f.Lines = append(f.Lines, line("rank", strconv.Itoa(int(rank))))
		}
		for _, a := range tree.Attributes[w.location] {
			f.Lines = append(f.Lines, line(a.Key, a.Value.String()))
		}
		f.Locations = []trace.LocationID{w.location}
	} else {
		f.Locations = w.pieces
	}
	if w.count > 1 {
		f.Count = int64(w.count)
		f.Lines = append(f.Lines, line("locations with intervals", view.Thousands(int64(w.count))))
	}
	return f
}

func line(label, value string) view.FactLine { return view.FactLine{Label: label, Value: value} }

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return view.Thousands(n) + " " + what + "s"
}

func timeLine(label string, t trace.Time) view.FactLine {
	return view.FactLine{Label: label, Value: view.FormatTime(t), Exact: view.Thousands(int64(t)) + " ns"}
}

// pickSpan finds the span under the cursor.
func (r *result) pickSpan(i int, px, py float32, t trace.Time) (view.Fact, bool) {
	l := r.leaves[i] // nil for headers
	if l == nil || len(l.list) == 0 {
		return r.rowFact(i), true
	}
	strips := r.drawn.rows[i].strips
	k := sort.Search(len(strips), func(k int) bool { return strips[k].to > py })
	s := &l.list[strips[min(k, len(strips)-1)].index]
	at := sort.Search(len(s.spans), func(n int) bool { return s.spans[n].begin > t })
	best := -1
	// Narrow things are drawn a pixel wide: the nearest within that counts.
	for n := max(0, at-2); n < min(len(s.spans), at+2); n++ {
		x0, x1 := r.drawn.x(r, s.spans[n].begin), r.drawn.x(r, s.spans[n].end)
		if px >= x0-0.5 && px < max(x1, x0+1) && (best < 0 || s.spans[n].begin <= t) {
			best = n
		}
	}
	if best < 0 {
		f := r.rowFact(i)
		f.Text = "Nothing is open at " + view.FormatTime(t) + "."
		return f, true
	}
	x := &s.spans[best]
	if x.aggregate() {
		return r.aggregateFact(i, l, s, x), true
	}
	return r.intervalFact(store.Row{Location: l.location, Lane: int(x.lane), Row: int(x.row)}), true
}

// intervalFact tells everything about one interval.
func (r *result) intervalFact(at store.Row) view.Fact {
	c, ok := r.reader.Interval(at)
	if !ok {
		return view.Fact{Title: "interval", Lines: []view.FactLine{}}
	}
	g := &r.regions[c.Region[0]]
	begin, end := c.Begin[0], c.End(0)
	f := view.Fact{
		Title: g.Name, Locations: []trace.LocationID{at.Location}, Regions: []trace.RegionID{c.Region[0]},
		Begin: &begin, End: &end, Row: &at,
		Lines: []view.FactLine{
			line("location", r.reader.Locations().Path(at.Location)), line("role", g.Role.String()),
			timeLine("begin", begin), timeLine("end", end), timeLine("duration", c.Duration[0]), timeLine("exclusive", c.Exclusive[0]),
			line("depth", strconv.Itoa(int(c.Depth[0]))),
		},
	}
	if g.Category != "" {
		f.Lines = append(f.Lines, line("category", g.Category))
	}
	if path := r.callers(at, int(c.Parent[0])); path != "" {
		f.Lines = append(f.Lines, line("called from", path))
	}
	if at.Lane > 0 {
		f.Lines = append(f.Lines, line("lane", strconv.Itoa(at.Lane)))
	}
	if g.File != "" {
		f.Lines = append(f.Lines, line("source", source(g)))
	}
	for _, a := range r.reader.IntervalAttributes(at) {
		f.Lines = append(f.Lines, line(a.Key, a.Value.String()))
	}
	return f
}

func source(g *trace.Region) string {
	if g.Line > 0 {
		return g.File + ":" + strconv.Itoa(g.Line)
	}
	return g.File
}

// callers names the intervals around one, outermost first.
func (r *result) callers(at store.Row, parent int) string {
	var names []string
	for parent >= 0 {
		c, ok := r.reader.Interval(store.Row{Location: at.Location, Lane: at.Lane, Row: parent})
		if !ok {
			break
		}
		names = append(names, r.regions[c.Region[0]].Name)
		parent = int(c.Parent[0])
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return strings.Join(names, " → ")
}

// aggregateFact says what an aggregate stands for, from the rows of its bin.
func (r *result) aggregateFact(i int, l *strips, s *strip, x *span) view.Fact {
	begin, end := x.begin, x.end
	f := view.Fact{
		Title: r.rows[i].label, Text: "Aggregated: " + count(int64(x.count), "interval"), Count: int64(x.count),
		Locations: []trace.LocationID{l.location}, Begin: &begin, End: &end,
		Lines: []view.FactLine{timeLine("from", begin), timeLine("to", end)},
	}
	if x.region != trace.NoRegion {
		f.Regions = []trace.RegionID{x.region}
	}
	totals, err := r.binTotals(l, s, x)
	if err != nil {
		return f
	}
	for k, t := range totals {
		if k == 8 {
			f.Lines = append(f.Lines, line("and", count(int64(len(totals)-k), "more region")))
			break
		}
		share := float64(t.time) / float64(max(1, end-begin))
		f.Lines = append(f.Lines, view.FactLine{
			Label: r.regions[t.region].Name, Value: view.FormatShare(share) + ", " + beginning(t.calls),
			Exact: view.Thousands(int64(t.time)) + " ns",
		})
	}
	return f
}

// binTotals adds up what a strip shows in a bin, most time first.
func (r *result) binTotals(l *strips, s *strip, x *span) ([]total, error) {
	sums := map[trace.RegionID]*total{}
	at := func(id trace.RegionID) *total {
		if sums[id] == nil {
			sums[id] = &total{region: id}
		}
		return sums[id]
	}
	mine := func(lane, depth int) bool { return (s.lane < 0 || s.lane == lane) && (s.level < 0 || s.level == depth) }
	collect := share.Collector{
		Begin: x.begin, End: x.end, Regions: r.regions, Keep: r.rule.keep, Wins: store.RoleOfInstant,
		Emit: func(_ trace.LocationID, p share.Piece) {
			if mine(p.Lane, s.level) {
				at(p.Region).time += p.End - p.Begin
			}
		},
		Row: func(c *trace.Columns, k int) {
			if mine(c.Lane, int(c.Depth[k])) && r.rule.keeps(c.Region[k]) {
				at(c.Region[k]).calls++
			}
		},
	}
	if s.lane < 0 {
		collect.Lanes = func(trace.LocationID) int { return l.lanes }
	}
	w := store.Window{Begin: x.begin, End: max(x.end, x.begin+1), Locations: []trace.LocationID{l.location}}
	err := r.reader.Intervals(context.Background(), w, func(c *trace.Columns) error {
		switch {
		case c.Location != l.location: // the tree below is not drawn in this row
		case s.level >= 0:
			r.levelTotals(c, s, x, at)
		default:
			collect.Add(c)
		}
		return nil
	})
	collect.Close()
	out := make([]total, 0, len(sums))
	for _, t := range sums {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b total) int { return cmp.Or(cmp.Compare(b.time, a.time), cmp.Compare(a.region, b.region)) })
	return out, err
}

// beginning says how many intervals begin in a cell: one that is longer passes through several.
func beginning(n int64) string {
	switch n {
	case 0:
		return "began before"
	case 1:
		return "1 interval begins"
	}
	return count(n, "interval") + " begin"
}

// levelTotals adds up the intervals of one level of nesting.
func (r *result) levelTotals(c *trace.Columns, s *strip, x *span, at func(trace.RegionID) *total) {
	if c.Lane != s.lane {
		return
	}
	if s.level < len(c.Open) && c.Open[s.level].Begin < x.begin && r.rule.keeps(c.Open[s.level].Region) {
		o := c.Open[s.level]
		at(o.Region).time += max(0, min(o.End, x.end)-x.begin)
	}
	for k := range c.Begin {
		if int(c.Depth[k]) == s.level && r.rule.keeps(c.Region[k]) {
			at(c.Region[k]).time += max(0, min(c.End(k), x.end)-c.Begin[k])
			at(c.Region[k]).calls++
		}
	}
}

// groupFact gives the shares of a bin of a group.
func (r *result) groupFact(i int, g *stack, t trace.Time) view.Fact {
	f := r.rowFact(i)
	bin := min(max(0, int(g.grid.bin(t)-g.grid.bin(g.grid.begin))), g.bins-1)
	begin, end := g.begin(bin), g.begin(bin+1)
	f.Begin, f.End = &begin, &end
	f.Text = "Aggregated: " + count(int64(g.rows), "location")
	f.Lines = append(f.Lines, timeLine("from", begin), timeLine("to", end))
	left := 1.0
	for _, role := range roleOrder {
		if share := g.share(bin, role); share > 0 {
			left -= share
			f.Lines = append(f.Lines, view.FactLine{Label: role.String(), Value: view.FormatShare(share), Exact: view.Thousands(int64(g.time[bin*trace.RoleCount+int(role)])) + " ns"})
		}
	}
	if left > 1e-9 && r.rule.keep == nil {
		f.Lines = append(f.Lines, line("nothing open", view.FormatShare(left)))
	}
	return f
}

// pickLink finds the nearest arrow or burst.
func (r *result) pickLink(px, py float32) (view.Fact, bool) {
	best, distance := -1, float32(near)
	for k := range r.drawn.lines {
		l := &r.drawn.lines[k]
		if at := l.distance(px, py); at <= distance {
			best, distance = k, at
		}
	}
	if best < 0 {
		return view.Fact{}, false
	}
	tree := r.reader.Locations()
	if b := r.drawn.lines[best].burst; b != nil {
		begin, end := b.begin, b.end
		from := r.rows[b.rows[0]].label
		if b.rows[1] > b.rows[0] {
			from += " … " + r.rows[b.rows[1]].label
		}
		return view.Fact{
			Title: view.Thousands(b.count) + " links", Text: "Too dense to draw: zoom in to see each.", Count: b.count, Begin: &begin, End: &end,
			Lines: []view.FactLine{line("start on", from), timeLine("from", begin), timeLine("to", end)},
		}, true
	}
	l := r.drawn.lines[best].link
	begin, end := min(l.fromTime, l.toTime), max(l.fromTime, l.toTime)
	f := view.Fact{
		Title: l.kind.String(), Locations: []trace.LocationID{l.from, l.to}, Begin: &begin, End: &end,
		Lines: []view.FactLine{
			line("from", tree.Path(l.from)), timeLine("at", l.fromTime), line("to", tree.Path(l.to)), timeLine("at", l.toTime),
			timeLine("takes", l.toTime-l.fromTime),
		},
	}
	if l.size >= 0 {
		f.Lines = append(f.Lines, view.FactLine{Label: "size", Value: view.FormatBytes(float64(l.size)), Exact: view.Thousands(l.size) + " bytes"})
	}
	if l.kind == trace.LinkMessage {
		f.Lines = append(f.Lines, line("tag", strconv.FormatInt(l.tag, 10)))
	}
	if l.count > 1 {
		f.Count = l.count
	}
	return f, true
}

// distance from a place to an arrow, or into a burst.
func (l *drawnLink) distance(px, py float32) float32 {
	if l.burst != nil {
		return max(0, float32(math.Hypot(float64(px-l.x0), float64(py-l.y0)))-l.radius)
	}
	dx, dy := l.x1-l.x0, l.y1-l.y0
	t := float32(0)
	if n := dx*dx + dy*dy; n > 0 {
		t = min(max(((px-l.x0)*dx+(py-l.y0)*dy)/n, 0), 1)
	}
	return float32(math.Hypot(float64(px-l.x0-t*dx), float64(py-l.y0-t*dy)))
}

func (r *result) pickInstant(px, py float32, i int) (view.Fact, bool) {
	if py > r.drawn.rows[i].from+8 && r.reader.Info().Intervals > 0 {
		return view.Fact{}, false
	}
	for _, m := range r.marks {
		if m.row != i || float32(math.Abs(float64(r.drawn.x(r, m.time)-px))) > near+1 {
			continue
		}
		t := m.time
		f := view.Fact{
			Title: r.regions[m.region].Name, Locations: []trace.LocationID{r.rows[i].location}, Begin: &t, End: &t,
			Lines: []view.FactLine{line("instant on", r.reader.Locations().Path(r.rows[i].location)), timeLine("at", t)},
		}
		if m.count > 1 {
			f.Count = int64(m.count)
			f.Text = "Aggregated: " + count(int64(m.count), "instant")
		}
		return f, true
	}
	return view.Fact{}, false
}

func (r *result) counterFact(c *series, t trace.Time) view.Fact {
	b := int(c.grid.bin(t) - c.grid.bin(c.grid.begin))
	f := view.Fact{Title: c.name, Lines: []view.FactLine{timeLine("at", t)}, Locations: []trace.LocationID{c.location}}
	for b > 0 && b < len(c.low) && math.IsNaN(c.low[b]) {
		b-- // the value holds until the next sample
	}
	if b >= 0 && b < len(c.low) && !math.IsNaN(c.low[b]) {
		low, high := strconv.FormatFloat(c.low[b], 'g', -1, 64), strconv.FormatFloat(c.high[b], 'g', -1, 64)
		f.Lines = append(f.Lines, view.FactLine{Label: "least", Value: view.FormatCount(c.low[b]) + " " + c.unit, Exact: low},
			view.FactLine{Label: "greatest", Value: view.FormatCount(c.high[b]) + " " + c.unit, Exact: high})
	}
	return f
}
