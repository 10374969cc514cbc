package timeline

import (
	"context"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/share"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Item kinds.
const (
	ofRow     = 1 + iota // A: row
	ofGap                // A: row in which nothing is open there
	ofGroup              // A: row of a group; where it is asked for says the bin
	ofSpan               // A: row, B: strip, C: the first of the spans that are drawn as one
	ofCell               // A: row, B: strip, C: cell of its image
	ofCounter            // A: series; where it is asked for says the bin
	ofInstant            // A: mark
	ofLink               // A: arrow
	ofBurst              // A: burst
	ofStretch            // A, B: the first and the last of the stretches that are drawn as one
)

// near is how far from a symbol a cursor may be, in pixels.
const near = 3

// aimRows makes rows items, where nothing is over them.
func aimRows(s *scene.Scene, d *drawing, c *content) {
	labels, inside := &scene.Rect{}, &scene.Rect{}
	end := d.x(d.end) // the axis may go on after the run
	for i := range d.rows {
		b := d.rows[i]
		row := s.Item(ofRow, i)
		labels.AddAim(0, b.from, d.frame.x, b.to-b.from, row)
		switch {
		case c.groups[i] != nil:
			inside.AddAim(d.frame.x, b.from, d.frame.w, b.to-b.from, s.Place(ofGroup, i))
		case c.leaves[i] != nil && len(c.leaves[i].list) > 0:
			inside.AddAim(d.frame.x, b.from, end-d.frame.x, b.to-b.from, s.Item(ofGap, i))
		default:
			inside.AddAim(d.frame.x, b.from, end-d.frame.x, b.to-b.from, row)
		}
		for _, at := range b.counters {
			inside.AddAim(d.frame.x, at.from-2, d.frame.w, at.to-at.from+4, s.Place(ofCounter, at.index))
		}
		if right := d.right(); end < right {
			inside.AddAim(end, b.from, right-end, b.to-b.from, row)
		}
	}
	s.AddLayer("labels", -1, labels)
	s.AddLayer("rows", 0, inside)
}

// timeOf is the time at which a placed item was asked for, all of which are as wide as the axis.
func (in *input) timeOf(it scene.Item) trace.Time {
	x, _ := it.Place()
	t := in.selection.Begin + trace.Time(x*float64(in.length()))
	return min(max(t, in.selection.Begin), in.selection.End-1)
}

// Fact returns the facts of an item that need no access to the store.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	tree, a := r.reader.Locations(), int(it.A)
	switch it.Of {
	case ofRow:
		return rowFact(tree, &r.rows[a]), true
	case ofGap:
		return gapFact(&r.rows[a]), true
	case ofGroup:
		return groupFact(rowFact(tree, &r.rows[a]), r.groups[a], r.timeOf(it), r.rule.keep == nil), true
	case ofCell:
		x, ok := r.spanOf(it)
		if !ok {
			return gapFact(&r.rows[a]), true
		}
		b := briefOf(&r.rows[a], x, r.regions)
		return b.Fact(), true
	case ofCounter:
		return counterFact(r.counters.list[a], r.timeOf(it)), true
	case ofInstant:
		m := &r.marks[a]
		return instantFact(tree, r.rows[m.row].location, r.regions[m.region].Name, m), true
	case ofLink:
		return linkFact(tree, &r.links.arrows[a]), true
	case ofBurst:
		return burstFact(r.rows, &r.links.bursts[a], r.reader.Info().End), true
	case ofStretch:
		return stretchFact(r.regions, r.critical, a, int(it.B)), true
	}
	return view.Fact{}, false
}

// Brief implements view.Briefer: spans are many.
func (r *result) Brief(it scene.Item) (view.Brief, bool) {
	if it.Of != ofSpan {
		return view.Brief{}, false
	}
	x, _ := r.spanOf(it)
	return briefOf(&r.rows[it.A], x, r.regions), true
}

