package commmatrix

import (
	"maps"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// mostSolid bounds the blocks along one side in space, where each is several faces.
const mostSolid = 96

// solid draws the matrix in space, as ParaProf does: senders to one side, receivers to the
// other, and the traffic of the links as height and colour.
func (d *drawing) solid(s *scene.Scene) {
	r, things := d.result, d.things()
	most, least := d.gather()
	log := most > 1000*least && least > 0
	n := d.blocks
	m := &scene.Space{W: float32(s.Width), H: float32(s.Height), Form: scene.Bars,
		Ramp: r.request.Values.Text("palette"), Camera: r.camera,
		High: 1, Half: [2]float32{0.4, 0.4}, Tall: 1, Columns: n}
	if r.request.Values.Text("space") == "mesh" && n > 1 {
		m.Form = scene.Mesh
	}
	for _, at := range things {
		share := float32(0)
		if v := d.values[at]; v > 0 {
			share = float32(shade(v, most, least, log))
		}
		z := share
		if m.Form == scene.Bars {
			z = 0
		}
		m.Add(float32(at%n), float32(n-1-at/n), z, share) // the first sender is at the back, as it does on top
	}
	pad := 0.5
	if m.Form == scene.Mesh {
		pad = 0
	}
	row, column := r.ends()
	for a, name := range []string{column, row} {
		m.Axes[a] = scene.SpaceAxis{Label: name, Begin: -pad, End: float64(n-1) + pad, Stretch: 1}
		every := max((n+7)/8, 1)
		for i := 0; i < n; i += every {
			at := i
			if a == 1 {
				at = n - 1 - i
			}
			m.Axes[a].Ticks = append(m.Axes[a].Ticks,
				scene.Tick{At: float64(at),
					Label: scene.Shorten(r.tree.Name[r.members[i*len(r.members)/n]], 90, scene.TextSize)})
		}
	}
	m.Axes[2] = scene.SpaceAxis{Label: r.measured(), End: 1, Stretch: max(0.45*float64(n), 1)}
	for _, share := range []float64{0.25, 0.5, 0.75, 1} {
		v := share * most
		if log {
			v = least * math.Pow(most/least, (share-0.05)/0.95)
		}
		m.Axes[2].Ticks = append(m.Axes[2].Ticks, scene.Tick{At: share, Label: r.format(v)})
	}
	m.Of = ofSolid
	s.AddLayer("space", -1, m)
	d.explain(s, most, least, log)
}

// measured names the value that height and colour stand for.
func (r *result) measured() string {
	switch {
	case r.metric == "bytes" && r.total.sized, r.metric == "time" && r.total.timed:
		return r.metric
	}
	return "count"
}

// things are the blocks that are drawn in space: all of a mesh, else those with links.
func (d *drawing) things() []int {
	d.blocks = max(1, min(len(d.members), mostSolid))
	if d.request.Values.Text("space") == "mesh" && d.blocks > 1 {
		all := make([]int, d.blocks*d.blocks)
		for at := range all {
			all[at] = at
		}
		return all
	}
	d.gather()
	return slices.Sorted(maps.Keys(d.values))
}
