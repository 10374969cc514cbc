package view

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A GroupFinder lists owners so that those that behave alike are next to each other,
// and gives the group of each: grouping.Order.
type GroupFinder func(*trace.Behaviour, trace.Likeness) (order, of []int32, err error)

// An Arrangement is an order of locations other than that of the tree: those that behave
// alike are next to each other. A nil one is the tree's order, and every method allows
// it, so that views need not ask.
type Arrangement struct {
	By     string             `json:"by"` // as it was asked for
	Order  []trace.LocationID `json:"order"`
	Groups []ArrangedGroup    `json:"groups"`

	units []trace.LocationID // that were compared, ascending
	place []int32            // by location: where it comes, -1 for what stands for nothing compared
	group []int32            // by location, -1
	turns []int32            // by group: when it comes
}

// mostLabel is how wide the name of a group in a legend may be.
const mostLabel = 200

// An ArrangedGroup is locations that behave alike, in their order.
type ArrangedGroup struct {
	ID      int                `json:"id"`
	Name    string             `json:"name"`
	Members []trace.LocationID `json:"members"`
	names   string             // of the members, in short
}

// An ArrangedResult is a result whose rows or columns follow an arrangement. Embed
// Arranged to have it.
type ArrangedResult interface{ Arrangement() *Arrangement }

// Arranged holds the arrangement of a result.
type Arranged struct{ arranged *Arrangement }

// Arrangement returns the arrangement; nil: as in the tree.
func (a Arranged) Arrangement() *Arrangement { return a.arranged }

func (a *Arrangement) sizeBytes() int64 { return int64(8*len(a.place) + 16*len(a.units)) }

// Arrange reads --arrange. Groups are of the whole run, unless a time is given: the
// selection does not move rows about.
func (r *Request) Arrange(ctx context.Context, find GroupFinder) (Arranged, error) {
	text := r.Values.Text("arrange")
	how, err := parseArrange(text)
	if err != nil || how == nil {
		return Arranged{}, err
	}
	how.take(r.Values)
	key := fmt.Sprintf("%+v", *how)
	// It is kept, so that all panels of a page share one, and zooming does not group anew.
	a, err := derived.Keep(r.Runs[0].Cache, "arrangement "+key, (*Arrangement).sizeBytes,
		func() (*Arrangement, error) { return how.find(ctx, &r.Runs[0], find) })
	if err != nil {
		return Arranged{}, err
	}
	named := *a
	named.By = text
	return Arranged{&named}, ctx.Err()
}

// ArrangeHierarchy reads --arrange for a view that draws a hierarchy: the groups are
// the hierarchy, unless another one is asked for, which note then says.
func (r *Request) ArrangeHierarchy(ctx context.Context, find GroupFinder) (a Arranged, note string, err error) {
	rule, level := r.Values.Text("hierarchy"), r.Values.Text("group")
	if _, numbered := strconv.Atoi(level); !ownTree(rule) ||
		level != "" && level != "optimal" && level != "all" && numbered != nil {
		if how, err := parseArrange(r.Values.Text("arrange")); err != nil || how == nil {
			return Arranged{}, "", err
		}
		return Arranged{}, "the hierarchy is not that of groups of similar locations: locations are in its order", nil
	}
	a, err = r.Arrange(ctx, find)
	return a, "", err
}

// find compares all locations that hold calls or a profile.
func (a *arranging) find(ctx context.Context, run *Run, find GroupFinder) (*Arrangement, error) {
	c, err := a.compared(ctx, run.Store)
	if err != nil {
		return nil, err
	}
	found := &alike{}
	switch {
	case len(c.units) == 0:
	case a.usual():
		found, err = AlikeOfRun(find).Of(ctx, run)
	default:
		found.Order, found.Of, err = find(c.behaviour, a.Likeness)
	}
	if err != nil {
		return nil, err
	}
	return newArrangement(run.Store.Locations(), c.holders, c.of, c.units, found.Order, found.Of), ctx.Err()
}

