package kaleidoscope

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// fit is the zoom of a picture of a size that shows all below a node, or of a narrow one the node itself.
func fit(o *invocation.Outline, size scene.Size, ring float64, i int32) zoom {
	start, alloc := o.Sector(i)
	if alloc > 120 {
		return zoom{factor: 1}
	}
	one := zoomOn(size, ring, start, alloc, o.Level(i), callWidth)
	half := halfRing(ring, size)
	level, deep := float64(o.Level(i)), float64(o.Deepest(i, o.End(i))+1)
	across := max(2*deep*half*math.Sin(alloc*math.Pi/360), (deep-level)*half)
	if whole := 1.8 / max(across, 1e-12); whole >= one.factor {
		radius := half * (level + deep) / 2
		sin, cos := math.Sincos((start + alloc/2) * math.Pi / 180)
		return zoom{min(max(whole, 1), mostZoom), radius * cos, radius * sin}
	}
	return one
}

// ways are the terms of nodes around the middle of a zoomed picture, outermost first and without the root, each with
// the zoom that shows it: the page names them over the picture. ring is the distance of levels before the zoom.
func ways(o *invocation.Outline, size scene.Size, ring float64, z zoom, name func(place int32) string) []scene.Term {
	if z.factor <= 1 || ring <= 0 {
		return nil
	}
	var out []scene.Term
	angle := math.Mod(math.Atan2(z.y, z.x)*180/math.Pi+360, 360)
	level := math.Hypot(z.x, z.y) / halfRing(ring, size)
	last, times := "", 0
	for _, i := range o.Chain(angle, int32(min(level, float64(o.Height))))[1:] {
		label := name(i)
		if label == "" {
			continue
		}
		if times++; label == last { // one that calls itself
			out[len(out)-1].Label = fmt.Sprintf("%s × %d", label, times)
			continue
		}
		last, times = label, 1
		term := scene.Term{Name: "within", Label: label}
		if to := fit(o, size, ring, i); to.factor > 1 {
			term.Text = to.String()
		}
		out = append(out, term)
	}
	if n := len(out); n > mostTrail {
		out = slices.Concat(out[:mostTrail/3], []scene.Term{{Name: "within", Label: "…"}}, out[n-2*mostTrail/3:])
	}
	return out
}

// halfRing is the distance of levels before a zoom, in halves of a picture's smaller side.
func halfRing(ring float64, size scene.Size) float64 {
	return ring / max(float64(min(size.Width, size.Height))/2, 1)
}

// within names the calls around the middle of a zoomed picture.
func (r *result) within() []scene.Term {
	if r.detail == nil {
		return nil
	}
	o, size := r.detail.outline, r.request.Size
	several := r.forest.firstPaint() == "location"
	return ways(o, size, r.ringAt(size), r.zoom, func(place int32) string {
		n := r.forest.pick([]int32{r.detail.node(place)}, invocation.OfRegion, nil)[0]
		if n.Region == trace.NoRegion {
			return ""
		}
		name := r.request.Store().Regions()[n.Region].Name
		if several && r.root < 0 && r.forest.calls.Virtual && o.Level(place) == 1 {
			return ofLocation(r.request.Store().Locations(), n.Location) + ": " + name
		}
		return name
	})
}

// ofLocation is the rank of a location, or its name where it has none.
func ofLocation(t *store.Tree, id trace.LocationID) string {
	if rank := t.Rank[id]; rank >= 0 {
		return "rank " + strconv.Itoa(int(rank))
	}
	return t.Name[id]
}

// within names the call paths around the middle of a zoomed picture.
func (r *sunburst) within() []scene.Term {
	return ways(r.outline, r.request.Size, r.ringAt(r.request.Size), r.zoom, r.name)
}
