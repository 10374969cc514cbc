package topology

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/formula"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// input binds the names of a layout to the run: always to all of it, so that the name of
// a location does not depend on the selection.
func (r *result) input() *formula.Input {
	who := r.who
	rank, maxRank := who.rank, who.maxRank
	if r.numbersThreads() {
		rank, maxRank = who.slot, float64(len(who.location))
	}
	scalar := map[string]float64{"maxrank": maxRank, "count": float64(len(who.location))}
	column := map[string][]float64{
		"rank": rank, "index": who.index, "slot": who.slot, "context": who.context, "thread": who.thread,
		"node": who.rank, // of TAU: its first number
	}
	for _, b := range r.bound {
		scalar[b.name+".min"], scalar[b.name+".max"], scalar[b.name+".mean"] = b.min, b.max, b.mean
		column[b.name+".val"], column[b.name] = b.values, b.values
		column["color"] = b.values
	}
	for a, axis := range []string{"x", "y", "z"} {
		scalar["axisdim"+axis] = 1
		if t := r.topologies(); len(t) > 0 && a < len(t[0].Dims) {
			scalar["axisdim"+axis] = float64(t[0].Dims[a])
		}
	}
	keys := map[string][]float64{}
	return &formula.Input{
		N:      len(who.location),
		Scalar: func(n string) (float64, bool) { v, ok := scalar[n]; return v, ok },
		Column: func(n string) ([]float64, bool) {
			r.lock.Lock()
			defer r.lock.Unlock()
			v, ok := column[n]
			if !ok && strings.HasPrefix(n, "coord") {
				if v = r.coordinates(n); v != nil {
					column[n], ok = v, true
				}
			}
			return v, ok
		},
		Metadata: func(key string) []float64 {
			r.lock.Lock()
			defer r.lock.Unlock()
			if v, ok := keys[key]; ok {
				return v
			}
			keys[key] = r.metadata(key)
			return keys[key]
		},
	}
}

// numbersThreads reports whether rank and maxRank number locations instead of processes: the
// paper applies a layout to each thread, and knows no other number.
func (r *result) numbersThreads() bool {
	switch r.option("numbering") {
	case "threads":
		return true
	case "processes":
		return false
	}
	return r.who.shared > 0 && r.byRankAlone()
}

// byRankAlone reports whether the layout goes by rank, and by nothing that distinguishes the locations of a rank.
func (r *result) byRankAlone() bool {
	use := r.chosen.Uses
	return use("rank") && !use("thread") && !use("slot") && !use("index")
}

// warn explains the meaning of rank if ranks do not distinguish locations and the layout goes by
// them.
func (r *result) warn() (notes []string) {
	shared, unranked := r.who.shared, r.who.unranked
	switch {
	case !r.chosen.Uses("rank"):
		return nil
	case r.numbersThreads():
		if shared+unranked > 0 {
			notes = append(notes,
				fmt.Sprintf("rank numbers all %s locations here, and maxRank is their number, since several share "+
					"the rank of a process; --numbering processes keeps that",
					view.Thousands(int64(len(r.who.location)))))
		}
		return notes
	case shared > 0 && r.byRankAlone():
		notes = append(notes,
			fmt.Sprintf("%s locations have the rank of another and lie at the same place by rank alone; slot numbers "+
				"all of them, thread those of a rank, --numbering threads makes rank number all",
				view.Thousands(int64(shared))))
	}
	if unranked > 0 {
		notes = append(notes, fmt.Sprintf("%s locations have no rank", view.Thousands(int64(unranked))))
	}
	return notes
}

// metadata is a number of each location under a key, of a map first. A missing number is
// 0, as in ParaProf, and is noted.
func (r *result) metadata(key string) []float64 {
	if r.cray != nil {
		if v, ok := r.cray.Metadata(key, r.ranks()); ok {
			return v
		}
	}
	s := r.request.Store()
	m := view.Metadata(s, r.who.location, key)
	if text := m.Trouble(s, r.who.location, key); text != "" {
		r.lacking = append(r.lacking, text)
	}
	return m.Values
}

// coordinates returns coordX and its like; nil of others.
func (r *result) coordinates(name string) []float64 {
	a := strings.Index("xyzw", strings.TrimPrefix(name, "coord"))
	t := r.topologies()
	if len(name) != 6 || a < 0 || len(t) == 0 {
		return nil
	}
	out := make([]float64, len(r.who.location))
	for i, c := range coordinatesOf(&t[0], r.request.Store().Locations(), r.who.location) {
		if out[i] = math.NaN(); a < len(c) {
			out[i] = float64(c[a])
		}
	}
	return out
}

// coordinatesOf returns the coordinates of each location, or of the nearest above it
// that has some; nil of none.
func coordinatesOf(t *trace.Topology, tree *store.Tree, ids []trace.LocationID) [][]int {
	place := make([]int32, tree.Len()) // by location: its coordinate, plus one
	for i, c := range t.Coordinates {
		place[c.Location] = int32(i) + 1
	}
	out := make([][]int, len(ids))
	_ = parallel.Ranges(context.Background(), len(ids), 1<<12, func(from, to int) {
		for i := from; i < to; i++ {
			for up := ids[i]; up != trace.NoLocation; up = tree.Parent[up] {
				if k := place[up]; k > 0 {
					out[i] = t.Coordinates[k-1].At
					break
				}
			}
		}
	})
	return out
}
