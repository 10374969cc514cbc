package topology

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/analysis/proposal"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// start makes one point per location, coloured by the last event bound.
func (r *result) start(layout string, axes ...string) *formula.Points {
	n := len(r.location)
	r.layout = layout
	copy(r.axes[:], axes)
	r.points = []formula.Points{{X: make([]float64, n), Y: make([]float64, n), Z: make([]float64, n),
		Color: slices.Clone(r.colour().values)}}
	r.placed = [][]bool{make([]bool, n)}
	return &r.points[0]
}

// byCoordinates places locations where the data says. With more than three dimensions
// the first three place, and the locations of one place are shown by their mean, see
// average; or the fourth is laid out next to it along x.
func (r *result) byCoordinates(t *trace.Topology) error {
	names := []string{"x", "y", "z"}
	for a := range names {
		if a < len(t.DimNames) && t.DimNames[a] != "" {
			names[a] = t.DimNames[a]
		}
	}
	p := r.start(t.Name, names...)
	r.at = coordinatesOf(t, r.request.Store().Locations(), r.location)
	r.board = &board{t.Dims, t.Periodic, func(point int) []int { return r.at[point] }}
	expand := r.option("cores") == "expand" && len(t.Dims) > 3
	for i, c := range r.at {
		r.placed[0][i] = c != nil
		for a, axis := range []*float64{&p.X[i], &p.Y[i], &p.Z[i]} {
			switch {
			case c == nil:
				*axis = math.NaN()
			case a < len(c):
				*axis = float64(c[a])
			}
		}
		if expand && len(c) > 3 {
			p.X[i] = p.X[i]*float64(t.Dims[3]+1) + float64(c[3])
		}
	}
	if expand {
		r.notes = append(r.notes,
			fmt.Sprintf("%d places of the fourth dimension lie beside each other along %s", t.Dims[3], names[0]))
	}
	if len(t.Dims) > 4 || len(t.Dims) > 3 && !expand {
		r.notes = append(r.notes,
			fmt.Sprintf("dimensions of %q past the %s are left out", t.Name,
				map[bool]string{true: "fourth", false: "third"}[expand]))
	}
	return nil
}

// average gives locations of one place their mean and draws one of them.
func (r *result) average() {
	p := &r.points[0]
	var at [][]int
	var index []int
	var values []float64
	for i, c := range r.at {
		if c != nil && !math.IsNaN(p.Color[i]) {
			at, index, values = append(at, c), append(index, i), append(values, p.Color[i])
		}
	}
	means := formula.NodeMeans(at, values)
	if len(means) == len(index) {
		return // every place has one location
	}
	of := make(map[[3]int]float64, len(means))
	for _, m := range means {
		of[m.At] = m.Value
	}
	seen := make(map[[3]int]bool, len(means))
	r.repeats = make([]bool, len(r.location))
	for k, i := range index {
		var key [3]int
		copy(key[:], at[k])
		p.Color[i] = of[key]
		r.repeats[i] = seen[key]
		seen[key] = true
	}
	r.notes = append(r.notes,
		fmt.Sprintf("%d places show the mean of %d locations; --cores expand shows each", len(means), len(index)))
}

// parseBox reads "8x8x16".
func parseBox(text string) (dims [3]int, err error) {
	parts := strings.Split(strings.ReplaceAll(strings.ToLower(text), "×", "x"), "x")
	for a := range dims {
		dims[a] = 1
		if a < len(parts) {
			dims[a], err = strconv.Atoi(strings.TrimSpace(parts[a]))
		}
		if err != nil || len(parts) > 3 || dims[a] < 1 || dims[a] > 1<<20 {
			return dims, fmt.Errorf("--layout %q: want fill:XxYxZ, such as fill:8x8x16", "fill:"+text)
		}
	}
	return dims, nil
}

// byFill fills a box in order of rank, x fastest: a location of rank 5 lies where the
// sixth lies, whatever the order of the tree.
func (r *result) byFill(dims [3]int) error {
	filled, err := formula.Fill(len(r.location), dims)
	if err != nil {
		return fmt.Errorf("--layout: %w", err)
	}
	p := r.start(fmt.Sprintf("fill:%dx%dx%d", dims[0], dims[1], dims[2]), "x", "y", "z")
	p.X, p.Y, p.Z = filled.X, filled.Y, filled.Z
	for i := range r.placed[0] {
		r.placed[0][i] = true
	}
	return nil
}

// isLine reports whether a topology has one side alone.
func isLine(t *trace.Topology) bool {
	sides := 0
	for _, d := range t.Dims {
		if d > 1 {
			sides++
		}
	}
	return sides == 1
}

func foldNote(t *trace.Topology) string {
	note := "the coordinates of the data are one long line, which is not drawn"
	if t.Name != "" {
		note += "; --layout " + strconv.Quote(t.Name) + " shows the line"
	}
	return note
}

// byRows fills rows in order of rank.
func (r *result) byRows() error {
	n := len(r.location)
	wide := proposal.RowWidth(n)
	if err := r.byFill([3]int{wide, (n + wide - 1) / wide, 1}); err != nil {
		return err
	}
	r.layout = "rows"
	return nil
}

// byHierarchy places a location by its number below its parent, the parent's below its
// own, and the rest of the way up as one number. Only locations that hold locations of
// the roster are numbered, and steps of the way that distinguish none are left out.
func (r *result) byHierarchy() error {
	tree := r.request.Store().Locations()
	number := r.numberHolders(tree)
	var steps []int // how far above a location
	for up := 0; len(steps) < 2; up++ {
		differs, ends := false, true
		for _, id := range r.location {
			if at := ancestor(tree, id, up); at != trace.NoLocation {
				differs, ends = differs || number[at] > 0, false
			}
		}
		if ends {
			break
		}
		if differs {
			steps = append(steps, up)
		}
	}
	names := []string{"in parent", "parent", "above"}
	if len(steps) > 0 && steps[0] > 0 {
		names[0], names[1] = "parent", "above the parent"
	}
	p := r.start("hierarchy", names...)
	above := map[trace.LocationID]int{}
	for i, id := range r.location {
		r.placed[0][i] = true
		for k, axis := range []*float64{&p.X[i], &p.Y[i]} {
			if k >= len(steps) {
				break
			}
			if at := ancestor(tree, id, steps[k]); at != trace.NoLocation {
				*axis = float64(number[at])
			}
		}
		if len(steps) < 2 {
			continue
		}
		if top := ancestor(tree, id, steps[1]+1); top != trace.NoLocation {
			if _, ok := above[top]; !ok {
				above[top] = len(above)
			}
			p.Z[i] = float64(above[top])
		}
	}
	return nil
}

// numberHolders numbers the locations of the roster and those above them, each among those
// with the same parent.
func (r *result) numberHolders(tree *store.Tree) []int {
	holds := make([]bool, tree.Len())
	for _, id := range r.location {
		for at := id; at != trace.NoLocation && !holds[at]; at = tree.Parent[at] {
			holds[at] = true
		}
	}
	number := make([]int, tree.Len())
	children := make(map[trace.LocationID]int, 64)
	for id := range number {
		if holds[id] {
			up := tree.Parent[id]
			number[id] = children[up]
			children[up]++
		}
	}
	return number
}

// ancestor is the location so many steps above a location; none beyond the root.
func ancestor(tree *store.Tree, id trace.LocationID, steps int) trace.LocationID {
	for ; steps > 0 && id != trace.NoLocation; steps-- {
		id = tree.Parent[id]
	}
	return id
}
