package server

import (
	"net/http"
	"slices"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A placesAnswer says where chosen locations lie in the tree, in two words each: a page
// that marks ten thousand of them asks once.
type placesAnswer struct {
	// ID and Last are the topmost of the chosen, ascending, and the ends of their subtrees.
	ID   []trace.LocationID `json:"id"`
	Last []trace.LocationID `json:"last"`
	// Above are all locations that one of them lies in, ascending.
	Above     []trace.LocationID `json:"above"`
	AboveLast []trace.LocationID `json:"aboveLast"`
	// Rows counts the chosen locations with intervals.
	Rows uint32 `json:"rows"`
	// Path leads from the top to the first of them.
	Path []locationRow `json:"path"`
}

// places finds locations by patterns: O(locations + found × depth).
func (s *runPages) places(w http.ResponseWriter, r *http.Request, x *run) error {
	spec, err := parseSpec(r.URL.Query())
	if err != nil {
		return err
	}
	sel, err := spec.Resolve(x.Store)
	if err != nil {
		return usage(err)
	}
	t := x.Store.Locations()
	return s.writeJSON(w, r, http.StatusOK, placesOf(t, x.index.of(t), sel.Locations))
}

func placesOf(t *store.Tree, index *treeIndex, ids []trace.LocationID) *placesAnswer {
	out := &placesAnswer{ID: []trace.LocationID{}, Last: []trace.LocationID{}, Above: []trace.LocationID{}, AboveLast: []trace.LocationID{}, Path: []locationRow{}}
	seen := map[trace.LocationID]bool{}
	for _, id := range ids {
		out.ID, out.Last = append(out.ID, id), append(out.Last, t.Last[id])
		out.Rows += index.rows[t.Last[id]+1] - index.rows[id]
		for p := t.Parent[id]; p != trace.NoLocation && !seen[p]; p = t.Parent[p] {
			seen[p] = true
			out.Above = append(out.Above, p)
		}
	}
	slices.Sort(out.Above)
	for _, id := range out.Above {
		out.AboveLast = append(out.AboveLast, t.Last[id])
	}
	if len(ids) > 0 {
		for id := ids[0]; id != trace.NoLocation; id = t.Parent[id] {
			out.Path = append(out.Path, index.row(t, id))
		}
		slices.Reverse(out.Path)
	}
	return out
}
