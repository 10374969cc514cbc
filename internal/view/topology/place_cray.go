package topology

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// readMap reads --map, which says where ranks are on a Cray.
func (r *result) readMap() error {
	text := r.request.Values.Text("map")
	if text == "" {
		return nil
	}
	body, isText := strings.CutPrefix(text, "text:")
	if _, rest, ok := strings.Cut(body, "\n"); ok && isText {
		body = rest
	}
	if !formula.IsCrayMap(body) {
		return fmt.Errorf("--map: no line says RANK:CNAME, such as 0:c3-0c1s4n2")
	}
	m, warnings, err := formula.ParseCrayMap(body)
	if err != nil {
		return fmt.Errorf("--map: %w", err)
	}
	r.cray = m
	r.notes = append(r.notes, warnings...)
	return nil
}

// topologies are those of the data, after that of a map.
func (r *result) topologies() []trace.Topology {
	given := r.request.Store().Topologies()
	if r.cray == nil {
		return given
	}
	dims := r.cray.Dims()
	t := trace.Topology{Name: "cray", Dims: dims[:], DimNames: formula.CrayAxes}
	for i, rank := range r.ranks() {
		if at, ok := r.cray.At(rank); ok {
			t.Coordinates = append(t.Coordinates, trace.Coordinate{Location: r.who.location[i], At: at[:]})
		}
	}
	return append([]trace.Topology{t}, slices.Clone(given)...)
}

// ranks are those of the data, or running numbers where it has none at all.
func (r *result) ranks() []int {
	out := make([]int, len(r.who.rank))
	for i, rank := range r.who.rank {
		if out[i] = -1; rank >= 0 {
			out[i] = int(rank)
		}
	}
	return out
}
