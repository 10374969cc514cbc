package kaleidoscope

import (
	"context"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/scene"
)

// A detail is a tree that is looked at at any scale: the drawn nodes depend on the zoom, their places do not.
type detail struct {
	outline *invocation.Outline
	order   []int32 // node of the forest at each place; nil: they follow each other from first on
	first   int32
	level   int32 // in the forest, of the root
}

// node of the forest at a place.
func (d *detail) node(place int32) int32 {
	if d.order == nil {
		return d.first + place
	}
	return d.order[place]
}

func (d *detail) sizeBytes() int64 {
	if d.order == nil { // its levels are those of the forest
		return d.outline.SumsBytes()
	}
	return d.outline.SizeBytes() + 4*int64(len(d.order))
}

// detail orders the tree, or a subtree of it.
func (p *plan) detail(f *forest) *detail {
	if f.calls.Joined() {
		d := &detail{outline: f.calls.Outline()}
		if p.root > 0 {
			d.first, d.level = p.root, d.outline.Level(p.root)
			d.outline = d.outline.Below(p.root)
		}
		return d
	}
	tree, a := f.calls.Tree, &arrangement{}
	if p.root >= 0 {
		tree, a.origin = tree.Subtree(p.root)
	}
	weight := func() []float64 { return invocation.NewLayout(tree).Weight }
	ordered, order := tree.Preorder(sorter(p.order, f, p.locations, a.node, weight))
	level, _ := ordered.Levels()
	return &detail{outline: invocation.NewOutline(level), order: a.through(order)}
}

// look finds the content of a picture of a size: an arrangement of the drawn nodes alone, with the mixes of those that
// are merged. All that is read for a picture is read here.
func (r *result) look(ctx context.Context, size scene.Size) error {
	if r.detail == nil || r.looked == size {
		return nil
	}
	o, ring := r.detail.outline, r.ringAt(size)
	x, y := r.zoom.rootAt(size)
	r.sight = invocation.NewSight(float64(size.Width), float64(size.Height), ring*r.zoom.factor, x, y)
	items, skipped, err := lookAt(ctx, o, r.sight)
	if err != nil {
		return err
	}
	a := &arrangement{height: o.Height, ring: ring, hmax: (o.Height + int(r.sight.Band) - 1) / int(r.sight.Band),
		items: items, skipped: skipped,
		layout: &invocation.Layout{Tree: &invocation.Tree{}, Height: o.Height}}
	if r.sight.Band > 1 {
		a.condensing = invocation.Condensing{C0: int(r.sight.Band), T: o.Height}
	}
	l := a.layout
	for i, it := range items {
		weight := 0.0
		if !it.Merged {
			weight = float64(o.Weight(it.First))
		}
		a.origin, a.shown = append(a.origin, r.detail.node(it.First)), append(a.shown, int32(i))
		l.Tree.Parent, l.Level = append(l.Tree.Parent, it.Parent), append(l.Level, it.Level)
		l.Weight, l.Start, l.Alloc = append(l.Weight, weight), append(l.Start, it.Start), append(l.Alloc, it.Alloc)
	}
	a.nodes = r.forest.pick(a.origin, r.facts(), make([]invocation.Node, 0, len(items)))
	r.arrangement = a
	if r.brush == nil {
		if r.brush, err = r.painter(ctx); err != nil {
			return err
		}
	}
	a.mixes = make([]*mix, len(items))
	sectors := 0
	for i := range items {
		sectors += btoi(items[i].Merged)
	}
	const part = 32
	err = parallel.Each(ctx, (len(items)+part-1)/part, func() *mixer { return newMixer(r.brush, sectors) },
		func(_ context.Context, m *mixer, n int) error {
			for i := n * part; i < min((n+1)*part, len(items)); i++ {
				if items[i].Merged {
					a.mixes[i] = m.mixOf(&items[i])
				}
			}
			return nil
		})
	if err == nil {
		r.looked = size
	}
	return err
}

// lookAgain does for a size that was not asked for, which few are.
func (r *result) lookAgain(size scene.Size) {
	_ = r.look(context.Background(), size)
}

