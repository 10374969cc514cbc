package contrast

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// units joins the locations of both sides into the units that are compared. If a set
// holds some locations of a rank and the other the rest, ranks cannot be compared, so
// locations are.
func (r *result) units(auto bool) error {
	a, b := &r.sides[0], &r.sides[1]
	by := r.request.Values.Text("group")
	var err error
	for i := range r.sides {
		s := &r.sides[i]
		if s.units, s.of, err = view.Units(s.tree, s.holders, by); err != nil {
			return err
		}
	}
	r.likes(auto)
	all := slices.Concat(a.holders, without(b.holders, a.holders))
	slices.Sort(all)
	together, of, err := view.Units(a.tree, all, by)
	if err != nil {
		return err
	}
	if by == "auto" && (!auto && cuts(all, of, len(together), a.holders, b.holders) || len(together) < 2) {
		together, of, _ = view.Units(a.tree, all, "locations")
	}
	for i := range r.sides {
		r.sides[i].take(all, of, together)
		r.thin(&r.sides[i])
		r.sides[i].names = view.ShortNames(a.tree, r.sides[i].units)
	}
	r.paired = slices.Equal(a.units, b.units) && slices.Equal(a.holders, b.holders) && !slices.Equal(a.spans, b.spans)
	r.shares = a.length() != b.length()
	if !auto && slices.Equal(a.holders, b.holders) && slices.Equal(a.spans, b.spans) {
		return view.Empty("choose another --b", "both sets hold the same")
	}
	if len(together) < len(all) {
		r.notes = append(r.notes,
			fmt.Sprintf("%s are taken together by rank; --group locations compares each",
				view.Count(len(all), "location")))
	}
	return nil
}

// likes leaves out of the rest of a run the locations of another kind than those it is
// compared with: the median over threads, streams and processes together is meaningless.
// If nothing is chosen, the most frequent kind is compared.
func (r *result) likes(auto bool) {
	a, b := &r.sides[0], &r.sides[1]
	if given := r.request.Values.Patterns("b"); len(given) > 0 && given[0] != "rest" ||
		slices.Equal(a.holders, b.holders) && !auto || len(a.units) < len(a.holders) {
		return
	}
	kinds := map[trace.Kind]int{}
	for _, id := range a.holders {
		kinds[a.tree.Kind[id]]++
	}
	if auto {
		best := trace.Kind("")
		for k, n := range kinds {
			if n > kinds[best] || n == kinds[best] && k < best {
				best = k
			}
		}
		kinds = map[trace.Kind]int{best: kinds[best]}
	}
	other := func(id trace.LocationID) bool { return kinds[a.tree.Kind[id]] == 0 }
	left := slices.DeleteFunc(slices.Clone(b.holders), other)
	if n := len(b.holders) - len(left); n > 0 && len(left) > 0 {
		b.holders = left
		if auto {
			a.holders = left
		}
		r.notes = append(r.notes,
			fmt.Sprintf("%s of other kinds are left out, since only like is compared with like",
				view.Count(n, "location")))
	}
}

// cuts reports whether a unit has a location in one set and another in the other alone.
func cuts(all []trace.LocationID, of []int32, units int, a, b []trace.LocationID) bool {
	if slices.Equal(a, b) {
		return false
	}
	in := make([]uint8, units)
	for i, id := range all {
		_, inA := slices.BinarySearch(a, id)
		_, inB := slices.BinarySearch(b, id)
		switch {
		case inA && !inB:
			in[of[i]] |= 1
		case inB && !inA:
			in[of[i]] |= 2
		}
	}
	return slices.Contains(in, 3)
}

// take gives a side the units of its holders.
func (s *side) take(all []trace.LocationID, of []int32, units []trace.LocationID) {
	s.units, s.of = nil, make([]int32, len(s.holders))
	index := make(map[int32]int32, len(units))
	for i, id := range s.holders {
		at, _ := slices.BinarySearch(all, id)
		k, ok := index[of[at]]
		if !ok {
			k = int32(len(s.units))
			index[of[at]] = k
			s.units = append(s.units, units[of[at]])
		}
		s.of[i] = k
	}
}

// thin takes an even sample of too many units.
func (r *result) thin(s *side) {
	n := len(s.units)
	if n <= mostUnits {
		return
	}
	keep := make([]int32, n) // new index, plus one
	units := make([]trace.LocationID, 0, mostUnits)
	for k := range mostUnits {
		i := int(int64(k) * int64(n) / mostUnits)
		units = append(units, s.units[i])
		keep[i] = int32(len(units))
	}
	var holders []trace.LocationID
	var of []int32
	for i, id := range s.holders {
		if k := keep[s.of[i]]; k > 0 {
			holders, of = append(holders, id), append(of, k-1)
		}
	}
	s.units, s.holders, s.of = units, holders, of
	r.note(fmt.Sprintf("of %s an even sample of %s is compared", view.Count(n, "location"), view.Thousands(mostUnits)))
}

// mostUnlike sets some units against all others where nothing is selected: the one
// whose times by region are farthest from the median of all, and those that are at
// least half as far from it in the same direction.
func (r *result) mostUnlike(ctx context.Context) error {
	a, b := &r.sides[0], &r.sides[1]
	n := len(a.units)
	if n < 3 {
		return view.Empty("choose locations or a time, or give --a",
			"nothing is selected, and the run has too few locations to find one that stands out")
	}
	g := newGatherer(r)
	by := r.by
	r.by = map[string]bool{"region": true}
	if err := g.times(ctx, 0); err != nil {
		return err
	}
	r.by = by
	whole := *a
	unlike := unlike(worked(g.order, n), n)
	a.keep(&whole, unlike, true)
	b.keep(&whole, unlike, false)
	r.paired, r.shares, r.found = false, false, true
	a.label, b.label = a.whoText(), r.others(len(b.units))
	if len(a.units) == 1 {
		r.notes = append(r.notes,
			fmt.Sprintf(
				"nothing is selected, so %s is taken: its times by region are farthest from those of the others",
				a.label,
			))
	} else {
		r.notes = append(r.notes,
			fmt.Sprintf("nothing is selected, so %s are taken: their times by region are farthest from those of the "+
				"others", a.label))
	}
	return nil
}

