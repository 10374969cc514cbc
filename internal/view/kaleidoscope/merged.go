package kaleidoscope

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// mostStripes is how many colours a sector shows where it is long enough, and leastStripes how many it shows at
	// least for them to be a mix; all others are grey.
	mostStripes, leastStripes = 12, 3
	// leastStripe is how long the part of a colour is at least, in pixels.
	leastStripe = 2
	// mostListed is how many regions are told of a sector.
	mostListed = 5
	// overlap is how far a sector reaches into the next one, in pixels, so that no gap shines through.
	overlap = 1
	// timeStripe is how long the part of a moment is, in pixels, and mostMoments how many there are.
	timeStripe, mostMoments = 3, 16
)

// drawMerged draws sectors that stand for several calls: stripes of their colours along the radius by share, to the
// level that holds nine tenths of the calls, and a line from there to the deepest.
func (r *result) drawMerged(p *painter) (sectors *scene.Polygon, rest *scene.Line) {
	rest = &scene.Line{Width: 1}
	var list []wedged
	for k := range r.families {
		f := &r.families[k]
		m := f.mix
		if m == nil && len(f.children) == 0 && r.fillsSector(f) {
			it := &r.items[r.places[f.place].node]
			list = append(list, wedged{it, r.d * float64(it.Level), r.d * float64(it.Level+1), f.colour, f.flag})
			p.saw(r.places[f.place].node, r.seen(it.Alloc*math.Pi/180*r.d*r.d*(float64(it.Level)+0.5)))
		}
		if m == nil || m.calls == 0 {
			continue
		}
		it := &r.items[r.places[f.place].node]
		from, to := r.d*float64(it.Level), r.d*float64(m.solid+1)
		for _, s := range r.stripes(p, m, to-from) {
			list = append(list, wedged{it, from, from + s.length, s.colour, f.flag})
			from += s.length
		}
		if it.Deepest > m.solid {
			sin, cos := math.Sincos((it.Start + it.Alloc/2) * math.Pi / 180)
			end := min(r.d*float64(it.Deepest+1), r.sight.Far)
			if from < end {
				r.addLine(rest, r.cx+from*cos, r.cy+from*sin, r.cx+end*cos, r.cy+end*sin, f.colour, scene.Dimmed)
			}
		}
	}
	return r.drawWedges(list), rest
}

// A wedged is a part of a sector between two radii.
type wedged struct {
	item     *invocation.Item
	from, to float64
	colour   scene.Colour
	flag     scene.Flag
}

// drawWedges draws parts of sectors on all cores: they are most of a picture.
func (r *result) drawWedges(list []wedged) *scene.Polygon {
	const part = 512
	parts := make([]scene.Polygon, (len(list)+part-1)/part)
	_ = parallel.For(context.Background(), len(parts), func(n int) {
		for _, w := range list[n*part : min((n+1)*part, len(list))] {
			xs, ys := wedge(w.item, w.from, w.to, r.cx, r.cy, &r.sight)
			addPolygon(&parts[n], xs, ys, w.colour, w.flag, r.size)
		}
	})
	all := &scene.Polygon{}
	for n := range parts {
		all.Join(&parts[n])
	}
	return all
}

// dotArc is how wide the sector of a call that made none is at least for a point to be drawn in it, in pixels.
const dotArc = 24

// fillsSector reports whether a call without calls fills its sector, as it did with others when it was merged: where
// that is narrow, and in a closer look, in which its point may be out of sight.
func (r *result) fillsSector(f *family) bool {
	if r.detail == nil || r.sight.Band > 1 {
		return false
	}
	it := &r.items[r.places[f.place].node]
	arc := it.Alloc * math.Pi / 180 * r.d * float64(it.Level+1)
	return it.End-it.First == 1 && it.Level > 0 && (arc < dotArc || r.isClose())
}

// A part is a stretch of a sector along the radius.
type part struct {
	colour scene.Colour
	length float64
}