// compared lists the units to compare, and reads how they behave.
func (a *arranging) compared(ctx context.Context, s store.Reader) (*comparison, error) {
	sel, err := Spec{From: a.from, To: a.to, Locations: a.locations, Regions: a.regions}.Resolve(s)
	if err != nil {
		return nil, fmt.Errorf("--arrange: %w", err)
	}
	t := s.Locations()
	c := &comparison{}
	if c.holders, err = runfacts.ChosenHolders(ctx, s, sel.Locations); err != nil {
		return nil, err
	}
	if c.units, c.of, err = runfacts.Units(t, c.holders, a.group); err != nil || len(c.units) == 0 {
		return c, err
	}
	b := &trace.Behaviour{Regions: s.Regions(), Chosen: sel.Regions, Locations: c.holders, Owner: c.of,
		Owners: len(c.units)}
	if s.Info().Timed() {
		b.Calls = func(ids []trace.LocationID, f func(*trace.DigestedLane) error) error {
			return store.Digests(ctx, s, "calls", store.Window{Begin: sel.Begin, End: sel.End, Locations: ids}, f)
		}
	} else {
		b.Paths, b.Metric = s.CallPaths(), runfacts.DefaultMetric(s.Metrics())
		b.Profile = func(f func([]trace.ProfileRow) error) error { return s.Profile(ctx, sel.Locations, f) }
	}
	if a.By == "optimal" {
		b.Tree, err = behaviourTree(ctx, s, sel, c.units, c.holders, c.of)
	}
	c.behaviour = b
	return c, err
}

// newArrangement places every location: those compared as found, locations below them
// with them, and locations above where most below them are.
func newArrangement(t *store.Tree, holders []trace.LocationID, of []int32, units []trace.LocationID, order,
	group []int32) *Arrangement {
	a := &Arrangement{units: units, place: make([]int32, t.Len()), group: make([]int32, t.Len()),
		Order: make([]trace.LocationID, 0, len(order)), Groups: []ArrangedGroup{}}
	for i := range a.place {
		a.place[i], a.group[i] = -1, -1
	}
	rank := make([]int32, len(order))
	for k, u := range order {
		rank[u] = int32(k)
		a.Order = append(a.Order, units[u])
		g := int(group[u])
		for len(a.Groups) <= g {
			a.Groups = append(a.Groups,
				ArrangedGroup{ID: len(a.Groups), Name: fmt.Sprintf("group %d", len(a.Groups)+1),
					Members: []trace.LocationID{}})
		}
		a.Groups[g].Members = append(a.Groups[g].Members, units[u])
	}
	a.turns = make([]int32, len(a.Groups))
	for k, n := len(order)-1, int32(len(a.Groups)); k >= 0; k-- {
		if k+1 == len(order) || group[order[k]] != group[order[k+1]] {
			n--
			a.turns[group[order[k]]] = n
		}
	}
	for i, id := range holders {
		a.place[id], a.group[id] = rank[of[i]], group[of[i]]
	}
	for u, id := range units {
		a.place[id], a.group[id] = rank[u], group[u]
	}
	a.placeAbove(t)
	names := runfacts.UnitNames(t, units)
	members := make([][]int32, len(a.Groups))
	for u := range units {
		members[group[u]] = append(members[group[u]], int32(u))
	}
	for g := range a.Groups {
		for most := 3; most > 0; most-- { // as many as a legend has room for
			a.Groups[g].names = NameList(names, members[g], most)
			if scene.TextWidth(a.Label(g), scene.TextSize, false) <= mostLabel {
				break
			}
		}
	}
	return a
}

// placeAbove puts the locations above those compared to the group that most of them are
// in, at the first of them there.
func (a *Arrangement) placeAbove(t *store.Tree) {
	type counted struct{ group, units, first int32 }
	above := make([]counted, t.Len())                  // the group of the first unit below a location
	others := map[trace.LocationID]map[int32]counted{} // its further groups: few locations have any
	for _, id := range a.units {
		g, p := a.group[id], a.place[id]
		for up := t.Parent[id]; up != trace.NoLocation && a.place[up] < 0; up = t.Parent[up] {
			switch x := &above[up]; {
			case x.units == 0:
				*x = counted{g, 1, p}
			case x.group == g:
				*x = counted{g, x.units + 1, min(x.first, p)}
			default:
				if others[up] == nil {
					others[up] = map[int32]counted{}
				}
				y, seen := others[up][g]
				if !seen {
					y.first = p
				}
				others[up][g] = counted{g, y.units + 1, min(y.first, p)}
			}
		}
	}
	for id, best := range above {
		if best.units == 0 {
			continue
		}
		for _, x := range others[trace.LocationID(id)] {
			if x.units > best.units || x.units == best.units && x.group < best.group {
				best = x
			}
		}
		a.group[id], a.place[id] = best.group, best.first
	}
}

