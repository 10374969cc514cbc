package topology

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// leastSide is how much shorter than the longest side of the box another may be;
// shorter ones are stretched to that, so that a line of ranks can be seen.
const leastSide = 0.2

// Scene lays the points out in space.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", fmt.Sprintf("Topology of %s locations by the layout %s, coloured by %s.", view.Thousands(int64(len(r.location))), r.layout, r.colour().label))
	frame := s.AddFrame(scene.Frame{Name: "space", W: float32(size.Width), H: float32(size.Height)})
	if r.space == nil {
		r.space = r.newSpace()
	}
	m := *r.space // columns are shared, the size is this picture's
	m.W, m.H = float32(size.Width), float32(size.Height)
	r.space = &m
	s.AddLayer("space", frame, &m)
	s.Legend = []scene.LegendEntry{{
		Label: r.colour().label, Colour: scene.Ramp(m.Ramp, 0), RampEnd: scene.Ramp(m.Ramp, 1),
		RampLow: r.colour().format(r.lo), RampHigh: r.colour().format(r.hi), Region: scene.NoID, Parent: scene.NoID,
	}}
	s.Notes = r.Notes()
	if r.flat {
		s.Notes = append(s.Notes, "a mesh needs rows of locations; these lie on a line and are drawn as points")
	}
	if step := m.MeshStep(); m.Form == scene.Mesh && step > 1 {
		s.Notes = append(s.Notes, fmt.Sprintf("pieces of the mesh would be smaller than pixels: one row and column of locations in %d is drawn", step))
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
		m.Axes[a] = scene.FitAxis(r.axes[a], lo[a], hi[a], map[bool]string{true: "count"}[whole[a]])
	}
	stretch(m)
	r.sizes(m)
	return m
}

// pointSize is the factor of --point; what a file says may be no number.
func (r *result) pointSize() float32 {
	v, err := strconv.ParseFloat(r.option("point"), 32)
	if err != nil || !(v > 0 && v <= 100) {
		return 1
	}
	return float32(v)
}

func longest(m *scene.Space) int {
	best := 0
	for a := range m.Axes {
		if m.Axes[a].Length() > m.Axes[best].Length() {
			best = a
		}
	}
	return best
}

// stretch makes no side of the box much shorter than the longest.
func stretch(m *scene.Space) {
	most := m.Axes[longest(m)].Length()
	for a := range m.Axes {
		if l := m.Axes[a].Length(); l > 0 && l < leastSide*most {
			m.Axes[a].Stretch = leastSide * most / l
		}
	}
}

// sizes finds how far things lie apart, and makes them fill that well.
func (r *result) sizes(m *scene.Space) {
	scale := r.pointSize()
	along := columnsOf(m)
	m.Columns, m.Gap = along.columns, float32(2.5*max(along.step, along.across))
	apart := min(spacing(m, along.step), 0.15*m.Axes[longest(m)].Length())
	if apart == 0 {
		apart = 0.2
	}
	m.Radius = float32(0.26*apart) * scale
	if m.Form == scene.Balls {
		m.Radius = float32(0.46*apart) * scale
	}
	for a := range m.Half {
		m.Half[a] = float32(0.4*apart/m.Axes[a].Stretch) * scale
	}
	if line := m.Axes[longest(m)].Length(); dimensions(m) == 1 { // a line of things can be seen where it is thicker than they are apart
		m.Radius = max(m.Radius, float32(0.008*line)*scale)
		for a := range m.Half {
			if m.Axes[a].Length() == 0 {
				m.Half[a] = float32(0.02*line) * scale
			}
		}
	}
	if m.Form == scene.Mesh && (dimensions(m) < 2 || m.Columns < 2 || m.Columns >= m.Len()) {
		m.Form = scene.Dots
		r.flat = true
	}
	for a := range m.Axes { // the box holds things whole
		if x := &m.Axes[a]; x.End > x.Begin && m.Form != scene.Mesh {
			pad := float64(m.Radius) / x.Stretch
			if m.Form == scene.Bars {
				pad = float64(m.Half[min(a, 1)])
			}
			x.Begin, x.End = x.Begin-pad, x.End+pad
		}
	}
	if m.Form != scene.Bars {
		return
	}
	z := &m.Axes[2]
	if z.End == z.Begin { // a city: bars on a plane, with the value on the third axis
		m.Tall = float32(0.5 * max(m.Axes[0].Length(), m.Axes[1].Length(), 1))
		z.End, z.Stretch, z.Label, z.Ticks = z.Begin+float64(m.Tall), 1, r.colour().label, nil
		for _, t := range scene.LinearTicks(float64(m.Base), float64(m.High), 5, r.colour().unit) {
			at := z.Begin + (t.At-float64(m.Base))/max(float64(m.High)-float64(m.Base), 1e-300)*float64(m.Tall)
			z.Ticks = append(z.Ticks, scene.Tick{At: at, Label: t.Label})
		}
	} else {
		m.Tall = float32(0.8 * apart / z.Stretch)
		z.End += float64(m.Tall)
	}
}

