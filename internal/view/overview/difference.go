package overview

import (
	"context"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/ranks"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A state is what a location does in a slice: of one run a role, numbered as it. Of a difference
// state 0 is what both runs have, role what the second has more of the role, and
// trace.RoleCount-1+role what it has less.
type state struct {
	number int
	name   string
	colour scene.Colour
	flag   scene.Flag
}

const (
	inBoth     = 0
	lessOf     = trace.RoleCount - 1
	mostStates = 2*trace.RoleCount - 1
)

// A subtraction is the other run of a difference.
type subtraction struct {
	names  [2]string
	reader store.Reader
	to     []trace.LocationID // of the other run, for each location of the first
}

// wantsDifference reads --picture.
func wantsDifference(q *view.Request) bool {
	return len(q.Runs) > 1 && q.Values.Text("picture") == "difference"
}

// subtract pairs the runs. The time is that of the longer run, if all of the first is selected.
func (g *gatherer) subtract() error {
	q := g.request
	second := q.Second()
	g.end = max(g.end, second.Selection.End)
	a, b := q.Runs[0].Name, q.Runs[1].Name
	pairs := ranks.Pair(q.Store(), second.Store())
	g.other = &subtraction{[2]string{a, b}, second.Store(), pairs.To}
	if note := view.PairingNote(pairs, a, b); note != "" {
		g.notes = append(g.notes, note)
	}
	paired, taken := 0, map[trace.LocationID]bool{}
	for i := range g.hierarchy.Len() {
		if id := g.hierarchy.Location[i]; g.hierarchy.Last[i] == int32(i) && pairs.To[id] != trace.NoLocation {
			paired++
			taken[pairs.To[id]] = true
		}
	}
	if paired == 0 {
		return fmt.Errorf("no location of %s is one of %s, by rank or by path; --picture beside shows both", a, b)
	}
	if miss := g.hierarchy.Leaves - paired; miss > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%s of %s is none of %s, and counts as less",
			view.Count(miss, "location"),
			a, b))
	}
	tree, miss := second.Store().Locations(), 0
	chosen := tree.Expand(second.Selection.Locations)
	for i, holds := range tree.Holds {
		id := trace.LocationID(i)
		if _, ok := slices.BinarySearch(chosen, id); holds && !taken[id] && (chosen == nil || ok) {
			miss++
		}
	}
	if miss > 0 {
		g.notes = append(g.notes, fmt.Sprintf("%s of %s is none of %s, and is not shown", view.Count(miss, "location"),
			b, a))
	}
	g.notes = append(g.notes, fmt.Sprintf("%s less %s: a full colour is more of a role in %s, a hatched one "+
		"less, grey "+
		"is in both", b, a, b))
	return nil
}

// atOnce bounds the locations of the first run whose times wait for those of the other.
const atOnce = 256

// each reads the times of the locations in both runs and in one of them.
func (d *subtraction) each(ctx context.Context, first store.Reader, ids []trace.LocationID, edges []trace.Time,
	f func(k int, runs []store.RoleRun) error) error {
	width := (len(edges) - 1) * trace.RoleCount
	none := make([]trace.Time, width)
	runs := []store.RoleRun{}
	for from := 0; from < len(ids); from += atOnce {
		some := ids[from:min(from+atOnce, len(ids))]
		times, err := store.RoleTimes(ctx, first, some, edges)
		if err != nil {
			return err
		}
		there := make([]trace.LocationID, 0, len(some))
		for _, id := range some {
			if to := d.to[id]; to != trace.NoLocation {
				there = append(there, to)
			}
		}
		others, err := store.RoleTimes(ctx, d.reader, there, edges)
		if err != nil {
			return err
		}
		for k, id := range some {
			other := none
			if d.to[id] != trace.NoLocation {
				other, others = others[:width], others[width:]
			}
			runs = appendDifference(runs[:0], times[k*width:(k+1)*width], other)
			if err := f(from+k, runs); err != nil {
				return err
			}
		}
	}
	return nil
}

// appendDifference appends the states of one location, whose times in both runs are at bin*trace.RoleCount + role.
func appendDifference(runs []store.RoleRun, a, b []trace.Time) []store.RoleRun {
	for at := 0; at < len(a); at += trace.RoleCount {
		bin := int32(at / trace.RoleCount)
		add := func(number int, t trace.Time) {
			if t > 0 {
				runs = append(runs, store.RoleRun{First: bin, Last: bin, Role: trace.Role(number), Time: t})
			}
		}
		var both trace.Time
		for role := 1; role < trace.RoleCount; role++ {
			x, y := a[at+role], b[at+role]
			both += min(x, y)
			add(role, y-x)
			add(lessOf+role, x-y)
		}
		add(inBoth, both)
	}
	return runs
}

// stateOf is a state by its number.
func (g *gatherer) stateOf(number int) state {
	if g.other == nil {
		return state{number, trace.Role(number).String(), scene.RoleColour(uint8(number)), 0}
	}
	switch second := g.other.names[1]; {
	case number == inBoth:
		return state{number, "in both", scene.UIAggregate, 0}
	case number <= lessOf:
		return state{number, trace.Role(number).String() + ", more in " + second, scene.RoleColour(uint8(number)), 0}
	default:
		role := number - lessOf
		return state{number, trace.Role(role).String() + ", less in " + second, scene.RoleColour(uint8(role)),
			scene.Hatched}
	}
}
