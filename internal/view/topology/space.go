package topology

import (
	"fmt"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// leastSide is how much shorter than the longest side of the box another may be;
// shorter ones are stretched to that, so that a line of ranks can be seen.
const leastSide = 0.2

// Scene lays the points out in space.
func (r *result) Scene(size scene.Size) *scene.Scene { return r.scene(size) }

func (r *result) scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "",
		fmt.Sprintf("Topology of %s locations by the layout %s, coloured by %s.",
			view.Thousands(int64(len(r.location))), r.layout, r.colour().label))
	frame := s.AddFrame(scene.Frame{Name: "space", W: float32(size.Width), H: float32(size.Height)})
	if r.space == nil {
		r.space = r.newSpace()
	}
	m := *r.space // columns are shared, the size is this picture's
	m.X, m.Y, m.W, m.H = 0, 0, float32(size.Width), float32(size.Height)
	m.Least = scene.LeastDot(m.Len(), size) * r.pointSize()
	if !r.isSet("camera") {
		m.FacePlane()
	}
	r.space = &m
	s.AddLayer("space", frame, &m)
	c := r.colour()
	s.Legend = append(s.Legend, plot.RampKey(c.label, m.Ramp, c.format(r.lo), c.format(r.hi)))
	s.Legend = append(s.Legend, r.linkLegend()...)
	if r.option("key") == "hidden" {
		s.Legend = nil
	}
	for i := range r.bound {
		b := &r.bound[i]
		s.Terms = append(s.Terms, scene.Term{Name: b.name, Text: b.text, Label: b.label, By: b.by})
	}
	for k, name := range r.proposed.names(r.coordinateName()) {
		s.Terms = append(s.Terms,
			scene.Term{Name: "layout", Text: name, Label: proposalLabel(&r.proposed.layouts[k], name)})
	}
	s.Notes = r.Notes()
	if r.flat {
		s.Notes = append(s.Notes, "a mesh needs rows of locations; these lie on a line and are drawn as points")
	}
	if step := m.MeshStep(); m.Form == scene.Mesh && step > 1 {
		s.Notes = append(s.Notes,
			fmt.Sprintf("pieces of the mesh would be smaller than pixels: one row and column of locations in %d is "+
				"drawn", step))
	}
	for a := range m.Axes {
		if f := m.Axes[a].Stretch / m.Axes[longest(&m)].Stretch; f > 1.05 {
			s.Notes = append(s.Notes, fmt.Sprintf("the axis %s is stretched %.3g ×", m.Axes[a].Label, f))
		}
	}
	return s
}

// newSpace fills the columns and fits axes and sizes to them.
func (r *result) newSpace() *scene.Space {
	v := r.request.Values
	m := &scene.Space{
		Form: scene.FormOf(r.option("shape")), Low: float32(r.lo), High: float32(r.hi), Base: float32(min(r.lo, 0)),
		Unit: r.colour().unit, Ramp: r.option("palette"), Camera: r.camera, Filter: r.shown,
		Of: ofPoint, Detail: r.detail(), Bare: r.option("axes") == "hidden" || r.bare && !r.request.Values.Set("axes"),
	}
	if v.Switch("paper") {
		m.Ramp = "spectrum"
	}
	n := len(r.location) * len(r.points)
	columns := [4][]float32{make([]float32, 0, n), make([]float32, 0, n), make([]float32, 0, n), make([]float32, 0, n)}
	lo, hi := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}, [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	whole := [3]bool{true, true, true}
	for k := range r.points {
		p := &r.points[k]
		for a, axis := range [4][]float64{p.X, p.Y, p.Z, p.Color} {
			for i, x := range axis {
				if !r.placed[k][i] || a == 3 && r.repeats != nil && r.repeats[i] {
					x = math.NaN()
				} else if a < 3 {
					lo[a], hi[a] = min(lo[a], x), max(hi[a], x)
					whole[a] = whole[a] && x == math.Trunc(x)
				}
				columns[a] = append(columns[a], float32(x))
			}
		}
	}
	m.PX, m.PY, m.PZ, m.Value = columns[0], columns[1], columns[2], columns[3]
	for k := range r.points {
		for _, run := range scene.RunsOf(r.location) {
			run.First += uint32(k * len(r.location))
			m.Runs = append(m.Runs, run)
		}
	}
	for a := range 3 {
		if lo[a] > hi[a] {
			lo[a], hi[a] = 0, 0
		}
		m.Axes[a] = r.axis(a, lo[a], hi[a], whole[a])
	}
	most := fewNamed
	if lo[0] < hi[0] && lo[1] < hi[1] && lo[2] < hi[2] {
		most = fewInSpace
	}
	m.Labels = r.labels(most)
	stretch(m)
	if !r.isSet("shape") && dimensions(m) == 3 && m.Len() < fewThings {
		m.Form = scene.Balls // light shows what is in front
	}
	r.sizes(m)
	m.Links = r.links.marks(m.Ramp)
	return m
}

