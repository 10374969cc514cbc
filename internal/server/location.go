package server

import (
	"net/http"
	"strconv"
	"sync"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A treeIndex answers counts of a tree without walking it: 8 bytes a location,
// made in one pass when first asked for.
type treeIndex struct {
	once     sync.Once
	children []uint32
	rows     []uint32 // rows[i]: locations before i that hold intervals
	top      int
}

func (x *treeIndex) of(t *store.Tree) *treeIndex {
	x.once.Do(func() {
		n := t.Len()
		x.children, x.rows = make([]uint32, n), make([]uint32, n+1)
		for i := range n {
			x.rows[i+1] = x.rows[i]
			if t.Shows(trace.LocationID(i)) {
				x.rows[i+1]++
			}
			if p := t.Parent[i]; p == trace.NoLocation {
				x.top++
			} else {
				x.children[p]++
			}
		}
	})
	return x
}

// locationPage answers GET /api/runs/{run}/locations?parent=&offset=&limit= : children in display order.
type locationPage struct {
	Parent    *trace.LocationID `json:"parent"` // Null at the top.
	Offset    int               `json:"offset"`
	Total     int               `json:"total"` // How many children there are in all.
	Locations []locationRow     `json:"locations"`
}

type locationRow struct {
	ID       trace.LocationID  `json:"id"`
	Name     string            `json:"name"`
	Kind     trace.Kind        `json:"kind"`
	Parent   *trace.LocationID `json:"parent"`
	Last     trace.LocationID  `json:"last"` // The subtree is the range id … last.
	Level    int               `json:"level"`
	Rank     *int32            `json:"rank"`     // Null where it has none.
	Holds    bool              `json:"holds"`    // It has intervals of its own.
	Children uint32            `json:"children"` // How many direct children.
	Rows     uint32            `json:"rows"`     // How many locations with intervals it stands for, itself included.
}

// locations lists children of one location, a page at a time: O(offset + limit).
func (s *runPages) locations(w http.ResponseWriter, r *http.Request, x *run) error {
	t := x.Store.Locations()
	index := x.index.of(t)
	offset, limit, err := page(r, 200, 1000)
	if err != nil {
		return err
	}
	out := locationPage{Offset: offset, Total: index.top, Locations: []locationRow{}}
	next, end := trace.LocationID(0), trace.LocationID(t.Len())
	if p := r.URL.Query().Get("parent"); p != "" {
		id, err := strconv.ParseUint(p, 10, 32)
		if err != nil || id >= uint64(t.Len()) {
			return &apiError{Status: http.StatusNotFound, Kind: "not-found",
				Message: "no location has id " + quoteShort(p)}
		}
		parent := trace.LocationID(id)
		out.Parent, out.Total = &parent, int(index.children[id])
		next, end = parent+1, t.Last[id]+1
	}
	for i := 0; next < end && i < offset+limit; i++ {
		if i >= offset {
			out.Locations = append(out.Locations, index.row(t, next))
		}
		next = t.Last[next] + 1
	}
	return s.writeJSON(w, r, http.StatusOK, out)
}

func (x *treeIndex) row(t *store.Tree, id trace.LocationID) locationRow {
	row := locationRow{
		ID: id, Name: t.Name[id], Kind: t.Kind[id], Last: t.Last[id], Level: int(t.Level[id]), Holds: t.Shows(id),
		Children: x.children[id], Rows: x.rows[t.Last[id]+1] - x.rows[id],
	}
	if p := t.Parent[id]; p != trace.NoLocation {
		row.Parent = &p
	}
	row.Rank = rankOf(t, id)
	return row
}

func rankOf(t *store.Tree, id trace.LocationID) *int32 {
	if k := t.Rank[id]; k != trace.NoRank {
		return &k
	}
	return nil
}

// regionRow answers GET /api/runs/{run}/regions, in order of id.
type regionRow struct {
	ID       trace.RegionID `json:"id"`
	Name     string         `json:"name"`
	Category string         `json:"category"`
	Role     string         `json:"role" ts:"Role"`
	File     string         `json:"file"`
	Line     int            `json:"line"`
	Colour   int            `json:"colour"` // Palette index, the same in every view.
}

func regionRowOf(id int, g *trace.Region, colours *view.Colours) regionRow {
	return regionRow{trace.RegionID(id), g.Name, g.Category, g.Role.String(), g.File, g.Line, int(colours.Of(g))}
}

// regions lists all regions: definitions, not calls, so some thousands at most.
func (s *runPages) regions(w http.ResponseWriter, r *http.Request, x *run) error {
	body, err := s.cachedJSON(r.Context(), x, "regions", func(c *computation) (any, error) {
		out := []regionRow{}
		colours, err := view.ColoursOf(c.ctx, &x.Run)
		if err != nil {
			return nil, err
		}
		regions := x.Store.Regions()
		for i := range regions {
			out = append(out, regionRowOf(i, &regions[i], colours))
		}
		return out, nil
	})
	if err != nil {
		return err
	}
	return s.write(w, r, http.StatusOK, "application/json", body)
}
