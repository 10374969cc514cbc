package kaleidoscope

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/scene"
)

// mostDrawn bounds how many nodes a scene holds: 18 bytes each.
const mostDrawn = 60000

// choose returns the nodes that are drawn with rings d apart, ascending: those whose
// sector is wide enough and whose family may reach into sight. If they are more than a
// scene may hold, one is drawn of those that are within a pixel on the outermost circle,
// then of those within more; crowded is how many are not for that reason. O(nodes) for
// each try.
func choose(l *invocation.Layout, d float64, s sight) (shown []int32, crowded int) {
	drawn, _ := l.Drawn(d)
	for least := 0.0; ; least = max(1, least*math.Sqrt2) {
		if shown, crowded, ok := thin(l, drawn, d, s, least); ok {
			return shown, crowded
		}
	}
}

// thin leaves out nodes that are not in sight and, of nodes of a ring that are within
// least pixels of the outermost circle, all but the first; false if too many are left.
// least 0 leaves none out.
func thin(l *invocation.Layout, drawn []bool, d float64, s sight, least float64) (shown []int32, crowded int, ok bool) {
	var out []bool // neither its family nor its descendants are drawn
	if !s.all || least > 0 {
		out = make([]bool, len(drawn))
	}
	edge := d * float64(l.Height-1) * math.Pi / 180
	var taken rings
	for i, is := range drawn {
		if !is {
			continue
		}
		if p := l.Tree.Parent[i]; out != nil && p >= 0 && out[p] {
			out[i] = true
			if least > 0 && s.all {
				crowded++
			}
			continue
		}
		if !s.all {
			near, far := float64(l.Level[i])*d, float64(l.Level[i]+1)*d
			out[i] = near > s.far || !s.meets(l.Start[i], l.Alloc[i])
			// A node out of sight is still a corner of its parent's shape.
			if out[i] && l.Tree.Parent[i] < 0 || far < s.near {
				continue
			}
		}
		if least > 0 && edge*l.Alloc[i] < least && !taken.take(int(l.Level[i]), int(l.Start[i]*edge/least)) {
			out[i] = true
			crowded++
			continue
		}
		if len(shown) == mostDrawn {
			return nil, 0, false
		}
		shown = append(shown, int32(i))
	}
	return shown, crowded, true
}

// rings tell which short stretches of each ring are taken.
type rings [][]bool

// take takes a stretch; false if it was taken before.
func (r *rings) take(ring, at int) bool {
	for ring >= len(*r) {
		*r = append(*r, nil)
	}
	row := (*r)[ring]
	if at >= len(row) {
		row = append(row, make([]bool, at+1-len(row)+64)...)
		(*r)[ring] = row
	}
	free := !row[at]
	row[at] = true
	return free
}

// A sight is the part of the circles that a picture shows: between two radii and
// within an angle on both sides of a middle, in degrees.
type sight struct {
	all       bool
	near, far float64
	mid, half float64
}

func newSight(cx, cy float64, size scene.Size) sight {
	w, h := float64(size.Width), float64(size.Height)
	if cx >= 0 && cy >= 0 && cx <= w && cy <= h {
		far := math.Hypot(max(cx, w-cx), max(cy, h-cy))
		return sight{far: far, half: 180}
	}
	dx, dy := max(-cx, cx-w, 0), max(-cy, cy-h, 0)
	s := sight{near: math.Hypot(dx, dy),
		far: math.Hypot(max(math.Abs(cx), math.Abs(w-cx)), max(math.Abs(cy), math.Abs(h-cy)))}
	s.mid = math.Atan2(h/2-cy, w/2-cx) * 180 / math.Pi
	for _, c := range [][2]float64{{0, 0}, {w, 0}, {0, h}, {w, h}} {
		s.half = max(s.half, apart(math.Atan2(c[1]-cy, c[0]-cx)*180/math.Pi, s.mid))
	}
	return s
}

// meets reports whether a sector reaches into sight.
func (s *sight) meets(start, alloc float64) bool {
	return alloc >= 180 || apart(start+alloc/2, s.mid) <= alloc/2+s.half
}

// apart is the distance of two angles, 0 to 180 degrees.
func apart(a, b float64) float64 {
	return math.Abs(math.Remainder(a-b, 360))
}
