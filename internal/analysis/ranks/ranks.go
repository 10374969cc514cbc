// Package ranks finds where the ranks of a run are — hosts, coordinates, messages between them — and which location of
// one run is which of another.
package ranks

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Run is a run by its ranks, 0 to Count-1: where they are, and which locations each
// has.
type Run struct {
	trace.Ranks
	ids   []trace.LocationID // those with values, by rank
	first []int32            // of each rank: the place of its first location there; one more at the end
}

// Locations are those of a rank that have values; at least one.
func (r *Run) Locations(rank int) []trace.LocationID {
	return r.ids[r.first[rank]:r.first[rank+1]]
}

// Of reads where the ranks of a run are; nil if they are not numbered from 0 on
// without a gap. O(locations + pairs of locations that exchange messages).
func Of(ctx context.Context, r store.Reader) (*Run, error) {
	holds, err := runfacts.Holders(ctx, r)
	if err != nil {
		return nil, err
	}
	t := r.Locations()
	out := &Run{}
	for id, k := range t.Rank {
		if holds[id] && k >= 0 {
			out.Count, out.ids = max(out.Count, int(k)+1), append(out.ids, trace.LocationID(id))
		}
	}
	if out.Count == 0 || out.Count > len(out.ids) {
		return nil, nil
	}
	out.first = make([]int32, out.Count+1)
	for _, id := range out.ids {
		out.first[t.Rank[id]+1]++
	}
	if slices.Contains(out.first[1:], 0) {
		return nil, nil
	}
	for k := range out.Count {
		out.first[k+1] += out.first[k]
	}
	slices.SortStableFunc(out.ids, func(a, b trace.LocationID) int { return cmp.Compare(t.Rank[a], t.Rank[b]) })
	out.Hosts = hostsOf(t, out)
	if list := r.Topologies(); len(list) > 0 {
		out.Coordinates = rankCoordinates(&list[0], t, out)
	}
	sums, err := store.LinkSums(ctx, r, store.Window{End: r.Info().End + 1})
	out.Traffic = rankTraffic(sums, t.Rank, out.Count)
	return out, err
}

// rankTraffic adds up messages by pair of ranks: their bytes, or their number where no
// size is recorded.
func rankTraffic(sums []store.LinkSum, rank []int32, ranks int) (out []trace.RankTraffic) {
	bytes := int64(0)
	for i := range sums {
		bytes += sums[i].Bytes
	}
	at, pairs := store.Pairs(sums, ranks, func(x *store.LinkSum) (from, to int, ok bool) {
		from, to = int(rank[x.From]), int(rank[x.To])
		return from, to, x.Kind == trace.LinkMessage && min(from, to) >= 0 && from != to && max(from, to) < ranks
	})
	out = make([]trace.RankTraffic, pairs)
	for i, k := range at {
		if k < 0 {
			continue
		}
		x := &sums[i]
		out[k].From, out[k].To = int(rank[x.From]), int(rank[x.To])
		if bytes > 0 {
			out[k].Weight += float64(x.Bytes)
		} else {
			out[k].Weight += float64(x.Count)
		}
	}
	return out
}

// HostAttributes are the names under which formats record the host of a location.
var HostAttributes = []string{"host", "hostname", "host name", "node", "nodename", "machine"}

// hostsOf are the names of the machines of ranks: of the nearest location above that is
// one, else of an attribute. nil if one has none, or two machines have one name.
func hostsOf(t *store.Tree, r *Run) []string {
	out := make([]string, r.Count)
	machine := map[string]trace.LocationID{}
	for k := range out {
		up := r.Locations(k)[0]
		for up != trace.NoLocation && t.Kind[up] != trace.KindMachine {
			up = t.Parent[up]
		}
		if up == trace.NoLocation {
			if out[k] = hostAttribute(t, r.Locations(k)[0]); out[k] == "" {
				return nil
			}
			continue
		}
		out[k] = t.Name[up]
		if other, ok := machine[out[k]]; ok && other != up {
			return nil
		}
		machine[out[k]] = up
	}
	return out
}

func hostAttribute(t *store.Tree, id trace.LocationID) string {
	for ; id != trace.NoLocation; id = t.Parent[id] {
		for _, key := range HostAttributes {
			if v := runfacts.Attribute(t, id, key); v != "" {
				return strings.TrimSpace(v)
			}
		}
	}
	return ""
}

// rankCoordinates are those of each rank's first location or of the nearest above it; nil
// where one has none.
func rankCoordinates(top *trace.Topology, t *store.Tree, r *Run) [][]int {
	at := make(map[trace.LocationID][]int, len(top.Coordinates))
	for _, c := range top.Coordinates {
		at[c.Location] = c.At
	}
	out := make([][]int, r.Count)
	for k := range out {
		for up := r.Locations(k)[0]; up != trace.NoLocation && out[k] == nil; up = t.Parent[up] {
			out[k] = at[up]
		}
		if len(out[k]) == 0 || len(out[k]) != len(out[0]) {
			return nil
		}
	}
	return out
}

// RoleTimes is the time that ranks spend in each role over the whole run, in seconds, by
// role and rank; roles without any are left out.
func (r *Run) RoleTimes(ctx context.Context, s store.Reader) (roles []trace.Role, times [][]float64, err error) {
	var all [trace.RoleCount][]float64
	add := func(role trace.Role, rank int, ns float64) {
		if ns <= 0 || role == 0 {
			return
		}
		if all[role] == nil {
			all[role] = make([]float64, r.Count)
		}
		all[role][rank] += ns / 1e9
	}
	rank := s.Locations().Rank
	if s.Info().Timed() {
		err = store.RoleRuns(ctx, s, r.ids, []trace.Time{0, s.Info().End}, func(k int, runs []store.RoleRun) error {
			for i := range runs {
				add(runs[i].Role, int(rank[r.ids[k]]), float64(runs[i].Time))
			}
			return nil
		})
	} else {
		var m runfacts.MetricChoice
		if m, err = runfacts.ChooseMetric(s, "exclusive"); err != nil {
			return nil, nil, err
		}
		err = runfacts.Totals(ctx, s, store.Window{}, m.ID, func(list []runfacts.Total) {
			k := int(rank[list[0].Location])
			if k < 0 || k >= r.Count {
				return
			}
			for i := range list {
				add(s.Regions()[list[i].Region].Role, k, m.Of(list[i].Calls, list[i].Inclusive, list[i].Exclusive))
			}
		})
	}
	for role, v := range all {
		if v != nil {
			roles, times = append(roles, trace.Role(role)), append(times, v)
		}
	}
	return roles, times, err
}

// mostLevels is how many levels of the tree are compared.
const mostLevels = 16

// GroupsInTree are the locations above each rank, by level of the tree. A rank that is less
// deep is in the group above, or alone.
func (r *Run) GroupsInTree(t *store.Tree) (out [][]int32) {
	for k := range r.Count {
		for up := t.Parent[r.Locations(k)[0]]; up != trace.NoLocation; up = t.Parent[up] {
			level := int(t.Level[up])
			if level >= mostLevels {
				continue
			}
			for len(out) <= level {
				out = append(out, slices.Repeat([]int32{-1}, r.Count))
			}
			out[level][k] = int32(up)
		}
	}
	for level, groups := range out {
		for k, up := range groups {
			switch {
			case up >= 0:
			case level > 0:
				groups[k] = out[level-1][k]
			default:
				groups[k] = int32(r.Locations(k)[0])
			}
		}
	}
	return out
}
