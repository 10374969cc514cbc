package topology

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// readyMade are layouts that need no file.
const readyMade = `
BEGIN_VIZ=sphere
root=ceil(sqrt(maxRank))
theta=2*pi()/root*mod(rank,root)
phi=pi()*(floor(rank/root)+0.5)/root
x=cos(theta)*sin(phi)*100
y=sin(theta)*sin(phi)*100
z=cos(phi)*100
END_VIZ
BEGIN_VIZ=cylinder
around=ceil(sqrt(maxRank))
theta=2*pi()/around*mod(rank,around)
x=cos(theta)*around/2
y=sin(theta)*around/2
z=floor(rank/around)
END_VIZ
BEGIN_VIZ=plane
side=ceil(sqrt(maxRank))
x=mod(rank,side)
y=floor(rank/side)
z=0
END_VIZ
BEGIN_VIZ=block
side=ceil(maxRank^(1/3))
x=mod(rank,side)
y=mod(floor(rank/side),side)
z=floor(rank/side/side)
END_VIZ
BEGIN_VIZ=torus
side=ceil(sqrt(maxRank))
u=2*pi()/side*mod(rank,side)
v=2*pi()/side*floor(rank/side)
x=(100+35*cos(v))*cos(u)
y=(100+35*cos(v))*sin(u)
z=35*sin(v)
END_VIZ
`

// place applies the layout that was asked for: formulas as text, a ready-made one,
// or the coordinates of a topology in the data. Without a word it is the first
// topology of the data, else a block.
func (r *result) place(ctx context.Context) error {
	asked := r.request.Values.Text("layout")
	if text, isText := strings.CutPrefix(asked, "text:"); isText {
		name, body, _ := strings.Cut(text, "\n")
		return r.byFormula(ctx, body, name, false)
	}
	topologies := r.request.Store().Topologies()
	for i := range topologies {
		if asked == topologies[i].Name || asked == "" {
			return r.byCoordinates(&topologies[i])
		}
	}
	if asked == "" {
		asked = "block"
	}
	return r.byFormula(ctx, readyMade, asked, true)
}

func (r *result) byFormula(ctx context.Context, text, name string, own bool) error {
	layouts, warnings, err := formula.ParseCompatible(text)
	if err != nil {
		return fmt.Errorf("--layout: %w", err)
	}
	if len(layouts) == 0 {
		return fmt.Errorf("--layout: no block can be read: %s", strings.Join(warnings, "; "))
	}
	chosen := layouts[0]
	found := name == ""
	var known []string
	for _, l := range layouts {
		known = append(known, l.Name)
		if l.Name == name {
			chosen, found = l, true
		}
	}
	if !found {
		for _, t := range r.request.Store().Topologies() {
			known = append(known, t.Name)
		}
		return fmt.Errorf("--layout: no layout %q; there are %s", name, strings.Join(known, ", "))
	}
	if !own {
		r.notes = append(r.notes, warnings...)
	}
	out, err := chosen.Apply(ctx, r.input())
	if err != nil {
		return fmt.Errorf("layout %s: %w", chosen.Name, err)
	}
	r.layout, r.points = chosen.Name, out.Points
	for k := range r.points {
		r.placed = append(r.placed, r.points[k].Place(out.Restrict))
	}
	return nil
}

// input binds the names of a layout to the run.
func (r *result) input() *formula.Input {
	tree := r.request.Store().Locations()
	scalar, column := map[string]float64{}, map[string][]float64{}
	for _, b := range r.bound {
		scalar[b.name+".min"], scalar[b.name+".max"], scalar[b.name+".mean"] = b.min, b.max, b.mean
		column[b.name+".val"], column[b.name] = b.values, b.values
		column["color"] = b.values
	}
	ranks := make([]float64, len(r.location))
	threads := make([]float64, len(r.location))
	for i, id := range r.location {
		ranks[i] = float64(max(tree.Rank[id], 0))
		if i > 0 && tree.Rank[id] == tree.Rank[r.location[i-1]] && tree.Rank[id] >= 0 {
			threads[i] = threads[i-1] + 1
		}
	}
	column["node"], column["thread"] = ranks, threads
	scalar["context"] = 0
	return &formula.Input{
		N:        len(r.location),
		Scalar:   func(n string) (float64, bool) { v, ok := scalar[n]; return v, ok },
		Column:   func(n string) ([]float64, bool) { v, ok := column[n]; return v, ok },
		Metadata: func(key string) []float64 { return metadata(tree, r.location, key) },
	}
}

// metadata is an attribute of each location or of the nearest above it; 0 where
// there is none or it is no number.
func metadata(t *store.Tree, ids []trace.LocationID, key string) []float64 {
	out := make([]float64, len(ids))
	for i, id := range ids {
	up:
		for at := id; at != trace.NoLocation; at = t.Parent[at] {
			for _, a := range t.Attributes[at] {
				if strings.EqualFold(a.Key, key) {
					if v, ok := a.Value.Number(); ok {
						out[i] = v
					}
					break up
				}
			}
		}
	}
	return out
}

// byCoordinates places locations where the data says; a location takes the
// coordinates of the nearest above it that has some. A fourth dimension and
// further ones are left out.
func (r *result) byCoordinates(t *trace.Topology) error {
	tree := r.request.Store().Locations()
	at := map[trace.LocationID][]int{}
	for _, c := range t.Coordinates {
		at[c.Location] = c.At
	}
	n := len(r.location)
	p := formula.Points{X: make([]float64, n), Y: make([]float64, n), Z: make([]float64, n), Color: append([]float64{}, r.bound[len(r.bound)-1].values...)}
	placed := make([]bool, n)
	for i, id := range r.location {
		for up := id; up != trace.NoLocation; up = tree.Parent[up] {
			c, ok := at[up]
			if !ok {
				continue
			}
			placed[i] = true
			for a, axis := range []*float64{&p.X[i], &p.Y[i], &p.Z[i]} {
				if a < len(c) {
					*axis = float64(c[a])
				}
			}
			break
		}
		if !placed[i] {
			p.X[i] = math.NaN()
		}
	}
	if len(t.Dims) > 3 {
		r.notes = append(r.notes, fmt.Sprintf("%d dimensions of %q past the third are left out", len(t.Dims)-3, t.Name))
	}
	r.layout, r.points, r.placed = t.Name, []formula.Points{p}, [][]bool{placed}
	return nil
}
