package kaleidoscope

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
)

const (
	// leastLabelled is the area of the smallest family with a name, in square pixels.
	leastLabelled = 1200
	// leastFamilyName is half the least width of a name in a shape, in pixels.
	leastFamilyName = 20
	// mostLabels bounds how many families are looked at: the largest ones.
	mostLabels = 60
)

// labelFamilies writes the names of the regions of large families inside their shapes, level, or upwards where more of
// them fits so; nameOf is that of a node that was drawn, "" for none.
func labelFamilies(d *drawing, text *names, nameOf func(node int32) string) {
	type large struct {
		family *family
		area   float64
	}
	var list []large
	for k := range d.families {
		if f := &d.families[k]; len(f.children) > 1 {
			if a := d.area(f); a >= leastLabelled {
				list = append(list, large{f, a})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b large) int { return cmp.Compare(b.area, a.area) })
	for _, l := range list[:min(len(list), mostLabels)] {
		whole := nameOf(d.places[l.family.place].node)
		if whole == "" {
			continue
		}
		b, up, name := d.roomFor(l.family, whole)
		if name == "" || boxAt(point{b.x, b.y}, b.halfWidth, up).meetsAny(text.taken) {
			continue
		}
		text.add(point{b.x, b.y}, b.halfWidth, up, name, scene.InkFor(l.family.colour, l.family.flag))
		l.family.named = true
	}
}

// area of a family's shape, the part that is outside of the picture too.
func (d *drawing) area(f *family) (sum float64) {
	top := d.at(f.place)
	for k := 1; k < len(f.children); k++ {
		a, b := d.at(f.children[k-1]), d.at(f.children[k])
		sum += math.Abs((a.x-top.x)*(b.y-top.y)-(b.x-top.x)*(a.y-top.y)) / 2
	}
	return sum
}

// A box has its middle at x, y.
type box struct{ x, y, halfWidth, halfHeight float64 }

// boxAt is the box of a line of text around a place.
func boxAt(p point, half float64, up bool) box {
	if up {
		return box{p.x, p.y, scene.TextSize * 0.6, half}
	}
	return box{p.x, p.y, half, scene.TextSize * 0.6}
}

func (b box) meetsAny(list []box) bool {
	return slices.ContainsFunc(list, func(o box) bool {
		return math.Abs(b.x-o.x) < b.halfWidth+o.halfWidth+4 && math.Abs(b.y-o.y) < b.halfHeight+o.halfHeight
	})
}

// Places where a name is tried: shares of the way from a call to one of its calls, and
// shares of those calls.
var (
	labelOut  = []float64{0.6, 0.5, 0.7, 0.4, 0.78}
	labelSide = []float64{0.5, 0.35, 0.65, 0.2, 0.8}
)

// roomFor finds a place inside a family with room for its name, or where most of it fits, and as much of the name as
// fits there; up: it runs upwards.
func (d *drawing) roomFor(f *family, name string) (best box, up bool, short string) {
	top, enough := d.at(f.place), halfWidth(name)
	var tries []box
	for _, side := range labelSide {
		k := side * float64(len(f.children)-1)
		a, b := d.at(f.children[int(k)]), d.at(f.children[int(math.Ceil(k))])
		for _, out := range labelOut {
			mid := middle(a, b)
			tries = append(tries, box{x: top.x + out*(mid.x-top.x), y: top.y + out*(mid.y-top.y)})
		}
	}
	if d.leavesPicture(f) {
		for _, p := range placesIn(d.size) {
			tries = append(tries, box{x: p.x, y: p.y})
		}
	}
	for _, turned := range []bool{false, true} {
		for _, t := range tries {
			if d.holds(f, t, enough, turned) {
				t.halfWidth = enough
				return t, turned, shortName(name, enough)
			}
		}
	}
	for _, turned := range []bool{false, true} {
		for _, t := range tries {
			if t.halfWidth = d.widest(f, t, enough, turned); t.halfWidth > best.halfWidth {
				best, up = t, turned
			}
		}
	}
	if best.halfWidth < leastFamilyName {
		return best, up, ""
	}
	short = shortName(name, best.halfWidth)
	best.halfWidth = halfWidth(short)
	return best, up, short
}

// leavesPicture reports whether a family is in part out of the picture, as those near to the eye are.
func (d *drawing) leavesPicture(f *family) bool {
	out := func(k int32) bool {
		p := d.at(k)
		return p.x < 0 || p.y < 0 || p.x > float64(d.size.Width) || p.y > float64(d.size.Height)
	}
	return out(f.place) || slices.ContainsFunc(f.children, out)
}

// placesIn are places all over a picture, those near to its middle first.
func placesIn(size scene.Size) (places []point) {
	shares := []float64{0.5, 0.35, 0.65, 0.2, 0.8, 0.1, 0.9}
	for _, y := range shares {
		for _, x := range shares {
			places = append(places, point{x * float64(size.Width), y * float64(size.Height)})
		}
	}
	return places
}

// holds reports whether a line of text of this half length about a point is in the picture, and inside the shape and
// not over its band.
func (d *drawing) holds(f *family, b box, half float64, up bool) bool {
	long, high := half, scene.TextSize*0.6
	if up {
		long, high = high, long
	}
	if b.x < long || b.y < high || b.x+long > float64(d.size.Width) || b.y+high > float64(d.size.Height) {
		return false
	}
	for _, along := range []float64{-1, 1, -0.5, 0.5, 0} {
		for _, across := range []float64{-scene.TextSize * 0.6, scene.TextSize * 0.6} {
			p := point{b.x + along*half, b.y + across}
			if up {
				p = point{b.x + across, b.y + along*half}
			}
			if _, band, ok := d.under(f, p); !ok || band {
				return false
			}
		}
	}
	return true
}

// widest is half the length of the longest such line, at most enough.
func (d *drawing) widest(f *family, b box, enough float64, up bool) float64 {
	low, high := 0.0, enough
	for range 6 {
		if half := (low + high) / 2; d.holds(f, b, half, up) {
			low = half
		} else {
			high = half
		}
	}
	return low
}