// Sort brings locations into order; those of one place stay as they are.
func (a *Arrangement) Sort(ids []trace.LocationID) {
	if a != nil {
		slices.SortStableFunc(ids, func(x, y trace.LocationID) int { return a.compare(x, y) })
	}
}

// Places lists the places of locations in the order in which they come; of a nil
// arrangement as they are.
func (a *Arrangement) Places(ids []trace.LocationID) []int32 {
	out := make([]int32, len(ids))
	for i := range out {
		out[i] = int32(i)
	}
	a.SortPlaces(out, ids)
	return out
}

// Reorder brings locations and their names into order, in new lists, and gives the
// place that each had.
func (a *Arrangement) Reorder(ids *[]trace.LocationID, names *[]string) []int32 {
	order := a.Places(*ids)
	sorted, named := make([]trace.LocationID, len(order)), make([]string, len(order))
	for i, old := range order {
		sorted[i], named[i] = (*ids)[old], (*names)[old]
	}
	*ids, *names = sorted, named
	return order
}

// SortPlaces brings places in ids into order; those that come at the same place stay
// as they are.
func (a *Arrangement) SortPlaces(places []int32, ids []trace.LocationID) {
	if a != nil {
		slices.SortStableFunc(places, func(x, y int32) int { return a.compare(ids[x], ids[y]) })
	}
}

// SortGroups brings places in ids group after group, and leaves those of a group in
// the order they are in.
func (a *Arrangement) SortGroups(places []int32, ids []trace.LocationID) {
	if a != nil {
		slices.SortStableFunc(places, func(x, y int32) int {
			return cmp.Compare(a.turn(ids[x]), a.turn(ids[y]))
		})
	}
}

// turn returns the position of a location's group; locations without one come last.
func (a *Arrangement) turn(id trace.LocationID) int32 {
	if g := a.group[id]; g >= 0 {
		return a.turns[g]
	}
	return int32(len(a.Groups))
}

// compare puts locations without a place last.
func (a *Arrangement) compare(x, y trace.LocationID) int {
	return cmp.Compare(uint32(a.place[x]), uint32(a.place[y]))
}

// Group returns the group of a location; -1 if it has none.
func (a *Arrangement) Group(id trace.LocationID) int {
	if a == nil || int(id) >= len(a.group) {
		return -1
	}
	return int(a.group[id])
}

// Partition returns the group of each of some locations, numbered from 0 among those
// groups that hold any of them, the members of each, as places, and which groups
// those are.
func (a *Arrangement) Partition(ids []trace.LocationID) (of []int32, members [][]int32, groups []int) {
	of = make([]int32, len(ids))
	at := make([]int32, len(a.Groups)+1) // the last for those without a group
	for i, id := range ids {
		g := a.Group(id)
		if g < 0 {
			g = len(a.Groups)
		}
		of[i] = int32(g)
		at[g]++
	}
	for g, n := range at {
		if n > 0 {
			at[g] = int32(len(groups))
			groups = append(groups, g)
		}
	}
	members = make([][]int32, len(groups))
	for i, g := range of {
		of[i] = at[g]
		members[of[i]] = append(members[of[i]], int32(i))
	}
	return of, members, groups
}

// optimal reports whether groups are the parts of the best cut.
func (a *Arrangement) optimal() bool { return strings.HasPrefix(a.By, "optimal") }

// AddNote describes how rows are ordered, if that is not as in the tree.
func (a *Arrangement) AddNote(notes []string) []string {
	switch {
	case a == nil:
		return notes
	case a.optimal():
		return append(notes,
			fmt.Sprintf("locations are grouped by the best cut of the tree: %s of %s", Count(len(a.Groups), "part"),
				Count(len(a.Order), "location")))
	case len(a.Groups) == 1:
		return append(notes, "locations are ordered by groups of similar locations, and all are one group")
	}
	return append(notes,
		fmt.Sprintf("locations are ordered by groups of similar locations, the smallest first: %s",
			Count(len(a.Groups), "group")))
}

// groupNames names the groups above a location, for a hierarchy.
func (a *Arrangement) groupNames(id int) []string {
	if g := a.group[id]; g >= 0 {
		return []string{a.Groups[g].Name}
	}
	return []string{"no group"}
}