// stripes share out a length among the colours of a mix, in the order of colours.
func (r *result) stripes(p *painter, m *mix, length float64) (out []part) {
	if p.ramps() {
		n := int(min(max(length/timeStripe, 1), mostMoments))
		for k := range n {
			at := m.low + (m.high-m.low)*(float64(k)+0.5)/float64(n)
			out = append(out, part{scene.Ramp(p.ramp, at), length / float64(n)})
		}
		return out
	}
	each := length / float64(m.calls)
	var shown []mixed
	grey := m.calls
	for _, c := range m.colours[:min(len(m.colours), mostStripes)] {
		if float64(c.calls)*each < leastStripe {
			break
		}
		grey -= c.calls
		shown = append(shown, c)
	}
	if len(shown) < min(leastStripes, len(m.colours)) {
		p.sawNode(&m.colours[0].node, length)
		return []part{{m.colours[0].colour, length}}
	}
	if float64(grey)*each < leastStripe { // of what is too little to be seen the others have a little more
		each = length / float64(m.calls-grey)
	} else if grey > 0 {
		shown = append(shown, mixed{colour: scene.UIAggregate, calls: grey})
	}
	for i := range shown {
		if c := &shown[i]; c.colour != scene.UIAggregate {
			p.sawNode(&c.node, float64(c.calls)*each)
		}
	}
	slices.SortStableFunc(shown, func(a, b mixed) int {
		return cmp.Or(cmp.Compare(btoi(a.colour == scene.UIAggregate), btoi(b.colour == scene.UIAggregate)),
			cmp.Compare(a.colour, b.colour))
	})
	for _, c := range shown {
		out = append(out, part{c.colour, float64(c.calls) * each})
	}
	return out
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// wedge returns the corners of a part of a sector between two radii: at least a pixel wide where it ends, and as far
// as it is in sight.
func wedge(it *invocation.Item, from, to, cx, cy float64, sight *invocation.Sight) (xs, ys []float32) {
	from, to = max(from, sight.Near-2), min(to, sight.Far+2)
	start, end := inSight(it, sight)
	start, end = start*math.Pi/180, end*math.Pi/180
	if least := 1.2 / max(to, 1); end-start < least {
		start, end = (start+end-least)/2, (start+end+least)/2
	}
	if to <= from {
		return nil, nil
	}
	switch width := (end - start) * to; {
	case it.Merged:
	case width > 4: // neighbours are distinguished
		start, end = start+0.5/to, end-0.5/to
	}
	steps := 1 + int(min((end-start)/chord(to), mostChords))
	xs, ys = make([]float32, 0, 2*(steps+1)), make([]float32, 0, 2*(steps+1))
	add := func(radius, share float64) {
		angle := start + (end-start)*share
		if it.Merged { // the next one covers it again
			angle += overlap * share / max(radius, 1)
		}
		sin, cos := math.Sincos(angle)
		xs, ys = append(xs, float32(cx+radius*cos)), append(ys, float32(cy+radius*sin))
	}
	for k := 0; k <= steps; k++ {
		add(to, float64(k)/float64(steps))
	}
	for k := steps; k >= 0; k-- {
		add(from, float64(k)/float64(steps))
	}
	return xs, ys
}

// inSight returns the angles of an item, of which those far out of sight may be cut off.
func inSight(it *invocation.Item, sight *invocation.Sight) (start, end float64) {
	start, end = it.Start, it.Start+it.Alloc
	if sight.Half >= 90 {
		return start, end
	}
	parts := 0
	for _, turn := range []float64{-360, 0, 360} {
		from, to := sight.Mid+turn-1.5*sight.Half, sight.Mid+turn+1.5*sight.Half
		if from = max(from, it.Start); from < min(to, it.Start+it.Alloc) {
			parts++
			start, end = from, min(to, it.Start+it.Alloc)
		}
	}
	if parts != 1 { // on both sides of where angles begin, or only near
		return it.Start, it.Start + it.Alloc
	}
	return start, end
}

// mostChords bounds the corners of an arc, most of which is out of sight.
const mostChords = 4096

// chord is the angle that a straight line of an arc takes: at most a tenth, and of large circles less, so that it is a
// quarter of a pixel from the arc.
func chord(radius float64) float64 {
	if radius < 480 {
		return 0.1
	}
	return math.Sqrt(2 / radius)
}

// sectorUnder returns the sector at a place; -1 for none.
func (r *result) sectorUnder(p point) int32 {
	if r.items == nil {
		return -1
	}
	radius := distance(point{r.cx, r.cy}, p)
	angle := math.Mod(math.Atan2(p.y-r.cy, p.x-r.cx)*180/math.Pi+360, 360)
	slack := 180 / math.Pi / max(radius, 1) // a pixel
	best, near := int32(-1), slack
	for k := range r.families {
		f := &r.families[k]
		it := &r.items[r.places[f.place].node]
		if f.mix == nil && (len(f.children) > 0 || !r.fillsSector(f)) || radius < r.d*float64(it.Level) ||
			radius > r.d*float64(max(it.Level, it.Deepest)+1) {
			continue
		}
		if far := max(it.Start-angle, angle-it.Start-it.Alloc, 0); far < near {
			best, near = int32(k), far
		}
	}
	return best
}

// A Share is the part that a region has of the calls of a sector.
type Share struct {
	Region string  `json:"region"`
	Share  float64 `json:"share"`
}

// A Sector stands for calls that are each less than a pixel wide, or are on a level that is not drawn. Its middle is
// given from the root in halves of the picture's smaller side, as --zoom takes it; time is that of the outermost of its
// calls, added up.
type Sector struct {
	X     float64 `json:"x"`
	Y     float64 `json:"y"`
	Calls int     `json:"calls"`
	Time  int64   `json:"time"`
	Mix   []Share `json:"mix"`
}

// sectors are those of the JSON output.
func (r *result) sectors() []Sector {
	out := []Sector{}
	for i := range r.items {
		if it := &r.items[i]; it.Merged {
			if s := r.sector(it.Level, it.Start, it.Alloc, it.Deepest+1, it.First, it.End); s.Calls > 0 {
				out = append(out, s)
			}
		}
	}
	return append(out, r.skippedSectors()...)
}

// sector counts the calls of a stretch that have begun.
func (r *result) sector(level int32, start, alloc float64, end int32, first, last int32) Sector {
	s := r.sectorAt(float64(level+end)/2, start+alloc/2)
	if r.forest.calls.Joined() {
		t := r.forest.calls.NewTally(len(r.forest.regions))
		t.Blocks, t.Outer = invocation.All, level+r.detail.level
		r.begun(r.detail.node(first), r.detail.node(last-1)+1, func(from, to int32) {
			r.forest.calls.Tally(from, to, invocation.OfRegion, t)
		})
		s.Calls, s.Time = int(t.Calls), int64(t.Time)
		count := map[trace.RegionID]int{}
		for _, id := range t.Seen {
			count[id] = int(t.Regions[id])
		}
		s.Mix = r.shares(count, s.Calls)
		return s
	}
	count := map[trace.RegionID]int{}
	r.eachOf(first, last, allFacts, func(n *invocation.Node) {
		if n.Begin > r.until {
			return
		}
		s.Calls++
		count[n.Region]++
		if n.Level == level {
			s.Time += int64(n.End - n.Begin)
		}
	})
	s.Mix = r.shares(count, s.Calls)
	return s
}

// begun calls f for the parts of a stretch of joined calls that have begun: of each lane its first calls.
func (r *result) begun(from, to int32, f func(from, to int32)) {
	if r.until >= r.forest.end {
		f(from, to)
		return
	}
	r.forest.calls.EachStretch(from, to, func(lane, from, to int32) {
		if to = min(to, r.cuts[lane]); from < to {
			f(from, to)
		}
	})
}

// eachOf calls f for the nodes of a stretch, with their levels in the tree that is shown.
func (r *result) eachOf(first, last int32, what invocation.Facts, f func(n *invocation.Node)) {
	const part = 1 << 12
	var nodes []invocation.Node
	places := make([]int32, 0, min(part, last-first))
	for ; first < last; first += part {
		places = places[:0]
		for k := first; k < min(first+part, last); k++ {
			places = append(places, r.detail.node(k))
		}
		nodes = r.forest.pick(places, what, nodes[:0])
		for i := range nodes {
			if r.forest.calls.OfRows() {
				nodes[i].Level -= r.detail.level
			} else {
				nodes[i].Level = r.detail.outline.Level(first + int32(i))
			}
			f(&nodes[i])
		}
	}
}

func (r *result) sectorAt(level, angle float64) Sector {
	sin, cos := math.Sincos(angle * math.Pi / 180)
	side := float64(max(min(r.request.Size.Width, r.request.Size.Height), 1))
	radius := level * r.ring / (side / 2)
	return Sector{X: radius * cos, Y: radius * sin}
}

// skippedSectors stand for calls on levels between two rings: one for each node that is drawn above them.
func (r *result) skippedSectors() (out []Sector) {
	if r.zoom != (zoom{factor: 1}) {
		return nil
	}
	by := map[int32]int{} // item to place in out
	counts := []map[trace.RegionID]int{}
	for _, k := range r.skipped {
		if k.Item < 0 {
			continue
		}
		c := &r.forest.pick([]int32{r.detail.node(k.Place)}, allFacts, nil)[0]
		if c.Begin > r.until {
			continue
		}
		it := &r.items[k.Item]
		n, known := by[k.Item]
		if !known {
			n = len(out)
			by[k.Item] = n
			out = append(out, r.sectorAt(float64(it.Level)+float64(r.sight.Band)/2, it.Start+it.Alloc/2))
			counts = append(counts, map[trace.RegionID]int{})
		}
		out[n].Calls++
		counts[n][c.Region]++
		if r.detail.outline.Level(k.Place) == it.Level+1 {
			out[n].Time += int64(c.End - c.Begin)
		}
	}
	for n := range out {
		out[n].Mix = r.shares(counts[n], out[n].Calls)
	}
	return out
}

// shares of regions, the largest first.
func (r *result) shares(count map[trace.RegionID]int, total int) []Share {
	out, regions := []Share{}, r.request.Store().Regions()
	for _, id := range mostFirst(count) {
		if id != trace.NoRegion {
			out = append(out, Share{regions[id].Name, float64(count[id]) / float64(max(total, 1))})
		}
	}
	return out
}

// mergedFact counts the calls and the time of a sector, and lists its parts.
func (r *result) mergedFact(i int) view.Fact {
	it := &r.items[i]
	s := r.sector(it.Level, it.Start, it.Alloc, it.Deepest+1, it.First, it.End)
	f := view.Fact{Title: plural(s.Calls, "call", "calls"),
		Text: "Each narrower than a pixel: double click to open.", Count: int64(s.Calls)}
	line := func(label, value string) { f.Say(label, value, "") }
	line("time of the outermost", view.FormatTime(trace.Time(s.Time)))
	for _, m := range s.Mix[:min(len(s.Mix), mostListed)] {
		line(m.Region, percent(m.Share))
	}
	if len(s.Mix) > mostListed {
		line("others", plural(len(s.Mix)-mostListed, "region", "regions"))
	}
	r.locationLines(it, line)
	first, last := r.timeOf(it)
	f.Begin, f.End = &first, &last
	line("begin", view.FormatTime(first)+" to "+view.FormatTime(last))
	line("levels", fmt.Sprintf("%d to %d", it.Level, it.Deepest))
	z := r.zoomTo(it.Start, r.widest(it), it.Level, 3)
	mid := r.sectorAt(float64(it.Level)+0.5, it.Start+it.Alloc/2)
	f.Open = map[string]string{"zoom": zoom{max(z.factor, 2*r.zoom.factor), mid.X, mid.Y}.String()}
	return f
}

// timeOf returns when the first and the last call of a sector begin.
func (r *result) timeOf(it *invocation.Item) (first, last trace.Time) {
	first, last = math.MaxInt64, math.MinInt64
	r.eachOf(it.First, it.End, invocation.OfTime, func(n *invocation.Node) {
		first, last = min(first, n.Begin), max(last, n.Begin)
	})
	return first, last
}

// locationLines name the locations with most calls of a sector.
func (r *result) locationLines(it *invocation.Item, line func(label, value string)) {
	count, tree := map[trace.LocationID]int{}, r.request.Store().Locations()
	r.eachOf(it.First, it.End, 0, func(n *invocation.Node) { count[n.Location]++ })
	best, most := trace.NoLocation, 0
	for id, n := range count {
		if id != trace.NoLocation && (n > most || n == most && id < best) {
			best, most = id, n
		}
	}
	switch {
	case best == trace.NoLocation:
	case len(count) == 1:
		line("location", tree.Path(best))
	default:
		line("locations",
			fmt.Sprintf("%s; %s has %s", view.Thousands(int64(len(count))), tree.Name[best],
				percent(float64(most)/float64(it.End-it.First))))
	}
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }
