package kaleidoscope

import (
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// loneShare is the radius of a call that is a tree by itself, as a share of half the picture.
const loneShare = 0.5

// lone reports whether the tree is one call: a disc, since there is no family to draw.
func (r *result) lone() bool {
	return r.layout.Tree.Len() == 1 && len(r.places) == 1 && (r.detail == nil || r.detail.outline.Len() == 1)
}

func (r *result) loneRadius() float64 {
	return loneShare * r.zoom.factor * float64(min(r.size.Width, r.size.Height)) / 2
}

// drawLone draws the disc of a lone call.
func (r *result) drawLone(p *painter, shapes *scene.Polygon) {
	const corners = 90
	var xs, ys []float32
	for k := range corners {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / corners)
		xs, ys = append(xs, float32(r.cx+cos*r.loneRadius())), append(ys, float32(r.cy+sin*r.loneRadius()))
	}
	f := &r.families[0]
	shapes.Add(xs, ys, f.colour)
	if f.flag != 0 {
		shapes.SetFlags(f.flag)
	}
	p.saw(r.places[0].node, 1)
}

// loneLabel is the name of a lone call, in its disc.
func (r *result) loneLabel() *scene.Text {
	text, f := &scene.Text{Size: scene.TextSize}, &r.families[0]
	region := r.call(0).Region
	if region == trace.NoRegion {
		return text
	}
	name := scene.Shorten(r.request.Store().Regions()[region].Name, float32(2*r.loneRadius()-16), scene.TextSize)
	text.Add(float32(r.cx), float32(r.cy)+scene.TextSize*0.35, name, scene.InkFor(f.colour, f.flag), scene.Middle)
	return text
}

// mostTrail is how many callers a trail names; of more those in the middle are left out.
const mostTrail = 12

// trail names the callers of the root of a subtree, outermost first, and itself: the ways up.
func (r *result) trail() (out []scene.Term) {
	regions, calls := r.request.Store().Regions(), r.forest.calls
	for node := r.root; node >= 0; node = calls.Parent(node) {
		n := r.forest.pick([]int32{node}, invocation.OfRegion, nil)[0]
		if region := n.Region; region != trace.NoRegion {
			out = append(out, scene.Term{Name: "root", Text: r.rootText(node), Label: regions[region].Name})
		}
	}
	slices.Reverse(out)
	if n := len(out); n > mostTrail {
		out = slices.Concat(out[:mostTrail/3], []scene.Term{{Name: "root", Label: "…"}}, out[n-2*mostTrail/3:])
	}
	return out
}