// nodeOf returns a node as drawn with the facts that are drawn.
func (r *result) nodeOf(i int) *invocation.Node {
	if r.nodes != nil {
		return &r.nodes[i]
	}
	return r.forest.node(r.node(i))
}

// ringAt is the distance of levels in a picture of a size, before a zoom.
func (r *result) ringAt(size scene.Size) float64 {
	side := float64(min(size.Width, size.Height))
	if given := r.request.Values.Integer("ring"); given > 0 {
		return float64(given) * side / float64(max(min(r.request.Size.Width, r.request.Size.Height), 1))
	}
	return side / 2 / float64(max(r.detail.outline.Height, 1))
}

// lookAt finds the items of at least a pixel, or of more pixels if those are more than a scene
// may hold.
func lookAt(ctx context.Context, o *invocation.Outline, s invocation.Sight) ([]invocation.Item, []invocation.Skip,
	error) {
	for unit := 1.0; ; unit *= math.Sqrt2 {
		if items, skipped, ok := o.Look(ctx, s, unit, mostDrawn); ok || ctx.Err() != nil {
			return items, skipped, context.Cause(ctx)
		}
	}
}

// rootAt is where the root is in a picture of a size.
func (z zoom) rootAt(size scene.Size) (x, y float64) {
	half := z.factor * float64(min(size.Width, size.Height)) / 2
	return float64(size.Width)/2 - z.x*half, float64(size.Height)/2 - z.y*half
}

// isMerged reports whether an item stands for several calls.
func (a *arrangement) isMerged(i int) bool { return a.items != nil && a.items[i].Merged }

// detailNotes lists the nodes drawn as one.
func (r *result) detailNotes() (out []string) {
	if r.sight.Band > 1 {
		out = append(out, "a ring holds "+plural(int(r.sight.Band), "level", "levels")+", of which the first is drawn")
	}
	sectors, calls := 0, 0
	for _, it := range r.items {
		if it.Merged {
			sectors++
			calls += int(it.End - it.First)
		}
	}
	if sectors > 0 {
		out = append(out,
			plural(calls, "call is", "calls are")+" in "+plural(sectors, "sector", "sectors")+
				" of less than a pixel each, which a closer look opens")
	}
	return out
}

// zoomTo is the zoom that has a sector in the middle of the picture and makes it so many pixels wide.
func (r *result) zoomTo(start, alloc float64, level int32, pixels float64) zoom {
	return zoomOn(r.request.Size, r.ringAt(r.request.Size), start, alloc, level, pixels)
}

// zoomOn is that of a picture of a size, with levels so many pixels apart before a zoom.
func zoomOn(size scene.Size, distance, start, alloc float64, level int32, pixels float64) zoom {
	side := float64(max(min(size.Width, size.Height), 1))
	ring := distance / (side / 2) // in halves of the picture
	sin, cos := math.Sincos((start + alloc/2) * math.Pi / 180)
	radius := ring * (float64(level) + 0.5)
	arc := alloc * math.Pi / 180 * ring * float64(level+1) * side / 2
	z := zoom{factor: min(max(pixels/max(arc, 1e-12), 1), mostZoom), x: radius * cos, y: radius * sin}
	// Levels must lie far enough apart for it to be on one that is drawn.
	if level > 0 {
		z.factor = min(max(z.factor, 2*invocation.LeastRing/(ring*side/2)), mostZoom)
	}
	return z
}

// widest is the widest child in a merged sector, by its share of it.
func (r *result) widest(it *invocation.Item) (alloc float64) {
	o, heaviest := r.detail.outline, int64(0)
	total := int64(0)
	for i, n := it.First, 0; i < it.End && n < 4096; i, n = o.End(i), n+1 {
		w := o.Weight(i)
		heaviest, total = max(heaviest, w), total+w
	}
	return it.Alloc * float64(heaviest) / float64(max(total, 1))
}

// placeOf is the place of a node of the forest in the outline; -1: it is not in this tree.
func (d *detail) placeOf(node int32) int32 {
	if d.order != nil {
		return int32(slices.Index(d.order, node))
	}
	if place := node - d.first; place >= 0 && int(place) < d.outline.Len() {
		return place
	}
	return -1
}