// dimensions is how many axes have a length.
func dimensions(m *scene.Space) (n int) {
	for a := range m.Axes {
		if m.Axes[a].Length() > 0 {
			n++
		}
	}
	return n
}

// spacing is the usual distance of neighbours in units of the box: no more than if
// all filled it evenly, no more than from a thing to the next.
func spacing(m *scene.Space, step float64) float64 {
	n, volume, dims := float64(max(m.Len(), 1)), 1.0, 0.0
	for a := range m.Axes {
		if l := m.Axes[a].Length(); l > 0 {
			volume, dims = volume*l, dims+1
		}
	}
	if dims == 0 {
		return 1
	}
	even := math.Pow(volume, 1/dims) / max(math.Pow(n, 1/dims)-1, 1)
	if step > 0 {
		even = min(even*1.5, step)
	}
	return even
}

// A grid says how things follow each other.
type grid struct {
	columns      int
	step, across float64 // distances to the next thing, and to the next row
}

// columnsOf finds the length of rows: the number of things after which one lies
// nearest to where it started. Looks at a sample, so it takes the same time for any
// number of things.
func columnsOf(m *scene.Space) grid {
	n := m.Len()
	const samples, most = 97, 5000
	distance := func(i, j int) float64 {
		d := 0.0
		for a, c := range [3][]float32{m.PX, m.PY, m.PZ} {
			x := (float64(c[i]) - float64(c[j])) * m.Axes[a].Stretch
			d += x * x
		}
		return math.Sqrt(d)
	}
	median := func(w int) float64 {
		all := make([]float64, 0, samples)
		for k := range min(samples, n-w) {
			i := k * (n - w) / min(samples, n-w)
			if d := distance(i, i+w); d > 0 {
				all = append(all, d)
			}
		}
		if len(all) == 0 {
			return math.Inf(1)
		}
		slices.Sort(all)
		return all[len(all)/2]
	}
	g := grid{columns: n}
	if n < 2 {
		return g
	}
	if g.step = median(1); math.IsInf(g.step, 0) {
		g.step = 0
	}
	best := math.Inf(1)
	for w := 2; w <= min(n/2, most); w++ {
		if d := median(w); d < best*0.98 {
			best, g.columns, g.across = d, w, d
		}
	}
	return g
}

// Pick gives what is at a place of the scene drawn last.
func (r *result) Pick(x, y float64) (view.Fact, bool) {
	if r.space == nil {
		return view.Fact{}, false
	}
	i, ok := r.space.Pick(x, y)
	if !ok {
		return view.Fact{}, false
	}
	return r.PickItem(i)
}

// PickItem gives the facts of a point by its index.
func (r *result) PickItem(index int) (view.Fact, bool) {
	if index < 0 || index >= len(r.location)*len(r.points) {
		return view.Fact{}, false
	}
	i, p := index%len(r.location), &r.points[index/len(r.location)]
	tree := r.request.Store().Locations()
	id := r.location[i]
	f := view.Fact{Title: tree.Name[id], Locations: []trace.LocationID{id}}
	line := func(label, value string, exact float64) {
		f.Lines = append(f.Lines, view.FactLine{Label: label, Value: value, Exact: strconv.FormatFloat(exact, 'g', -1, 64)})
	}
	f.Lines = append(f.Lines, view.FactLine{Label: "path", Value: tree.Path(id)})
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
	f.Lines = append(f.Lines, view.FactLine{Label: "place", Value: fmt.Sprintf("%.4g, %.4g, %.4g", p.X[i], p.Y[i], p.Z[i])})
	return f, true
}
