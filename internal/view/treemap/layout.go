package treemap

import (
	"fmt"
	"github.com/parallax-hpc/parallax/internal/analysis/entropy"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// leastCell is the area below which boxes are not drawn one by one, so that a
	// frame stays small whatever the hierarchy.
	leastCell = 90
	leastSide = 6
	header    = 15 // space for a name above its content
	gap       = 1
)

// A cell is something drawn that can be picked.
type cell struct {
	at   box
	node int32
	look look
}

type look uint8

const (
	raw        look = iota // one location
	aggregate              // drawn as one because that loses little
	unreadable             // drawn as one because its parts would be smaller than a pixel or two
	group                  // the frame of a group whose parts are drawn
)

// ofCell is the item kind of a cell: a node, and its look.
const ofCell = 1

// A drawing is a result that is laid out.
type drawing struct {
	*result
	cells  []cell
	insets []inset
}

// Scene draws the cut as nested boxes, and cells too small to be drawn next to it in
// large.
func (r *result) Scene(size scene.Size) *scene.Scene { return (&drawing{result: r}).scene(size) }

func (r *drawing) scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	frame := scene.Frame{Name: "main", W: float32(size.Width), H: float32(size.Height)}
	s.AddFrame(frame)
	whole := box{0, 0, float64(size.Width), float64(size.Height)}
	r.place(0, whole)
	r.addInsets(whole)
	s.Frames[0].Places = r.places()
	warned := r.paint(s)
	for _, v := range r.variables {
		e := plot.RegionKey(v.Name, v.colour, uint32(v.Region))
		e.Flags = v.flag
		if v.Instant {
			e.Label += " (instants)"
		}
		s.Legend = append(s.Legend, e)
	}
	if len(r.cut.Parts) < r.hierarchy.Leaves {
		s.AddFoldLegend(warned)
	}
	s.Notes = append(s.Notes, r.summary())
	s.Notes = append(s.Notes, r.Notes()...)
	if a := r.Arrangement(); a != nil {
		s.Notes = append(s.Notes, a.Labels())
	}
	if boxes, parts := r.hidden(); boxes > 0 {
		text := fmt.Sprintf("%s boxes stand", view.Thousands(int64(boxes)))
		if boxes == 1 {
			text = "1 box stands"
		}
		s.Notes = append(s.Notes,
			fmt.Sprintf("hatched: %s for %s that are too small to be drawn", text, view.Count(parts, "part")))
	}
	return s
}

// places say which location each cell is, the largest where there are too many.
func (r *drawing) places() []scene.Spot {
	least := 0.0
	if n := len(r.cells); n > scene.MostPlaces {
		areas := make([]float64, n)
		for i, c := range r.cells {
			areas[i] = c.at.w * c.at.h
		}
		slices.Sort(areas)
		least = areas[n-scene.MostPlaces]
	}
	out := []scene.Spot{}
	for _, c := range r.cells {
		id := r.location(c.node)
		if id == trace.NoLocation || c.at.w*c.at.h < least || len(out) == scene.MostPlaces {
			continue
		}
		out = append(out,
			scene.Spot{X: float32(c.at.x), Y: float32(c.at.y), W: float32(c.at.w), H: float32(c.at.h),
				Location: uint32(id)})
	}
	return out
}

func (r *drawing) describe() string {
	return fmt.Sprintf("Treemap of %s locations in %s parts: gain %s, loss %s of all.",
		view.Thousands(int64(r.hierarchy.Leaves)),
		view.Thousands(int64(len(r.cut.Parts))), view.FormatShare(ratio(r.cut.Gain, r.labels.Gain[0])),
		view.FormatShare(r.share(r.cut.Loss)))
}

// summary describes the drawing. At a fixed level that is neither by p nor the best cut.
func (r *drawing) summary() string {
	text := fmt.Sprintf("%s locations in %s, gain %s, loss %s", view.Thousands(int64(r.hierarchy.Leaves)),
		view.Count(len(r.cut.Parts), "part"), view.FormatShare(ratio(r.cut.Gain, r.labels.Gain[0])),
		view.FormatShare(r.share(r.cut.Loss)))
	if r.level != "" {
		return text
	}
	return fmt.Sprintf("p = %s: %s, the best of %s ways to cut", entropy.FormatP(r.p), text, waysText(r.ways()))
}

// waysText writes a number that is given by its logarithm.
func waysText(log float64) string {
	if log < 9 {
		return view.Thousands(int64(math.Round(math.Pow(10, log))))
	}
	return fmt.Sprintf("10^%.0f", math.Floor(log))
}

func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// size of a node: the values below it; where all are 0, its leaves.
func (r *result) size(i int32) float64 {
	sum, whole := 0.0, 0.0
	for x := range r.labels.Sum {
		if r.overlay(x) {
			continue
		}
		sum += r.labels.Sum[x][i]
		whole += r.labels.Sum[x][0]
	}
	if whole <= 0 {
		return float64(r.labels.Leaves[i])
	}
	return sum
}

// place decides how a node is drawn and goes down where its parts have room.
func (r *drawing) place(i int32, at box) {
	if at.w <= 0 || at.h <= 0 {
		return
	}
	if r.inCut[i] {
		l := raw
		if r.aggregated(i) {
			l = aggregate
		}
		r.cells = append(r.cells, cell{at, i, l})
		return
	}
	t := r.tree
	var children []int32
	var sizes, counts []float64
	for c := i + 1; c <= t.Last[i]; c = t.Last[c] + 1 {
		children = append(children, c)
		sizes, counts = append(sizes, r.size(c)), append(counts, float64(r.labels.Leaves[c]))
	}
	inner := at.inset(gap, gap)
	if at.h > 3*header && at.w > 48 {
		inner = at.inset(2, header)
	}
	if len(children) == 1 {
		r.place(children[0], at)
		return
	}
	if inner.w < leastSide || inner.h < leastSide || inner.w*inner.h < leastCell*float64(len(children))/4 {
		r.cells = append(r.cells, cell{at, i, unreadable})
		return
	}
	r.cells = append(r.cells, cell{at, i, group})
	for k, b := range layStrips(sizes, counts, inner) {
		r.place(children[k], b)
	}
}

// partsBelow counts the parts of the cut below a node. O(parts).
func (r *drawing) partsBelow(i int32) int {
	n := 0
	t := r.tree
	for c := i; c <= t.Last[i]; {
		if r.inCut[c] {
			n++
			c = t.Last[c] + 1
		} else {
			c++
		}
	}
	return n
}