// Detail adds the facts that need the store.
func (r *result) Detail(it scene.Item, f *view.Fact) (err error) {
	if it.Of != ofGap && it.Of != ofSpan && it.Of != ofCell {
		return nil
	}
	w := &r.rows[it.A]
	x, ok := r.spanOf(it)
	if !ok {
		f.Lines = rowFact(r.reader.Locations(), w).Lines
		return nil
	}
	l := r.leaves[it.A]
	if x.aggregate() {
		*f, err = aggregateFact(r.input, w.label, l, &l.list[it.B], &x)
	} else {
		*f, err = intervalFact(r.reader, store.Row{Location: l.location, Lane: int(x.lane), Row: int(x.row)})
	}
	return err
}

// spanOf returns the span of an item: a span joined with the following ones that are drawn as one
// with it, or the span that a cell shows.
func (r *result) spanOf(it scene.Item) (x span, ok bool) {
	if it.Of == ofGap {
		return x, false
	}
	spans := r.leaves[it.A].list[it.B].spans
	if it.Of == ofCell {
		return spanIn(spans, r.grid, int(it.C))
	}
	x = spans[it.C]
	for k := int(it.C) + 1; k < len(spans) && joins(&x, &spans[k], r.inks.alike); k++ {
		x.join(&spans[k])
	}
	return x, true
}

// spanIn finds the span that a cell of an image shows: of those in its bin the one with most of it.
func spanIn(spans []span, g grid, cell int) (x span, ok bool) {
	bin := g.bin(g.begin) + int64(cell%g.bins())
	begin, end := g.binBegin(bin), g.binBegin(bin+1)
	most := trace.Time(-1)
	for k := sort.Search(len(spans), func(k int) bool { return spans[k].end >= begin }); k < len(spans) &&
		spans[k].begin < end; k++ {
		if part := min(spans[k].end, end) - max(spans[k].begin, begin); part >= most {
			x, most, ok = spans[k], part, true
		}
	}
	return x, ok
}

func briefOf(w *row, x span, regions []trace.Region) view.Brief {
	b := view.Brief{Title: w.label, On: w.label, Region: x.region, Begin: x.begin, End: x.end, Count: int64(x.count)}
	if !x.aggregate() && x.region != trace.NoRegion {
		b.Title = regions[x.region].Name
	}
	return b
}

// gapFact says that nothing is open; the row's own facts come later.
func gapFact(w *row) view.Fact {
	return view.Fact{Title: w.label, Text: "Nothing is open here.",
		Locations: []trace.LocationID{w.location}, More: true}
}

// rowFact describes a row.
func rowFact(tree *store.Tree, w *row) view.Fact {
	f := view.Fact{Title: w.label}
	if w.location != trace.NoLocation {
		f.Say("path", tree.Path(w.location), "")
		f.Say("kind", string(tree.Kind[w.location]), "")
		if rank := tree.Rank[w.location]; rank != trace.NoRank {
			f.Say("rank", strconv.Itoa(int(rank)), "")
		}
		for _, a := range tree.Attributes[w.location] {
			f.Say(a.Key, a.Value.String(), "")
		}
		f.Locations = []trace.LocationID{w.location}
	} else {
		f.Locations = w.pieces
	}
	if w.count > 1 {
		f.Count = int64(w.count)
		f.Say("locations with intervals", view.Thousands(int64(w.count)), "")
	}
	return f
}

func count(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return view.Thousands(n) + " " + what + "s"
}

// intervalFact describes one interval.
func intervalFact(reader store.Reader, at store.Row) (view.Fact, error) {
	c, err := reader.Interval(at)
	if err != nil || c == nil {
		return view.Fact{Title: "interval"}, err
	}
	g := &reader.Regions()[c.Region[0]]
	begin, end := c.Begin[0], c.End(0)
	f := view.Fact{
		Title: g.Name, Locations: []trace.LocationID{at.Location}, Regions: []trace.RegionID{c.Region[0]},
		Begin: &begin, End: &end, Row: &at,
	}
	f.Say("location", reader.Locations().Path(at.Location), "")
	f.Say("role", g.Role.String(), "")
	f.SayTime("begin", begin)
	f.SayTime("end", end)
	f.SayTime("duration", c.Duration[0])
	f.SayTime("exclusive", c.Exclusive[0])
	f.Say("depth", strconv.Itoa(int(c.Depth[0])), "")
	if g.Category != "" {
		f.Say("category", g.Category, "")
	}
	path, err := callers(reader, at, int(c.Parent[0]))
	if err != nil {
		return f, err
	}
	if path != "" {
		f.Say("called from", path, "")
	}
	if at.Lane > 0 {
		f.Say("lane", strconv.Itoa(at.Lane), "")
	}
	if g.File != "" {
		f.Say("source", source(g), "")
	}
	facts, err := reader.IntervalAttributes(at)
	for _, a := range facts {
		f.Say(a.Key, a.Value.String(), "")
	}
	return f, err
}