// worked leaves out the regions of waiting if work tells units apart: the unit that works
// longer is the cause, and the units that wait are affected by it. leastFound is the
// least difference to report.
func worked(regions []*quantity, n int) []*quantity {
	work := slices.DeleteFunc(slices.Clone(regions), func(q *quantity) bool { return q.waits() })
	far, busy := 0.0, 0.0
	for _, q := range work {
		m := contrast.Median(q.values[0])
		busy += m
		for _, v := range q.values[0] {
			far = max(far, math.Abs(v-m))
		}
	}
	if len(work) == 0 || far < leastFound*busy {
		return regions
	}
	return work
}

// unlike marks the units that stand out together, less than half of all.
// O(units × regions).
func unlike(regions []*quantity, n int) []bool {
	far := make([]float64, n)
	size := make([]float64, n)
	medians := make([]float64, len(regions))
	for k, q := range regions {
		medians[k] = contrast.Median(q.values[0])
		for i, v := range q.values[0] {
			far[i] += math.Abs(v - medians[k])
			size[i] += (v - medians[k]) * (v - medians[k])
		}
	}
	worst := 0
	for i := range far {
		if far[i] > far[worst] {
			worst = i
		}
	}
	along := make([]float64, n)
	for k, q := range regions {
		for i, v := range q.values[0] {
			along[i] += (v - medians[k]) * (q.values[0][worst] - medians[k])
		}
	}
	out, count := make([]bool, n), 0
	for i := range out {
		if out[i] = far[i] >= far[worst]/2 && along[i] >= 0.9*math.Sqrt(size[i]*size[worst]); out[i] {
			count++
		}
	}
	if 2*count >= n {
		clear(out)
	}
	out[worst] = true
	return out
}

// keep gives a side those units of the whole that are marked, or those that are not.
func (s *side) keep(whole *side, marked []bool, want bool) {
	index := make([]int32, len(whole.units))
	s.units, s.names, s.holders, s.of = nil, nil, nil, nil
	for i, u := range whole.units {
		if index[i] = -1; marked[i] == want {
			index[i] = int32(len(s.units))
			s.units, s.names = append(s.units, u), append(s.names, whole.names[i])
		}
	}
	for i, id := range whole.holders {
		if k := index[whole.of[i]]; k >= 0 {
			s.holders, s.of = append(s.holders, id), append(s.of, k)
		}
	}
}

// describeSides names the two sets.
func (r *result) describeSides(universe side) {
	a, b := &r.sides[0], &r.sides[1]
	sameTime, sameWho := slices.Equal(a.spans, b.spans), slices.Equal(a.holders, b.holders)
	rest := sameTime && len(a.holders)+len(b.holders) == len(universe.holders)
	for i := range r.sides {
		s := &r.sides[i]
		var parts []string
		switch {
		case sameWho:
		case i == 1 && rest && len(s.units) > 1:
			parts = append(parts, r.others(len(s.units)))
		default:
			parts = append(parts, s.whoText())
		}
		if !sameTime {
			parts = append(parts, s.whenText(universe.spans))
		}
		s.label = strings.Join(parts, ", ")
	}
}

func (r *result) others(n int) string {
	what := "location"
	if t := r.sides[1].tree; len(r.sides[1].units) > 0 && t.Rank[r.sides[1].units[0]] >= 0 {
		what = "rank"
	}
	return "the " + strings.Replace(view.Count(n, "other "+what), "1 other", "other", 1)
}

func (s *side) whoText() string {
	members := make([]int32, len(s.units))
	for i := range members {
		members[i] = int32(i)
	}
	return view.NameList(s.names, members, 4)
}

func (s *side) whenText(whole []span) string {
	if slices.Equal(s.spans, whole) {
		return "whole run"
	}
	if len(s.spans) == 2 && len(whole) == 1 && s.spans[0].begin == whole[0].begin && s.spans[1].end == whole[0].end {
		return fmt.Sprintf("before %s and after %s", view.FormatTime(s.spans[0].end), view.FormatTime(s.spans[1].begin))
	}
	var out []string
	for _, x := range s.spans {
		out = append(out, view.FormatTime(x.begin)+" to "+view.FormatTime(x.end))
		if len(out) == 3 && len(s.spans) > 3 {
			return strings.Join(out, ", ") + fmt.Sprintf(" … (%d times)", len(s.spans))
		}
	}
	return strings.Join(out, ", ")
}

// unitAt gives, for each location of the tree, the unit of the side it belongs to, or -1.
func (s *side) unitAt() []int32 {
	out := make([]int32, s.tree.Len())
	for i := range out {
		out[i] = -1
	}
	for k, u := range s.units {
		for id := u; id <= s.tree.Last[u]; id++ {
			out[id] = int32(k)
		}
	}
	return out
}

// windows are the side's times and locations as queries.
func (s *side) windows() []store.Window {
	out := []store.Window{}
	for _, x := range s.spans {
		out = append(out, store.Window{Begin: x.begin, End: x.end, Locations: s.holders})
	}
	return out
}
