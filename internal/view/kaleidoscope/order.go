package kaleidoscope

import (
	"cmp"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// Orders of sectors.
const (
	byTime   = "time"   // siblings by their begin
	byRank   = "rank"   // roots by the rank of their location, all others by begin
	bySize   = "size"   // siblings by weight, the largest first
	byNames  = "name"   // siblings by the names of their regions
	byFamily = "family" // by begin, and the calls of one condensed call stay together
)

// mostSorted is the number of siblings that are put in order of their size or name: among more it is not seen.
const mostSorted = 4096

// chosenOrder is rank where roots are of ranks, or one a location; else time.
func chosenOrder(f *forest, t *store.Tree) string {
	c := f.calls
	if !c.Virtual {
		return byTime
	}
	if c.Joined() {
		return byRank
	}
	seen, one, ranks := map[trace.LocationID]bool{}, true, true
	for i, p := range c.Tree.Parent {
		if p != 0 {
			continue
		}
		id := c.Location(int32(i))
		one, ranks = one && !seen[id], ranks && t.Rank[id] >= 0
		seen[id] = true
	}
	if one || ranks {
		return byRank
	}
	return byTime
}

// sorter returns the function that sorts the siblings of a tree of the forest's nodes; nil: they are in
// order.
func sorter(order string, f *forest, t *store.Tree, node func(i int) int32, weight func() []float64) func(parent int32,
	children []int32) {
	switch order {
	case byRank:
		return func(parent int32, children []int32) {
			if !f.calls.Virtual || node(int(parent)) != 0 {
				return
			}
			slices.SortStableFunc(children, func(a, b int32) int {
				x, y := f.calls.Location(node(int(a))), f.calls.Location(node(int(b)))
				return cmp.Or(cmp.Compare(t.Rank[x], t.Rank[y]), cmp.Compare(x, y))
			})
		}
	case bySize:
		w := weight()
		return func(_ int32, children []int32) {
			if len(children) <= mostSorted {
				slices.SortStableFunc(children, func(a, b int32) int { return cmp.Compare(w[b], w[a]) })
			}
		}
	case byNames:
		name := func(i int32) string {
			if id := f.calls.Region[node(int(i))]; id != trace.NoRegion {
				return f.regions[id].Name
			}
			return ""
		}
		return func(_ int32, children []int32) {
			if len(children) <= mostSorted {
				slices.SortStableFunc(children, func(a, b int32) int { return strings.Compare(name(a), name(b)) })
			}
		}
	}
	return nil
}