func source(g *trace.Region) string {
	if g.Line > 0 {
		return g.File + ":" + strconv.Itoa(g.Line)
	}
	return g.File
}

// callers names the intervals around one, outermost first.
func callers(reader store.Reader, at store.Row, parent int) (string, error) {
	var names []string
	for parent >= 0 {
		c, err := reader.Interval(store.Row{Location: at.Location, Lane: at.Lane, Row: parent})
		if err != nil {
			return "", err
		}
		if c == nil {
			break
		}
		names = append(names, reader.Regions()[c.Region[0]].Name)
		parent = int(c.Parent[0])
	}
	slices.Reverse(names)
	return strings.Join(names, " → "), nil
}

// aggregateFact describes an aggregate, from the rows of its bin.
func aggregateFact(in *input, title string, l *strips, s *strip, x *span) (view.Fact, error) {
	begin, end := x.begin, x.end
	f := view.Fact{
		Title: title, Text: "Aggregated: " + count(int64(x.count), "interval"), Count: int64(x.count),
		Locations: []trace.LocationID{l.location}, Begin: &begin, End: &end,
	}
	f.SayTime("from", begin)
	f.SayTime("to", end)
	if x.region != trace.NoRegion {
		f.Regions = []trace.RegionID{x.region}
	}
	totals, err := binTotals(in, l, s, x)
	if err != nil {
		return f, err
	}
	for k, t := range totals {
		if k == 8 {
			f.Say("and", count(int64(len(totals)-k), "more region"), "")
			break
		}
		share := float64(t.time) / float64(max(1, end-begin))
		f.Say(in.regions[t.region].Name, view.FormatShare(share)+", "+beginning(t.calls),
			view.Thousands(int64(t.time))+" ns")
	}
	return f, nil
}