// Of so many locations each has its name next to it: in a plane, and in space, where those behind are in the way.
const (
	fewNamed   = 64
	fewInSpace = 16
)

// labels are the names of blocks, or of all locations if there are at most so many.
func (r *result) labels(most int) []scene.SpaceLabel {
	names := r.blocks
	if len(names) == 0 && len(r.location) <= most && len(r.points) == 1 {
		names = namesOfPoints(r.request.Store().Locations(), r.location)
	}
	var out []scene.SpaceLabel
	for i, id := range r.location {
		name := names[id]
		if name != "" {
			out = append(out, scene.SpaceLabel{Thing: uint32(i), Text: scene.Shorten(name, 130, scene.TextSize)})
		}
	}
	return out
}

// namesOfPoints returns the names of locations: of several ranks, the rank for the first location of each.
func namesOfPoints(t *store.Tree, ids []trace.LocationID) map[trace.LocationID]string {
	first, names := map[int32]trace.LocationID{}, map[trace.LocationID]string{}
	for _, id := range ids {
		names[id] = t.Name[id]
		if rank := rankOf(t, id); rank != trace.NoRank {
			if _, ok := first[rank]; !ok {
				first[rank] = id
			}
		}
	}
	if len(first) > 1 {
		for rank, id := range first {
			names[id] = fmt.Sprint("rank ", rank)
		}
	}
	return names
}

// rankOf returns the rank of a location or of the process that it belongs to.
func rankOf(t *store.Tree, id trace.LocationID) int32 {
	for ; id != trace.NoLocation; id = t.Parent[id] {
		if t.Rank[id] != trace.NoRank {
			return t.Rank[id]
		}
	}
	return trace.NoRank
}

// detail is that of --detail; the file's value may be no number.
func (r *result) detail() int {
	v, err := strconv.Atoi(r.option("detail"))
	if err != nil || v < 2 || v > scene.MostDetail {
		return 3
	}
	return v
}

// pointSize is the factor of --point; the file's value may be no number.
func (r *result) pointSize() float32 {
	v, err := strconv.ParseFloat(r.option("point"), 32)
	if err != nil || !(v > 0 && v <= 100) {
		return 1
	}
	return float32(v)
}

// ofPoint is the item kind of a point, by its index.
const ofPoint = 1

// Fact describes a point.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	index := int(it.A)
	if index < 0 || index >= len(r.location)*len(r.points) {
		return view.Fact{}, false
	}
	i, p := index%len(r.location), &r.points[index/len(r.location)]
	tree := r.request.Store().Locations()
	id := r.location[i]
	f := view.Fact{Title: tree.Name[id], Locations: []trace.LocationID{id}}
	line := func(label, value string, exact float64) { f.Say(label, value, view.Cell(exact)) }
	f.Say("path", tree.Path(id), "")
	for k := range r.bound {
		b := &r.bound[k]
		line(b.label, b.format(b.values[i]), b.values[i])
	}
	if c := p.Color[i]; c != r.colour().values[i] && !math.IsNaN(c) {
		line("colour", r.colour().format(c), c)
	}
	if tree.Rank[id] != trace.NoRank {
		line("rank", strconv.Itoa(int(tree.Rank[id])), float64(tree.Rank[id]))
	}
	position := r.who.index[r.number[i]]
	line("index", strconv.Itoa(int(position)), position)
	f.Say("place", fmt.Sprintf("%.4g, %.4g, %.4g", p.X[i], p.Y[i], p.Z[i]), "")
	f.More = r.given != nil
	return f, true
}

// Detail adds the values of the layout's assignments.
func (r *result) Detail(it scene.Item, f *view.Fact) error {
	steps, err := r.chosen.Steps(r.given, r.number[int(it.A)%len(r.location)])
	for _, s := range steps {
		f.Lines = append(f.Lines,
			view.FactLine{Label: s.Name, Value: fmt.Sprintf("%.6g", s.Value), Exact: view.Cell(s.Value),
				Text: s.Line - r.chosen.Line + 1})
	}
	return err
}
