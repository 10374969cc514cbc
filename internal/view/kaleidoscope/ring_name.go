package kaleidoscope

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/scene"
)

const (
	// mostNamed bounds how many sectors are looked at for a name: the largest ones.
	mostNamed = 160
	// leastName is the least width of a name, in pixels.
	leastName = 26
	// halfLine is half the height of a name.
	halfLine = scene.TextSize * 0.55
)

// circles are d pixels apart around a place of a picture.
type circles struct {
	sight  *invocation.Sight
	size   scene.Size
	cx, cy float64
	d      float64
}

// A named is a sector of a ring with what is written into it.
type named struct {
	item *invocation.Item
	name string
	ink  scene.Colour
}

// names are texts that do not meet each other.
type names struct {
	circles
	level, turned *scene.Text
	taken         []box
}

func newNames(r circles) *names {
	return &names{circles: r, level: &scene.Text{Size: scene.TextSize},
		turned: &scene.Text{Size: scene.TextSize, Turned: true}}
}

// add writes a name around a place.
func (n *names) add(at point, half float64, up bool, name string, ink scene.Colour) {
	if up {
		n.turned.Add(float32(at.x)+scene.TextSize*0.35, float32(at.y), name, ink, scene.Middle)
	} else {
		n.level.Add(float32(at.x), float32(at.y)+scene.TextSize*0.35, name, ink, scene.Middle)
	}
	n.taken = append(n.taken, boxAt(at, half, up))
}

// write writes names into the widest sectors that have room for them.
func (n *names) write(list []named) {
	if n.d*float64(n.sight.Band) < 2*halfLine+2 {
		return
	}
	list = slices.DeleteFunc(list, func(s named) bool {
		return s.name == "" || s.item.Alloc*math.Pi/180*n.d*(float64(s.item.Level)+0.5) <= 2*halfLine
	})
	slices.SortStableFunc(list, func(a, b named) int { return cmp.Compare(b.item.Alloc, a.item.Alloc) })
	for _, s := range list[:min(len(list), mostNamed)] {
		need := halfWidth(s.name)
		at, half, up := n.room(s.item, need)
		short := shortName(s.name, half)
		if short == "" || half < need && 2*half < leastName || boxAt(at, halfWidth(short), up).meetsAny(n.taken) {
			continue
		}
		n.add(at, halfWidth(short), up, short, s.ink)
	}
}

// halfWidth is half the room that a name takes.
func halfWidth(name string) float64 {
	return float64(scene.TextWidth(name, scene.TextSize, false))/2 + 3
}

// shortName is as much of the name of a region as fits. Its last part is worth more than the ends of all of it:
// "bgsweep" says more than "runt…eep".
func shortName(name string, half float64) string {
	short := scene.Shorten(name, float32(2*half-4), scene.TextSize)
	if short != name && len(short) < leastPart { // "3" of "compare/3"
		return ""
	}
	if !strings.Contains(short, "…") && short != "" {
		return short
	}
	if i := strings.LastIndexAny(name, ".:/"); i > 0 && len(name)-i > leastPart && halfWidth(name[i+1:]) <= half+1 {
		return name[i+1:]
	}
	return short
}

// leastPart is how many characters the last part of a name has that stands for all of it.
const leastPart = 4

// room finds the place in a sector with most room for a line of text, at most as much as it needs.
func (r *circles) room(it *invocation.Item, need float64) (at point, half float64, up bool) {
	near, far := r.d*float64(it.Level), r.d*float64(it.Level+r.sight.Band)
	if it.Level == 0 {
		near = 0
	}
	const steps = 36
	angles := []float64{}
	for _, axis := range []float64{90, 270, 0, 180, 360} { // where a ring runs level or upwards
		if axis > it.Start && axis < it.Start+it.Alloc {
			angles = append(angles, axis)
		}
	}
	start, end := inSight(it, r.sight)
	for k := range steps {
		angles = append(angles, start+(end-start)*(float64(k)+0.5)/steps)
	}
	for _, angle := range angles {
		angle *= math.Pi / 180
		sin, cos := math.Sincos(angle)
		mid := (near + far) / 2
		for _, radius := range []float64{mid, near + halfLine + 1.2, mid - 0.15*(far-near), mid + 0.15*(far-near)} {
			if it.Level == 0 {
				radius = 0
			}
			p := point{r.cx + radius*cos, r.cy + radius*sin} // nearest to the root a line bends least out of its ring
			for _, isUp := range []bool{false, true} {
				if h := r.widestIn(it, p, isUp, need); h > half+1 {
					at, half, up = p, h, isUp
				}
			}
			if half >= need {
				return at, half, up
			}
		}
	}
	if r.sight.Near == 0 {
		return at, half, up
	}
	for _, p := range placesIn(r.size) { // of a sector much larger than the picture
		if h := r.widestIn(it, p, false, need); h > half+1 {
			at, half, up = p, h, false
		}
		if half >= need {
			break
		}
	}
	return at, half, up
}

// widestIn is half the length of the longest line about a point that is in a sector and in the picture.
func (r *circles) widestIn(it *invocation.Item, p point, up bool, need float64) float64 {
	if !r.inside(it, p) {
		return 0
	}
	low, high := 0.0, need
	if r.holds(it, p, up, need) {
		return need
	}
	for range 6 {
		if half := (low + high) / 2; r.holds(it, p, up, half) {
			low = half
		} else {
			high = half
		}
	}
	return low
}

func (r *circles) holds(it *invocation.Item, p point, up bool, half float64) bool {
	for _, a := range []float64{-1, -0.5, 0, 0.5, 1} {
		for _, b := range []float64{-halfLine, halfLine} {
			q := point{p.x + a*half, p.y + b}
			if up {
				q = point{p.x + b, p.y + a*half}
			}
			if !r.inside(it, q) {
				return false
			}
		}
	}
	return true
}

// inside reports whether a point is in a sector and in the picture, a pixel from their edges.
func (r *circles) inside(it *invocation.Item, p point) bool {
	if p.x < 2 || p.y < 2 || p.x > float64(r.size.Width)-2 || p.y > float64(r.size.Height)-2 {
		return false
	}
	dx, dy := p.x-r.cx, p.y-r.cy
	radius := math.Hypot(dx, dy)
	if it.Level > 0 && radius < r.d*float64(it.Level)+1 || radius > r.d*float64(it.Level+r.sight.Band)-1 {
		return false
	}
	if it.Alloc >= 360 {
		return true
	}
	angle := math.Mod(math.Atan2(dy, dx)*180/math.Pi+360, 360)
	edge := 180 / math.Pi * 1.5 / max(radius, 1)
	return angle >= it.Start+edge && angle <= it.Start+it.Alloc-edge
}
