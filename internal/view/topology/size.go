package topology

import (
	"context"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/scene"
)

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
	near := neighbours(m)
	apart := min(near.apart, 0.15*m.Axes[longest(m)].Length())
	if apart == 0 {
		apart = max(0.15*m.Axes[longest(m)].Length(), 0.2)
	}
	share := 0.26 // of a solid: one sees points inside
	switch {
	case m.Form == scene.Balls:
		share = 0.46
	case !near.solid:
		share = 0.55 // of a surface: nothing is behind it but its other side
	}
	radius := share * apart
	if m.Len() < fewThings && near.close > 0 {
		part := 0.46 // few are distinguished one by one
		if dimensions(m) == 2 {
			part = 0.36 // a plane is mostly seen from the side
		}
		radius = min(radius, part*near.close)
		if dimensions(m) == 3 { // those behind are seen between those in front
			radius = min(radius, max(0.5*betweenPixels(m), leastOfApart*apart))
		}
	}
	if r.links != nil {
		radius *= 0.6 // lines run between them
	}
	m.Radius = float32(radius) * scale
	step := apart // bars stand side by side
	if near.close > 0 {
		step = min(step, near.close)
	}
	for a := range m.Half {
		m.Half[a] = float32(0.4*step/m.Axes[a].Stretch) * scale
	}
	if line := m.Axes[longest(m)].Length(); dimensions(m) == 1 {
		// a line of things can be seen where it is thicker than they are apart
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

// leastOfApart is the least radius of few things in space, in the distance at which they lie apart.
const leastOfApart = 0.14

// betweenPixels returns how far the nearest of few things is in the picture, in units of the box, seen from the usual
// side: the median of all.
func betweenPixels(m *scene.Space) float64 {
	of := scene.Space{Axes: m.Axes, Camera: scene.UsualCamera, W: 1, H: 1}
	p := of.Project()
	x, y := make([]float64, m.Len()), make([]float64, m.Len())
	for i := range x {
		x[i], y[i], _ = p.At(float64(m.PX[i]), float64(m.PY[i]), float64(m.PZ[i]))
	}
	var nearest []float64
	for i := range x {
		least := math.Inf(1)
		for j := range x {
			if d := math.Hypot(x[i]-x[j], y[i]-y[j]); i != j && d > 0 && d < least {
				least = d
			}
		}
		if !math.IsInf(least, 1) {
			nearest = append(nearest, least)
		}
	}
	if len(nearest) == 0 {
		return math.Inf(1)
	}
	slices.Sort(nearest)
	return nearest[len(nearest)/2] / math.Abs(p.Scale)
}

// fewThings is how many can be looked at each; of more it is the surface that is seen.
const fewThings = 1000

// A neighbourhood is how far the nearest things lie from each other, in units of the box.
type neighbourhood struct {
	apart float64 // to the fourth nearest: that of any grid, whatever its steps
	close float64 // to the second nearest
	solid bool    // there are as many in every direction: things hide each other
}

// neighbours looks at a sample of things and at most so many others that it takes the
// same time for any number of them.
func neighbours(m *scene.Space) neighbourhood {
	const samples, most, kth, full = 61, 120_000, 4, 6
	n := m.Len()
	stride := max(1, (n+most-1)/most)
	at := func(i int) (p [3]float64) {
		for a, c := range [3][]float32{m.PX, m.PY, m.PZ} {
			p[a] = float64(c[i]) * m.Axes[a].Stretch
		}
		return p
	}
	looked := make([][full]float64, min(samples, n)) // how far the nearest are, squared
	_ = parallel.For(context.Background(), len(looked), func(s int) {
		i := s * n / len(looked)
		p := at(i)
		nearest := [full]float64{math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1), math.Inf(1)}
		for j := i % stride; j < n; j += stride {
			q := at(j)
			d := (p[0]-q[0])*(p[0]-q[0]) + (p[1]-q[1])*(p[1]-q[1]) + (p[2]-q[2])*(p[2]-q[2])
			if j == i || !(d < nearest[full-1]) || d < 1e-18 { // points at its place do not count
				continue
			}
			k := full - 1
			for ; k > 0 && nearest[k-1] > d; k-- {
				nearest[k] = nearest[k-1]
			}
			nearest[k] = d
		}
		looked[s] = nearest
	})
	var first, second, fourth, ratio []float64
	for _, nearest := range looked {
		if !math.IsInf(nearest[kth-1], 1) {
			first, second = append(first, math.Sqrt(nearest[0])), append(second, math.Sqrt(nearest[1]))
			fourth = append(fourth, math.Sqrt(nearest[kth-1]))
			ratio = append(ratio, math.Sqrt(nearest[full-1]/nearest[kth-1]))
		}
	}
	if len(fourth) == 0 {
		return neighbourhood{}
	}
	slices.Sort(fourth)
	slices.Sort(ratio)
	slices.Sort(second)
	slices.Sort(first)
	if n := len(first); first[n/4] > 0.99*first[n*3/4] { // blocks of two: each has one next to it
		second = first
	}
	out := neighbourhood{apart: fourth[len(fourth)/2], close: second[len(second)/2], solid: dimensions(m) == 3 &&
		ratio[len(ratio)/2] < 1.19}
	if !out.solid {
		out.apart = fourth[len(fourth)*3/4] // a sphere has its rings wide apart where it is widest
	}
	if stride > 1 { // others are between those looked at
		d := 2.0
		if out.solid {
			d = 3
		}
		out.apart /= math.Pow(float64(stride), 1/d)
		out.close /= math.Pow(float64(stride), 1/d)
	}
	return out
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
