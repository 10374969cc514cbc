package sides

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// units joins the locations of both sides into the units that are compared. If a set
// holds some locations of a rank and the other the rest, ranks cannot be compared, so
// locations are.
func (r *Result) units(auto bool) error {
	a, b := &r.Sides[0], &r.Sides[1]
	by := r.ask.Group
	var err error
	for i := range r.Sides {
		s := &r.Sides[i]
		if s.Units, s.Of, err = runfacts.Units(s.Tree, s.Holders, by); err != nil {
			return err
		}
	}
	r.likes(auto)
	all := slices.Concat(a.Holders, Without(b.Holders, a.Holders))
	slices.Sort(all)
	together, of, err := runfacts.Units(a.Tree, all, by)
	if err != nil {
		return err
	}
	if by == "auto" && (!auto && cuts(all, of, len(together), a.Holders, b.Holders) || len(together) < 2) {
		together, of, _ = runfacts.Units(a.Tree, all, "locations")
	}
	for i := range r.Sides {
		r.Sides[i].take(all, of, together)
		r.thin(&r.Sides[i])
		r.Sides[i].Names = runfacts.ShortNames(a.Tree, r.Sides[i].Units)
	}
	r.Paired = slices.Equal(a.Units, b.Units) && slices.Equal(a.Holders, b.Holders) && !slices.Equal(a.Spans, b.Spans)
	r.shares = a.length() != b.length()
	if !auto && slices.Equal(a.Holders, b.Holders) && slices.Equal(a.Spans, b.Spans) {
		return words.Empty("choose another --b", "both sets hold the same")
	}
	if len(together) < len(all) {
		r.Notes = append(r.Notes,
			fmt.Sprintf("%s are taken together by rank; --group locations compares each",
				words.Count(len(all), "location")))
	}
	return nil
}

