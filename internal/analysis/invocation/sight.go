package invocation

import (
	"context"
	"math"
)

// LeastRing is the least distance of rings that are drawn, in pixels.
const LeastRing = 4

// A Sight is the part of the circles that a window shows: levels Ring pixels apart, of which every Band-th
// is drawn.
type Sight struct {
	Ring      float64
	Band      int32
	Near, Far float64 // radii
	Mid, Half float64 // degrees on both sides of a middle
}

// NewSight of a window of a size, with the root at x, y in it.
func NewSight(width, height, ring, x, y float64) Sight {
	s := Sight{Ring: ring, Band: 1, Half: 180}
	for s.Band < 1<<30 && float64(s.Band)*ring < LeastRing {
		s.Band *= 2
	}
	corners := [][2]float64{{0, 0}, {0, height}, {width, 0}, {width, height}}
	for _, c := range corners {
		s.Far = max(s.Far, math.Hypot(c[0]-x, c[1]-y))
	}
	if x >= 0 && x <= width && y >= 0 && y <= height {
		return s
	}
	s.Near = math.Hypot(max(-x, x-width, 0), max(-y, y-height, 0))
	s.Mid, s.Half = degrees(math.Atan2(height/2-y, width/2-x)), 0
	for _, c := range corners {
		s.Half = max(s.Half, math.Abs(math.Remainder(degrees(math.Atan2(c[1]-y, c[0]-x))-s.Mid, 360)))
	}
	return s
}

func degrees(radians float64) float64 { return radians * 180 / math.Pi }

// arc is how many pixels a degree is where a node of a level is measured: at the outer edge of its ring.
func (s *Sight) arc(level int32) float64 {
	return s.Ring * float64(s.Band) * float64(level/s.Band+1) * math.Pi / 180
}

// spans are the angles in sight as one or two stretches of 0 to 360.
func (s *Sight) spans() [][2]float64 {
	if s.Half >= 180 {
		return [][2]float64{{0, 360}}
	}
	from := math.Mod(s.Mid-s.Half+720, 360)
	to := from + 2*s.Half
	if to <= 360 {
		return [][2]float64{{from, to}}
	}
	return [][2]float64{{0, to - 360}, {from, 360}}
}

// reaches reports whether rings of these levels reach into sight.
func (s *Sight) reaches(first, last int32) bool {
	return s.Ring*float64(first) <= s.Far && s.Ring*float64(last+1) >= s.Near
}

// An Item is a drawn node, or several that are merged to one sector because each of them is less than a pixel wide.
type Item struct {
	First, End   int32 // places in the outline; of a node alone itself and all below
	Merged       bool
	Parent       int32 // the item of the nearest node above that is drawn; -1: none
	Start, Alloc float64
	Level        int32
	Deepest      int32 // of what is merged
}

// A Skip is a node on a level that is not drawn, between two that are.
type Skip struct{ Place, Item int32 } // of the nearest node above that is drawn

// Look finds the drawn items of a tree: nodes whose sector is at least unit pixels wide, on levels that are drawn, and
// runs of narrower siblings that begin in the same pixel of the circle, merged. They come in preorder. It returns false
// if they are more than most, or if ctx ends. Sectors are those of the whole tree, whatever is in sight. Its time grows
// with the drawn items, not with the tree.
func (o *Outline) Look(ctx context.Context, s Sight, unit float64, most int) (items []Item, skipped []Skip, ok bool) {
	w := &walker{Outline: o, Sight: s, unit: unit, most: most, angles: s.spans(), ctx: ctx, apart: true}
	w.walk(0, int32(o.Len()), 0, 360, -1)
	w.join()
	return w.items, w.skipped, !w.full
}

// A walker looks at a tree from its root on.
type walker struct {
	*Outline
	Sight
	unit    float64
	most    int
	angles  [][2]float64
	items   []Item
	skipped []Skip
	full    bool // too many items, or nobody waits for them
	steps   int  // nodes looked at, and searches
	ctx     context.Context

	apart    bool // children of the root are walked into later
	branches []branch
}

func (w *walker) meets(start, alloc float64) bool {
	for _, a := range w.angles {
		if start <= a[1] && start+alloc >= a[0] {
			return true
		}
	}
	return false
}

func (w *walker) put(it Item) {
	if w.full = w.full || len(w.items) >= w.most || len(w.items)%64 == 0 && w.ctx.Err() != nil; !w.full {
		w.items = append(w.items, it)
	}
}

// A parent is a node whose children are shared out.
type parent struct {
	node, end    int32
	start, alloc float64
	base         int64 // weights before what they share
	total        int64 // weight that they share
	arc          float64
}

// place is the sector of a child.
func (w *walker) place(p *parent, child int32) (start, alloc float64) {
	at := w.before(child)
	weight := w.before(w.End(child)) - at
	return p.start + p.alloc*(float64(at-p.base)/float64(p.total)), p.alloc * (float64(weight) / float64(p.total))
}

// pixel of the circle in which a child begins.
func (w *walker) pixel(p *parent, start float64) float64 { return math.Floor(start * p.arc / w.unit) }

