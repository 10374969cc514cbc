package diagnose

// Fault: units work longer than the others over the whole run.

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// slow: units that work longer than the others over the whole run. Groups come one after
// the other, the slowest first.
func (a *culprits) slow() error {
	inside := make([]bool, len(a.units)) // reported already
	for range 4 {
		values, units := []float64{}, []int32{}
		for u, w := range a.work {
			if !inside[u] {
				values, units = append(values, w), append(units, int32(u))
			}
		}
		group := finding.Upper(values)
		if len(group) == 0 {
			break
		}
		in := map[int32]bool{}
		for _, i := range group {
			in[units[i]] = true
			inside[units[i]] = true
		}
		f := a.claim(func(r *budget.Row) bool { return a.common(r) && in[a.accounts.unit[r.Actor]] })
		if !a.grave(f) || !a.persistent(f) {
			a.give(f)
			break
		}
		if len(in)*mostlyAll > (mostlyAll-1)*len(a.units) {
			a.tellSlack(f, in, false)
			continue
		}
		f.units = f.units[:0]
		for u := range in {
			f.units = append(f.units, u)
		}
		slices.Sort(f.units)
		kind := finding.Straggler
		switch {
		case finding.CourseOf(f.series).Grows:
			kind = finding.Growth
		case len(f.units) == 1 && f.messages():
			kind = a.byMessages(f)
		case a.crowded(f.units):
			kind = finding.Crowded
		}
		if err := a.tell(f, kind); err != nil {
			return err
		}
	}
	return nil
}

// persistent reports whether a fault is the main cause of waiting for work that all do at nearly all times
// between its first and its last, in a few dozen bins. Short waits for one unit after another are not the
// fault of the unit that caused most of them.
func (a *culprits) persistent(f *fault) bool {
	const parts = 32
	mine, all := make([]float64, parts), make([]float64, parts)
	for i, v := range f.series {
		mine[i*parts/len(f.series)] += v
		all[i*parts/len(f.series)] += v
	}
	for _, of := range eachPart(a.rows, func(rows []*budget.Row) (of [parts]trace.Time) {
		for _, r := range rows {
			if !a.common(r) {
				continue
			}
			for i, t := range r.Series.All() {
				of[i*parts/r.Series.Len()] += t
			}
		}
		return of
	}) {
		for i, t := range of {
			all[i] += float64(t)
		}
	}
	c := finding.CourseOf(f.series)
	mean, used, main := 0.0, 0, 0
	for _, v := range all {
		mean += v / parts
	}
	for i, v := range all {
		if x := (float64(i) + 0.5) / parts; x < c.From || x > c.To || v < 0.05*mean {
			continue
		}
		used++
		if mine[i] > v/2 {
			main++
		}
	}
	return used == 0 || float64(main) >= 0.7*float64(used)
}

// mostlyAll: where all but one in so many work longer, it is the others that have less to do.
const mostlyAll = 4
