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
	// mostLabels bounds how many families are looked at: the largest ones.
	mostLabels = 60
)

// labelFamilies writes the names of the regions of large families inside their shapes; nameOf is that of a
// node that was drawn, "" for none.
func labelFamilies(d *drawing, nameOf func(node int32) string) *scene.Text {
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
	text := &scene.Text{Size: scene.TextSize}
	var taken []box
	for _, l := range list[:min(len(list), mostLabels)] {
		whole := nameOf(d.places[l.family.place].node)
		if whole == "" {
			continue
		}
		if b, name := d.roomFor(l.family, whole); name != "" && !b.meetsAny(taken) {
			taken = append(taken, b)
			text.Add(float32(b.x), float32(b.y)+scene.TextSize*0.35, name, scene.InkFor(l.family.colour, l.family.flag),
				scene.Middle)
		}
	}
	return text
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

// roomFor finds a place inside a family with room for its name, or where most of it
// fits, and as much of the name as fits there.
func (d *drawing) roomFor(f *family, name string) (best box, short string) {
	top, enough := d.at(f.place), float64(scene.TextWidth(name, scene.TextSize, false))/2+3
	var tries []box
	for _, side := range labelSide {
		k := side * float64(len(f.children)-1)
		a, b := d.at(f.children[int(k)]), d.at(f.children[int(math.Ceil(k))])
		for _, out := range labelOut {
			mid := middle(a, b)
			tries = append(tries,
				box{x: top.x + out*(mid.x-top.x), y: top.y + out*(mid.y-top.y), halfHeight: scene.TextSize * 0.6})
		}
	}
	if d.leavesPicture(f) {
		for _, p := range placesIn(d.size) {
			tries = append(tries, box{x: p.x, y: p.y, halfHeight: scene.TextSize * 0.6})
		}
	}
	for _, t := range tries {
		if d.holds(f, t, enough) {
			t.halfWidth = enough
			return t, scene.Shorten(name, float32(2*enough-4), scene.TextSize)
		}
	}
	for _, t := range tries {
		if t.halfWidth = d.widest(f, t, enough); t.halfWidth > best.halfWidth {
			best = t
		}
	}
	if best.halfWidth < 20 {
		return best, ""
	}
	return best, scene.Shorten(name, float32(2*best.halfWidth-4), scene.TextSize)
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

// holds reports whether a box of this half width about a point is in the picture, and inside the shape and not over its
// band.
func (d *drawing) holds(f *family, b box, half float64) bool {
	if b.x < half || b.y < b.halfHeight || b.x+half > float64(d.size.Width) ||
		b.y+b.halfHeight > float64(d.size.Height) {
		return false
	}
	for _, dx := range []float64{-1, 1, -0.5, 0.5, 0} {
		for _, dy := range []float64{-b.halfHeight, b.halfHeight} {
			if _, band, ok := d.under(f, point{b.x + dx*half, b.y + dy}); !ok || band {
				return false
			}
		}
	}
	return true
}

// widest is half the width of the widest such box, at most enough.
func (d *drawing) widest(f *family, b box, enough float64) float64 {
	low, high := 0.0, enough
	for range 6 {
		if half := (low + high) / 2; d.holds(f, b, half) {
			low = half
		} else {
			high = half
		}
	}
	return low
}