func (w *walker) child(p *parent, weight int64) int32 {
	w.steps++
	return w.childAt(p.node, p.end, weight)
}

// previous is the child before another.
func (w *walker) previous(p *parent, child int32) int32 { return w.child(p, w.before(child)-p.base-1) }

func (w *walker) walk(i, end int32, start, alloc float64, above int32) {
	w.steps++
	level := w.Level(i)
	if level%w.Band != 0 {
		w.skipped = append(w.skipped, Skip{i, above})
	} else if w.meets(start, alloc) && w.reaches(level, level+w.Band-1) {
		w.put(Item{First: i, End: end, Parent: above, Start: start, Alloc: alloc, Level: level})
		above = int32(len(w.items) - 1)
	}
	p := &parent{node: i, end: end, start: start, alloc: alloc, base: w.base(i), arc: w.arc(level + 1)}
	p.total = w.before(end) - p.base
	if p.total == 0 || i+1 == end || w.full || w.Ring*float64(level+1) > w.Far ||
		w.Near > 0 && w.Ring*float64(w.Deepest(i, end)+1) < w.Near {
		return
	}
	done := i + 1
	for _, a := range w.angles {
		from := a[0] - 2*w.unit/p.arc // a pixel may begin before the sight does
		if from <= start+alloc && a[1] >= start {
			done = w.children(p, done, from, a[1], above)
		}
	}
}

// children walks from the child at an angle, or the first that is not done, up to another; it gives where it stopped.
func (w *walker) children(p *parent, done int32, from, to float64, above int32) int32 {
	c := p.node + 1
	if from > p.start {
		c = w.child(p, min(p.total-1, int64((from-p.start)/p.alloc*float64(p.total))))
	}
	c = max(w.firstOfPixel(p, c, done), done)
	for c < p.end && !w.full {
		start, alloc := w.place(p, c)
		if start > to {
			break
		}
		end := w.End(c)
		if alloc*p.arc < w.unit {
			end = w.merge(p, c, start, above)
		} else if w.apart && p.node == 0 {
			w.branches = append(w.branches, branch{node: c, end: end, start: start, alloc: alloc, above: above,
				items: len(w.items)})
		} else {
			w.walk(c, end, start, alloc, above)
		}
		c, done = end, end
	}
	return done
}

// firstOfPixel goes back to the first of the narrow children that begin in the pixel of one.
func (w *walker) firstOfPixel(p *parent, c, done int32) int32 {
	for c > p.node+1 && c > done {
		before := w.previous(p, c)
		start, alloc := w.place(p, before)
		here, _ := w.place(p, c)
		if w.pixel(p, start) != w.pixel(p, here) || alloc*p.arc >= w.unit {
			break
		}
		c = before
	}
	return c
}

// merge makes one sector of a narrow child and those after it that begin in its pixel; it gives the place behind them.
func (w *walker) merge(p *parent, c int32, start float64, above int32) int32 {
	k := w.pixel(p, start)
	begin := func(child int32) float64 { s, _ := w.place(p, child); return w.pixel(p, s) }
	weight := int64(((k+1)*w.unit/p.arc - p.start) / p.alloc * float64(p.total))
	last := w.child(p, min(p.total-1, max(weight, w.before(c)-p.base)))
	for last > c && begin(last) > k {
		last = w.previous(p, last)
	}
	for next := w.End(last); next < p.end && begin(next) == k; next = w.End(last) {
		last = next
		w.steps++
	}
	if _, alloc := w.place(p, last); last > c && alloc*p.arc >= w.unit {
		last = w.previous(p, last)
	}
	end := w.End(last)
	s, a := w.place(p, last)
	level, deep := w.Level(c), w.Deepest(c, end)
	if width := s + a - start; w.meets(start, width) && w.reaches(level, deep) {
		w.put(Item{First: c, End: end, Merged: true, Parent: above, Start: start, Alloc: width, Level: level,
			Deepest: deep})
	}
	return end
}

// Sample calls f for each place of a stretch, or where they are more than most for one of each of that many parts of
// it: at random, so that repeated values are met in proportion, and always the same ones.
func Sample(from, to, most int32, f func(i int32)) {
	if to-from <= most {
		for i := from; i < to; i++ {
			f(i)
		}
		return
	}
	for k := range int64(most) {
		low, high := int64(to-from)*k/int64(most), int64(to-from)*(k+1)/int64(most)
		f(from + int32(low) + int32(chance(k)%uint64(high-low)))
	}
}

// chance is a number that looks like one at random, always the same.
func chance(k int64) uint64 {
	z := uint64(k+1) * 0x9E3779B97F4A7C15
	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9
	return z ^ (z >> 27)
}

// Solid is the level down to which nine tenths of the nodes of a stretch lie, whose first has a level, of a sample of
// their levels.
func Solid(first int32, levels []int32) int32 {
	var count []int32
	for _, l := range levels {
		k := int(max(l-first, 0))
		if k >= len(count) {
			count = append(count, make([]int32, k+1-len(count))...)
		}
		count[k]++
	}
	seen := int32(0)
	for k, c := range count {
		if seen += c; 10*int(seen) >= 9*len(levels) {
			return first + int32(k)
		}
	}
	return first
}
