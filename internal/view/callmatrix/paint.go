package callmatrix

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// paint draws squares. Rings are painted from the outermost inwards, each as a
// whole scaled slice over the last, so that no seams show between them.
func (r *result) paint(s *scene.Scene, d *drawing, in *inside) {
	ground, whole, parts := &scene.Rect{}, &scene.Rect{}, &scene.Polygon{}
	cut, marks := &scene.Polygon{}, &scene.Polygon{}
	names := &scene.Text{Size: scene.TextSize - 2}
	plates := &scene.Rect{}
	shapes := 0
	for _, p := range in.pairs {
		shapes += p.shapes()
	}
	medians := shapes > mostShapes || d.size < 8
	r.eachSquare(d, func(key callgraph.Pair, x, y, size float32) {
		p := in.pairs[key]
		ground.Add(x, y, size, size, scene.UIEmpty)
		ground.SetItem(s.Place(ofSquare, int(key.Caller), int(key.Callee)))
		r.drawCuts(in, p, x, y, size, cut, marks)
		if r.groupRows != nil && !p.static {
			p = p.whole()
		}
		switch {
		case p.static:
			ground.SetFlags(scene.Outlined)
		case r.striped():
			p.drawStripes(x, y, size, medians, whole)
		case medians:
			p.drawRing(2, 1, x, y, size, whole, parts)
		default:
			for ring := 4; ring >= 0; ring-- {
				p.drawRing(ring, callgraph.RingScale(ring+1), x, y, size, whole, parts)
			}
		}
		if number := r.alone(p); number != "" && size >= leastSpoke {
			plates.Add(x, y, 16, scene.TextSize, scene.UIBackground)
			names.Add(x+8, y+scene.TextSize-3, number, scene.UIText, scene.Middle)
		}
	})
	drawGrid(s, d)
	s.AddLayer("squares", 0, ground)
	// One slice makes rectangles alone, several make polygons: rings of one
	// square must stay in order, so whole rings of mixed squares are polygons too.
	s.AddLayer("rings", 0, whole, parts)
	s.AddLayer("cut calls", 0, cut, marks)
	s.AddLayer("groups that call alone", 0, plates, names)
	r.separate(s, d, in)
	if medians && d.size >= 8 {
		s.Notes = append(s.Notes, "squares show medians alone: choose fewer regions to see all five quantiles")
	}
}

// drawGrid draws lines between rows and columns.
func drawGrid(s *scene.Scene, d *drawing) {
	f, lines := s.Frames[0], &scene.Line{Width: 1}
	for k := range d.callees {
		y := d.y + float32(k)*d.size
		lines.Add(f.X, y, f.X+f.W, y, scene.UIGrid)
	}
	for k := range d.callers {
		x := d.x + float32(k)*d.size
		lines.Add(x, f.Y, x, f.Y+f.H, scene.UIGrid)
	}
	s.AddLayer("grid", 0, lines)
}

// seamless is the size of squares in which the edges of slices could be seen.
const seamless = 160

// leastSpoke is the size of a square in which groups of slices are separated, and
// wholeSpoke that from which they are down to the centre.
const leastSpoke, wholeSpoke = 24, 90

// separate draws a line from the centre wherever another group of slices begins.
func (r *result) separate(s *scene.Scene, d *drawing, in *inside) {
	if r.Arrangement() == nil || r.groupRows != nil || in.slices < 2 || d.size < leastSpoke {
		return
	}
	lines := &scene.Line{Width: 1.5}
	r.eachSquare(d, func(key callgraph.Pair, x, y, size float32) {
		if !in.pairs[key].static {
			r.addSpokes(lines, in.slices, x, y, size, scene.UIBackground)
		}
	})
	s.AddLayer("groups of slices", 0, lines)
}