// binTotals adds up the times that a strip shows in a bin, most time first.
func binTotals(in *input, l *strips, s *strip, x *span) ([]total, error) {
	sums := map[trace.RegionID]*total{}
	at := func(id trace.RegionID) *total {
		if sums[id] == nil {
			sums[id] = &total{region: id}
		}
		return sums[id]
	}
	mine := func(lane, depth int) bool { return (s.lane < 0 || s.lane == lane) && (s.level < 0 || s.level == depth) }
	collect := share.Collector{
		Begin: x.begin, End: x.end, Regions: in.regions, Keep: in.rule.keep, Wins: store.RoleOfInstant,
		Emit: func(_ trace.LocationID, p share.Piece) {
			if mine(p.Lane, s.level) {
				at(p.Region).time += p.End - p.Begin
			}
		},
		Row: func(c *trace.Columns, k int) {
			if mine(c.Lane, int(c.Depth[k])) && in.rule.keeps(c.Region[k]) {
				at(c.Region[k]).calls++
			}
		},
	}
	if s.lane < 0 {
		collect.Lanes = func(trace.LocationID) int { return l.lanes }
	}
	w := store.Window{Begin: x.begin, End: max(x.end, x.begin+1), Locations: []trace.LocationID{l.location}}
	err := in.reader.Intervals(context.Background(), w, func(c *trace.Columns) error {
		switch {
		case c.Location != l.location: // the tree below is not drawn in this row
		case s.level >= 0:
			levelTotals(&in.rule, c, s, x, at)
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
	slices.SortFunc(out, compareTotals)
	return out, err
}

// beginning describes how many intervals begin in a cell: one that is longer passes through several.
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
func levelTotals(r *rule, c *trace.Columns, s *strip, x *span, at func(trace.RegionID) *total) {
	if c.Lane != s.lane {
		return
	}
	if s.level < len(c.Open) && c.Open[s.level].Begin < x.begin && r.keeps(c.Open[s.level].Region) {
		o := c.Open[s.level]
		at(o.Region).time += max(0, min(o.End, x.end)-x.begin)
	}
	for k := range c.Begin {
		if int(c.Depth[k]) == s.level && r.keeps(c.Region[k]) {
			at(c.Region[k]).time += max(0, min(c.End(k), x.end)-c.Begin[k])
			at(c.Region[k]).calls++
		}
	}
}

// groupFact adds the shares of a bin of a group to the facts of its row.
func groupFact(f view.Fact, g *stack, t trace.Time, all bool) view.Fact {
	bin := min(max(0, int(g.grid.bin(t)-g.grid.bin(g.grid.begin))), g.bins-1)
	begin, end := g.begin(bin), min(g.begin(bin+1), g.last)
	f.Begin, f.End = &begin, &end
	f.Text = "Aggregated: " + count(int64(g.rows), "location")
	f.SayTime("from", begin)
	f.SayTime("to", end)
	left := 1.0
	for _, role := range roleOrder {
		if share := g.share(bin, role); share > 0 {
			left -= share
			f.Say(role.String(), view.FormatShare(share),
				view.Thousands(int64(g.time[bin*trace.RoleCount+int(role)]))+" ns")
		}
	}
	if left > 1e-9 && all {
		f.Say("nothing open", view.FormatShare(left), "")
	}
	return f
}

func burstFact(rows []row, b *burst, last trace.Time) view.Fact {
	begin, end := b.begin, min(b.end, last)
	from := rows[b.rows[0]].label
	if b.rows[1] > b.rows[0] {
		from += " … " + rows[b.rows[1]].label
	}
	f := view.Fact{Title: view.Thousands(b.count) + " links", Text: "Too dense to draw: zoom in to see each.",
		Count: b.count, Begin: &begin, End: &end}
	f.Say("start on", from, "")
	f.SayTime("from", begin)
	f.SayTime("to", end)
	return f
}

func linkFact(tree *store.Tree, l *link) view.Fact {
	begin, end := min(l.fromTime, l.toTime), max(l.fromTime, l.toTime)
	f := view.Fact{Title: l.kind.String(), Locations: []trace.LocationID{l.from, l.to}, Begin: &begin, End: &end}
	f.Say("from", tree.Path(l.from), "")
	f.SayTime("at", l.fromTime)
	f.Say("to", tree.Path(l.to), "")
	f.SayTime("at", l.toTime)
	f.SayTime("takes", l.toTime-l.fromTime)
	if l.size >= 0 {
		f.Say("size", view.FormatBytes(float64(l.size)), view.Thousands(l.size)+" bytes")
	}
	if l.kind == trace.LinkMessage {
		f.Say("tag", strconv.FormatInt(l.tag, 10), "")
	}
	if l.count > 1 {
		f.Count = l.count
	}
	return f
}

func instantFact(tree *store.Tree, at trace.LocationID, name string, m *instant) view.Fact {
	t := m.time
	f := view.Fact{Title: name, Locations: []trace.LocationID{at}, Begin: &t, End: &t}
	f.Say("instant on", tree.Path(at), "")
	f.SayTime("at", t)
	if m.count > 1 {
		f.Count = int64(m.count)
		f.Text = "Aggregated: " + count(int64(m.count), "instant")
	}
	return f
}

func counterFact(c *series, t trace.Time) view.Fact {
	b := int(c.grid.bin(t) - c.grid.bin(c.grid.begin))
	f := view.Fact{Title: c.name, Locations: []trace.LocationID{c.location}}
	f.SayTime("at", t)
	for b > 0 && b < len(c.low) && math.IsNaN(c.low[b]) {
		b-- // the value holds until the next sample
	}
	if b >= 0 && b < len(c.low) && !math.IsNaN(c.low[b]) {
		low, high := strconv.FormatFloat(c.low[b], 'g', -1, 64), strconv.FormatFloat(c.high[b], 'g', -1, 64)
		f.Say("least", view.FormatCount(c.low[b])+" "+c.unit, low)
		f.Say("greatest", view.FormatCount(c.high[b])+" "+c.unit, high)
	}
	return f
}
