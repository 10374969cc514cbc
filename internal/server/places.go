package server

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A placesAnswer says where chosen locations are in the tree, in two words each: a page
// that marks ten thousand of them asks once.
type placesAnswer struct {
	// ID and Last are the topmost of the chosen, ascending, and the ends of their subtrees.
	ID   []trace.LocationID `json:"id"`
	Last []trace.LocationID `json:"last"`
	// Above are all locations that one of them is in, ascending.
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
	out := &placesAnswer{ID: []trace.LocationID{}, Last: []trace.LocationID{}, Above: []trace.LocationID{},
		AboveLast: []trace.LocationID{}, Path: []locationRow{}}
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

// A movedAnswer holds the ids of now of those that were asked for, in their order; -1 for those that do not exist any
// more.
type movedAnswer struct {
	Locations []int32 `json:"locations"` // Ids of now, in the order they were asked for; -1 for those gone.
	Regions   []int32 `json:"regions"`
}

// moved translates ids of an earlier generation of a live run to those of now.
func (s *runPages) moved(w http.ResponseWriter, r *http.Request, x *run) error {
	q := r.URL.Query()
	now := x.Store.Generation()
	from, err := now, error(nil)
	if text := q.Get("from"); text != "" {
		from, err = strconv.ParseUint(text, 10, 64)
	}
	if err != nil {
		return &apiError{Status: http.StatusBadRequest, Kind: "bad-request",
			Message: "from: want the generation that the ids are of"}
	}
	out := movedAnswer{Locations: []int32{}, Regions: []int32{}}
	same := func(id int32) int32 { return id }
	locations, regions, ok := same, same, true
	if from != now {
		locations, regions, ok = x.lineage.since(from, now)
	}
	if !ok {
		return &apiError{Status: http.StatusNotFound, Kind: "not-found",
			Message: "that generation is not known any more", Hint: "choose again"}
	}
	for _, each := range []struct {
		name string
		now  func(int32) int32
		out  *[]int32
	}{{"locations", locations, &out.Locations}, {"regions", regions, &out.Regions}} {
		for _, item := range strings.FieldsFunc(q.Get(each.name), func(c rune) bool { return c == ',' }) {
			id, err := strconv.ParseInt(item, 10, 32)
			if err != nil {
				return &apiError{Status: http.StatusBadRequest, Kind: "bad-request",
					Message: each.name + ": want ids, with commas between them"}
			}
			*each.out = append(*each.out, each.now(int32(id)))
		}
	}
	return s.writeJSON(w, r, http.StatusOK, out)
}