// addSpokes separates the groups of slices of one square.
func (r *result) addSpokes(lines *scene.Line, n int, x, y, size float32, c scene.Colour) {
	a := r.Arrangement()
	for k := range n {
		if a.Group(r.locations[k]) == a.Group(r.locations[(k+n-1)%n]) {
			continue
		}
		if r.striped() {
			down := size
			if size < wholeSpoke {
				down *= 0.15
			}
			if at := x + size*float32(k)/float32(n); k > 0 {
				lines.Add(at, y, at, y+down, c)
			}
			continue
		}
		p := callgraph.Perimeter(4 * float64(k) / float64(n))
		from := p.Shrink(0.78) // a tick at the edge of a small square, which spokes would hide
		if size >= wholeSpoke {
			from = callgraph.Point{X: 0.5, Y: 0.5}
		}
		lines.Add(x+float32(from.X)*size, y+float32(from.Y)*size, x+float32(p.X)*size, y+float32(p.Y)*size, c)
	}
}

// groupOf returns the number of the group that is a slice.
func (r *result) groupOf(slice int) int {
	if r.sliceGroups != nil {
		return r.sliceGroups[slice]
	}
	return slice
}

// alone is the number of the one group that makes the calls of a square; "" if there are several.
func (r *result) alone(p *drawnPair) string {
	switch {
	case p.only >= 0:
		return r.groupNumber(p.only)
	case p.group > 0:
		return strconv.Itoa(p.group)
	}
	return ""
}

// groupNumber names the group of a slice in a square.
func (r *result) groupNumber(slice int) string {
	if r.isOthers(slice) {
		return "…"
	}
	return strconv.Itoa(r.groupOf(slice) + 1)
}

// striped reports whether squares have stripes in place of rings.
func (r *result) striped() bool { return r.request.Values.Text("square") == "stripes" }

// drawStripes paints a square of stripes: the lowest quantile at the bottom.
func (p *drawnPair) drawStripes(x, y, size float32, medians bool, whole *scene.Rect) {
	n := float32(len(p.boxes))
	for ring := range 5 {
		from, to := callgraph.Stripe(ring)
		if medians {
			from, to = 0, 1
		}
		if medians && ring != 2 {
			continue
		}
		p.runs(ring, func(first, last int, c scene.Colour) {
			whole.Add(x+size*float32(first)/n, y+size*float32(1-to), size*float32(last-first+1)/n,
				size*float32(to-from), c)
		})
	}
}

// shapes counts the runs of equal colour of a square.
func (p *drawnPair) shapes() (n int) {
	for ring := range 5 {
		p.runs(ring, func(int, int, scene.Colour) { n++ })
	}
	return n
}

// runs visits neighbouring slices of one colour.
func (p *drawnPair) runs(ring int, f func(from, to int, c scene.Colour)) {
	for k := 0; k < len(p.boxes); k++ {
		if !p.has[k] {
			continue
		}
		c := p.scale.colour(p.boxes[k][ring])
		last := k
		for last+1 < len(p.boxes) && p.has[last+1] && p.scale.colour(p.boxes[last+1][ring]) == c {
			last++
		}
		f(k, last, c)
		k = last
	}
}

func (p *drawnPair) drawRing(ring int, scale float64, x, y, size float32, whole *scene.Rect,
	parts *scene.Polygon) {
	var arc []callgraph.Point
	var xs, ys []float32
	if n := len(p.boxes); n > 1 && size >= seamless && !slices.Contains(p.has, false) {
		// One of its own colours is under a ring, so that none of another ring shines through between slices.
		side, at := size*float32(scale), size*float32(1-scale)/2
		parts.Add([]float32{x + at, x + at + side, x + at + side, x + at},
			[]float32{y + at, y + at, y + at + side, y + at + side}, p.scale.colour(p.boxes[n/2][ring]))
	}
	p.runs(ring, func(from, to int, c scene.Colour) {
		n := len(p.boxes)
		if n == 1 {
			side := size * float32(scale)
			whole.Add(x+(size-side)/2, y+(size-side)/2, side, side, c)
			return
		}
		arc = callgraph.Arc(arc[:0], from, to, n)
		xs, ys = xs[:0], ys[:0]
		for _, q := range arc {
			q = q.Shrink(scale)
			xs, ys = append(xs, x+float32(q.X)*size), append(ys, y+float32(q.Y)*size)
		}
		if to-from+1 < n {
			xs, ys = append(xs, x+size/2), append(ys, y+size/2)
		}
		parts.Add(xs, ys, c)
	})
}