// likes leaves out of the rest of a run the locations of another kind than those it is
// compared with: the median over threads, streams and processes together is meaningless.
// If nothing is chosen, the most frequent kind is compared.
func (r *Result) likes(auto bool) {
	a, b := &r.Sides[0], &r.Sides[1]
	if r.ask.Given ||
		slices.Equal(a.Holders, b.Holders) && !auto || len(a.Units) < len(a.Holders) {
		return
	}
	kinds := map[trace.Kind]int{}
	for _, id := range a.Holders {
		kinds[a.Tree.Kind[id]]++
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
	other := func(id trace.LocationID) bool { return kinds[a.Tree.Kind[id]] == 0 }
	left := slices.DeleteFunc(slices.Clone(b.Holders), other)
	if n := len(b.Holders) - len(left); n > 0 && len(left) > 0 {
		b.Holders = left
		if auto {
			a.Holders = left
		}
		r.Notes = append(r.Notes,
			fmt.Sprintf("%s of other kinds are left out, since only like is compared with like",
				words.Count(n, "location")))
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
func (s *Side) take(all []trace.LocationID, of []int32, units []trace.LocationID) {
	s.Units, s.Of = nil, make([]int32, len(s.Holders))
	index := make(map[int32]int32, len(units))
	for i, id := range s.Holders {
		at, _ := slices.BinarySearch(all, id)
		k, ok := index[of[at]]
		if !ok {
			k = int32(len(s.Units))
			index[of[at]] = k
			s.Units = append(s.Units, units[of[at]])
		}
		s.Of[i] = k
	}
}

// thin takes an even sample of too many units.
func (r *Result) thin(s *Side) {
	n := len(s.Units)
	if n <= mostUnits {
		return
	}
	keep := make([]int32, n) // new index, plus one
	units := make([]trace.LocationID, 0, mostUnits)
	for k := range mostUnits {
		i := int(int64(k) * int64(n) / mostUnits)
		units = append(units, s.Units[i])
		keep[i] = int32(len(units))
	}
	var holders []trace.LocationID
	var of []int32
	for i, id := range s.Holders {
		if k := keep[s.Of[i]]; k > 0 {
			holders, of = append(holders, id), append(of, k-1)
		}
	}
	s.Units, s.Holders, s.Of = units, holders, of
	r.note(fmt.Sprintf("of %s an even sample of %s is compared", words.Count(n, "location"),
		words.Thousands(mostUnits)))
}

// mostUnlike sets some units against all others where nothing is selected: the one
// whose times by region are farthest from the median of all, and those that are at
// least half as far from it in the same direction.
func (r *Result) mostUnlike(ctx context.Context) error {
	a, b := &r.Sides[0], &r.Sides[1]
	n := len(a.Units)
	if n < 3 {
		return words.Empty("choose locations or a time, or give --a",
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
	r.Paired, r.shares, r.found = false, false, true
	a.Label, b.Label = a.whoText(), r.others(len(b.Units))
	if len(a.Units) == 1 {
		r.Notes = append(r.Notes,
			fmt.Sprintf(
				"nothing is selected, so %s is taken: its times by region are farthest from those of the others",
				a.Label,
			))
	} else {
		r.Notes = append(r.Notes,
			fmt.Sprintf("nothing is selected, so %s are taken: their times by region are farthest from those of the "+
				"others", a.Label))
	}
	return nil
}

// worked leaves out the regions of waiting if work distinguishes units: the unit that works
// longer is the cause, and the units that wait are affected by it. leastFound is the
// least difference to report.
func worked(regions []*Quantity, n int) []*Quantity {
	work := slices.DeleteFunc(slices.Clone(regions), func(q *Quantity) bool { return q.waits() })
	far, busy := 0.0, 0.0
	for _, q := range work {
		m := orderstat.Median(q.Values[0])
		busy += m
		for _, v := range q.Values[0] {
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
func unlike(regions []*Quantity, n int) []bool {
	far := make([]float64, n)
	size := make([]float64, n)
	medians := make([]float64, len(regions))
	for k, q := range regions {
		medians[k] = orderstat.Median(q.Values[0])
		for i, v := range q.Values[0] {
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
		for i, v := range q.Values[0] {
			along[i] += (v - medians[k]) * (q.Values[0][worst] - medians[k])
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
func (s *Side) keep(whole *Side, marked []bool, want bool) {
	index := make([]int32, len(whole.Units))
	s.Units, s.Names, s.Holders, s.Of = nil, nil, nil, nil
	for i, u := range whole.Units {
		if index[i] = -1; marked[i] == want {
			index[i] = int32(len(s.Units))
			s.Units, s.Names = append(s.Units, u), append(s.Names, whole.Names[i])
		}
	}
	for i, id := range whole.Holders {
		if k := index[whole.Of[i]]; k >= 0 {
			s.Holders, s.Of = append(s.Holders, id), append(s.Of, k)
		}
	}
}

// describeSides names the two sets.
func (r *Result) describeSides(whole Side) {
	a, b := &r.Sides[0], &r.Sides[1]
	sameTime, sameWho := slices.Equal(a.Spans, b.Spans), slices.Equal(a.Holders, b.Holders)
	rest := sameTime && len(a.Holders)+len(b.Holders) == len(whole.Holders)
	for i := range r.Sides {
		s := &r.Sides[i]
		var parts []string
		switch {
		case sameWho:
		case i == 1 && rest && len(s.Units) > 1:
			parts = append(parts, r.others(len(s.Units)))
		default:
			parts = append(parts, s.whoText())
		}
		if !sameTime {
			parts = append(parts, s.whenText(whole.Spans))
		}
		s.Label = strings.Join(parts, ", ")
	}
}

func (r *Result) others(n int) string {
	what := "location"
	if t := r.Sides[1].Tree; len(r.Sides[1].Units) > 0 && t.Rank[r.Sides[1].Units[0]] >= 0 {
		what = "rank"
	}
	if n == 1 {
		return "the other " + what
	}
	return "the " + words.Count(n, "other "+what)
}

func (s *Side) whoText() string {
	members := make([]int32, len(s.Units))
	for i := range members {
		members[i] = int32(i)
	}
	return words.NameList(s.Names, members, 4)
}

func (s *Side) whenText(whole []Span) string {
	if slices.Equal(s.Spans, whole) {
		return "whole run"
	}
	if len(s.Spans) == 2 && len(whole) == 1 && s.Spans[0].Begin == whole[0].Begin && s.Spans[1].End == whole[0].End {
		return fmt.Sprintf("before %s and after %s", words.FormatTime(s.Spans[0].End),
			words.FormatTime(s.Spans[1].Begin))
	}
	var out []string
	for _, x := range s.Spans {
		out = append(out, words.FormatTime(x.Begin)+" to "+words.FormatTime(x.End))
		if len(out) == 3 && len(s.Spans) > 3 {
			return strings.Join(out, ", ") + fmt.Sprintf(" … (%d times)", len(s.Spans))
		}
	}
	return strings.Join(out, ", ")
}

// unitAt gives, for each location of the tree, the unit of the side it belongs to, or -1.
func (s *Side) unitAt() []int32 {
	out := make([]int32, s.Tree.Len())
	for i := range out {
		out[i] = -1
	}
	for k, u := range s.Units {
		for id := u; id <= s.Tree.Last[u]; id++ {
			out[id] = int32(k)
		}
	}
	return out
}

// windows are the side's times and locations as queries.
func (s *Side) windows() []store.Window {
	out := []store.Window{}
	for _, x := range s.Spans {
		out = append(out, store.Window{Begin: x.Begin, End: x.End, Locations: s.Holders})
	}
	return out
}
