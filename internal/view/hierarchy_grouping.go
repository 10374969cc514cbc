package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/ranks"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A GroupingFinder lists the groupings that a run suggests for its ranks, after that of its
// own tree. tree holds the groups of each rank there, by level; values holds numbers that
// differ between ranks, by variable and rank.
type GroupingFinder func(r *trace.Ranks, tree [][]int32, values [][]float64) []trace.RankGrouping

// A Grouping is a way to put locations into groups, in the JSON output.
type Grouping struct {
	Name string `json:"name"` // "tree" for the run's own
	// Score is the share of how ranks differ that its groups explain, at most 1; null where
	// the run has no ranks, or too many to compare.
	Score *float64 `json:"score"`
	Used  bool     `json:"used"` // it is drawn
}

// groupingLead is how much more a grouping must explain than the run's own tree to be
// drawn instead.
const groupingLead = 0.2

// mostGrouped is the number of ranks that are grouped by anything but the run's own tree.
const mostGrouped = 1 << 17

// groupings are those of a run, its own tree first.
type groupings struct {
	found []trace.RankGrouping
	ranks *ranks.Run // nil: the run has none
}

func (g *groupings) sizeBytes() int64 {
	n := int64(64)
	for _, x := range g.found {
		n += 48 * int64(len(x.Groups))
	}
	return n
}

// groupingsOf finds those of a run. They depend neither on the selection nor on the
// values that are shown: a place keeps its group while one looks around.
func groupingsOf(ctx context.Context, run *Run, find GroupingFinder) (*groupings, error) {
	return derived.Keep(run.Cache, "groupings by rank", (*groupings).sizeBytes, func() (*groupings, error) {
		s, out := run.Store, &groupings{found: []trace.RankGrouping{{Name: "tree"}}}
		ranked, err := ranks.Of(ctx, s)
		if err != nil || ranked == nil || find == nil || ranked.Count > mostGrouped {
			return out, err
		}
		_, times, err := ranked.RoleTimes(ctx, s)
		if err != nil {
			return nil, err
		}
		out.ranks, out.found = ranked, find(&ranked.Ranks, ranked.GroupsInTree(s.Locations()), times)
		return out, nil
	})
}

func (s *scores) list() []Grouping {
	out := make([]Grouping, len(s.Names))
	for k, name := range s.Names {
		if out[k] = (Grouping{Name: name}); s.Ranked {
			out[k].Score = &s.Values[k]
		}
	}
	return out
}

// leading is the grouping to draw instead of the run's own tree; 0: none.
func (s *scores) leading() int {
	best := 0
	for k, v := range s.Values {
		if v > s.Values[best] {
			best = k
		}
	}
	if s.Values[best] < max(s.Values[0], 0)+groupingLead {
		return 0
	}
	return best
}

func (s *scores) note(k int) string {
	return fmt.Sprintf("ranks are grouped by %s, which explain %s of how their time in roles differs (the run's own "+
		"tree: %s); --hierarchy tree keeps that", s.Names[k], FormatShare(s.Values[k]),
		FormatShare(max(s.Values[0], 0)))
}

// hierarchy puts the selected locations under the groups of grouping k, in order of rank. Ranks
// of several locations are groups too.
func (g *groupings) hierarchy(k int, t *store.Tree, selected []trace.LocationID, holds []bool) *Hierarchy {
	ids := chosenIn(t, selected, holds)
	slices.SortStableFunc(ids, func(a, b trace.LocationID) int { // those without a rank come last
		return cmp.Compare(uint32(t.Rank[a]), uint32(t.Rank[b]))
	})
	return groupedHierarchy(t, ids, func(id int) []string {
		rank := int(t.Rank[id])
		if rank < 0 {
			return []string{"no rank"}
		}
		names := g.found[k].Groups[rank]
		if len(g.ranks.Locations(rank)) > 1 {
			names = append(slices.Clip(names), fmt.Sprintf("rank %d", rank))
		}
		return names
	})
}

// use marks the grouping that is drawn.
func (g *Grouped) use(k int, used bool) { g.Groupings[k].Used = used }