// Fact describes the slice and the ring at a place in a square.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	key := callgraph.Pair{Caller: it.A, Callee: it.B}
	if r.pairs[key] == nil {
		return view.Fact{}, false
	}
	x, y := it.Place()
	p := r.square(key)
	drawn := r.narrow(p)
	n := len(drawn.boxes)
	slice, ring := callgraph.Locate(callgraph.Point{X: x, Y: y}, n)
	if r.striped() {
		slice, ring = callgraph.LocateStriped(callgraph.Point{X: x, Y: y}, n)
	}
	if p.only >= 0 {
		slice = p.only
	} else if drawn.members != nil {
		slice = drawn.members[slice]
	}
	return r.fact(key, p, slice, ring), true
}

var ringNames = [5]string{"2 %", "25 %", "median", "75 %", "98 %"}

func (r *result) fact(key callgraph.Pair, p *drawnPair, slice, ring int) view.Fact {
	f := view.Fact{Title: r.label(key.Caller) + " → " + r.label(key.Callee), Regions: r.nodes[key.Callee].Regions}
	switch {
	case r.over == "locations":
		f.Say("over", view.Count(len(r.pairs[key].Owners), "location"), "")
	case r.groupRows != nil:
		members := r.sliceMembers[slice]
		if r.blocks != nil {
			f.Say("block", r.blocks.Names[slice], "")
		} else if r.isOthers(slice) {
			f.Say("groups", fmt.Sprintf("%s others", view.Thousands(int64(r.otherGroups))), "")
		} else {
			f.Say("group", strconv.Itoa(r.groupOf(slice)+1), "")
		}
		f.Say("locations", view.NameList(r.names, members, 8), "")
		f.Count = int64(len(members))
		for _, m := range members {
			f.Locations = append(f.Locations, r.locations[m])
		}
	default:
		f.Say("location", r.names[slice], r.tree.Path(r.locations[slice]))
		if g := r.Arrangement().Group(r.locations[slice]); g >= 0 {
			f.Say("group", strconv.Itoa(g+1), "")
		}
		f.Locations = []trace.LocationID{r.locations[slice]}
	}
	r.sayCut(&f, r.cutOf(r.pairs[key], slice), "")
	switch {
	case p.static:
		f.Text = "Reachable through other regions; never called directly."
		return f
	case !p.has[slice] && !math.IsNaN(p.cut[slice]):
		return f
	case !p.has[slice]:
		f.Text = "Never called there in this time."
		f.Say("called on",
			fmt.Sprintf("%s of %s", view.Thousands(int64(len(r.pairs[key].Owners))),
				view.Count(len(r.locations), "location")), "")
		return f
	}
	box := p.boxes[slice]
	rows, _ := r.slices()
	for _, i := range r.pairs[key].rows {
		if x := &rows[i]; int(x.Owner) == slice {
			f.Say("calls", view.FormatCount(x.Count), exact(x.Count))
			f.Say("total", r.format(r.value(x)), exact(r.value(x)))
			if !math.IsNaN(x.Mean) {
				f.Say("mean", r.format(x.Mean), exact(x.Mean))
				f.Say("standard deviation", r.format(x.Deviation), exact(x.Deviation))
				f.Say("least, most", r.format(x.Min)+", "+r.format(x.Max), exact(x.Min)+", "+exact(x.Max))
			}
			if !x.Exact && r.metric != "calls" {
				f.Text += "Quantiles are within 1 %, the rest is exact. "
			}
		}
	}
	for k, name := range ringNames {
		if k == ring {
			name = "▸ " + name
		}
		f.Say(name, r.format(box[k]), exact(box[k]))
	}
	f.Say("box", boxText(box), "")
	f.Text += fmt.Sprintf("Under the cursor: %s, %s.", ringNames[ring], r.format(box[ring]))
	return f
}

// boxText draws a box plot in letters, from the lowest to the highest quantile.
func boxText(box [5]float64) string {
	const width = 28
	at := func(v float64) int {
		if box[4] == box[0] {
			return 0
		}
		return int((v - box[0]) / (box[4] - box[0]) * (width - 1))
	}
	if box[4] == box[0] {
		return "|"
	}
	line := []rune(strings.Repeat("─", width))
	for i := at(box[1]); i <= at(box[3]); i++ {
		line[i] = '█'
	}
	line[0], line[width-1], line[at(box[2])] = '├', '┤', '│'
	return string(line)
}

func exact(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
