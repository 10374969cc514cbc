package diagnose

// Reasons: regions that take more time on some units than on the others.

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A reason is a region or category with more time on some units than on the others.
type reason struct {
	// What is a region's name, or a category in words such as "kernels".
	what    string
	regions []trace.RegionID
	// Mean over the units, and the extremes and median of the others, in ns.
	mean, low, high, median float64
	used                    bool // the others are in it too, if only for a moment
	// The queries of a statistic over the units and over the others; nil: there is none.
	of, others func(statistic string) string
}

// clear reports whether the units stand out by it: hardly any other has as much.
func (r *reason) clear() bool { return r.mean >= 0.95*r.high && r.median < 0.7*r.mean }

// excess is how much more it is.
func (r *reason) excess() float64 { return r.mean - r.median }

// Reasons finds them in some times of the run.
type reasons struct {
	*facts
	times *totals
}

func (f *facts) reasons(t *totals) *reasons { return &reasons{f, t} }

// explain finds the region, or the category of regions, in which units spend most
// time more than the others do. Inclusive time tells: of nested regions the
// outermost that is longer is the one to name, unless exclusive time tells more. Only rows of a class count, all where
// it is empty; with all roles but waiting, or busy ones alone. O(totals).
func (w *reasons) explain(units []int32, class string, busyOnly bool) (reason, bool) {
	inside := make([]bool, len(w.units))
	for _, u := range units {
		inside[u] = true
	}
	keys := w.keys(busyOnly)
	best, ok := w.best(keys.name, w.times.inclusive, inside, len(units), class)
	if own, found := w.best(keys.own, w.times.exclusive, inside, len(units), class); found &&
		(!ok || own.excess() > 1.15*best.excess()) {
		best, ok = own, true
	}
	if whole, found := w.best(keys.category, w.times.exclusive, inside, len(units), class); found &&
		(!ok || whole.excess() > 1.15*best.excess()) {
		whole.what = categoryWords(whole.what)
		return whole, true
	}
	return best, ok
}

// reasonKeys return the key that a region counts for, "" for none.
type reasonKeys struct{ name, own, category func(trace.RegionID) string }

func (w *reasons) keys(busyOnly bool) reasonKeys {
	region := func(r trace.RegionID) *trace.Region {
		g := &w.regions[r]
		if !w.counts(g.Role, busyOnly) || w.marks(r) {
			return nil
		}
		return g
	}
	return reasonKeys{
		name: func(r trace.RegionID) string {
			if g := region(r); g != nil {
				return g.Name
			}
			return ""
		},
		own: func(r trace.RegionID) string {
			if g := region(r); g != nil && g.Role.Busy() {
				return g.Name
			}
			return ""
		},
		category: func(r trace.RegionID) string {
			if g := region(r); g != nil && g.Role.Busy() {
				return g.Category
			}
			return ""
		},
	}
}

// numberKeys gives each key of a region a number: keys are numbered as they come, regions without one have -1.
func (f *facts) numberKeys(key func(trace.RegionID) (key string, has bool)) (keys []string, of []int32) {
	known := map[string]int32{}
	of = make([]int32, len(f.regions))
	for r := range of {
		k, has := key(trace.RegionID(r))
		if !has {
			of[r] = -1
			continue
		}
		n, ok := known[k]
		if !ok {
			n = int32(len(keys))
			known[k] = n
			keys = append(keys, k)
		}
		of[r] = n
	}
	return keys, of
}

// numberNames numbers the names of the regions that are wanted.
func (f *facts) numberNames(want func(*trace.Region) bool) (names []string, of []int32) {
	return f.numberKeys(func(r trace.RegionID) (string, bool) { return f.regions[r].Name, want(&f.regions[r]) })
}

// counts returns the roles that may be a reason: never those of waiting.
func (w *reasons) counts(r trace.Role, busyOnly bool) bool {
	if busyOnly {
		return r.Busy()
	}
	return r.Busy() || r == trace.RoleOverhead || r == trace.RoleAnnotation
}

// marks reports regions that are no reason: those that cut the run, and ranges on a GPU that repeat marks
// of the host.
func (w *reasons) marks(r trace.RegionID) bool {
	g := &w.regions[r]
	return g.Category == "gpu_user_annotation" ||
		w.phases != nil &&
			(g.Name == w.phases.By || g.Role == trace.RoleAnnotation && trace.Stem(g.Name) == w.phases.By)
}

// mostReasons is the number of candidates that are held against the other units.
const mostReasons = 24

// best returns the reason with the largest excess of units. It looks at those with most time inside; the
// others are not worth a median. O(totals + candidates × units).
func (w *reasons) best(key func(trace.RegionID) string, value []float64, inside []bool, n int,
	class string) (found reason, ok bool) {
	keys, of := w.numberKeys(func(r trace.RegionID) (string, bool) { k := key(r); return k, k != "" })
	counts := func(i int, row int32) int32 {
		if value[i] == 0 || class != "" && w.class[row] != class {
			return -1
		}
		return of[w.times.region[i]]
	}
	all := make([]*reason, len(keys))
	sums := map[string]*reason{}
	for i, row := range w.times.row {
		k := counts(i, row)
		if k < 0 || !inside[w.unitOf[w.rows[row]]] {
			continue
		}
		r := all[k]
		if r == nil {
			r = &reason{what: keys[k], low: math.Inf(1)}
			all[k], sums[keys[k]] = r, r
		}
		r.mean += value[i] / float64(n)
	}
	names := slices.Collect(maps.Keys(sums))
	slices.SortFunc(names,
		func(a, b string) int { return cmp.Or(cmp.Compare(sums[b].mean, sums[a].mean), cmp.Compare(a, b)) })
	names = names[:min(len(names), mostReasons)]
	values := make([][]float64, len(names))
	place := make([]int32, len(keys)) // in names
	for k, name := range keys {
		place[k] = int32(slices.Index(names, name))
	}
	for i := range names {
		values[i] = make([]float64, len(inside))
	}
	met := make([]bool, len(w.regions))
	for i, row := range w.times.row {
		n := counts(i, row)
		if n < 0 || place[n] < 0 {
			continue
		}
		k := place[n]
		values[k][w.unitOf[w.rows[row]]] += value[i]
		if at := w.times.region[i]; !met[at] {
			met[at] = true
			r := sums[names[k]]
			r.regions = append(r.regions, at)
		}
	}
	others := make([]float64, 0, len(inside))
	for k, name := range names {
		r := sums[name]
		others = others[:0]
		for u, in := range inside {
			if v := values[k][u]; !in {
				others = append(others, v)
				r.low, r.high = min(r.low, v), max(r.high, v)
			}
		}
		if len(others) == 0 {
			continue
		}
		r.median = orderstat.Median(others)
		r.used = w.entered(r.regions, inside)
		if r.excess() > 0 && (!ok || r.excess() > found.excess()) {
			found, ok = *r, true
		}
	}
	slices.Sort(found.regions)
	if ok && len(value) > 0 {
		column := "exclusive"
		if &value[0] == &w.times.inclusive[0] {
			column = "inclusive"
		}
		var units []int32
		for u, in := range inside {
			if in {
				units = append(units, int32(u))
			}
		}
		w.facts.askFor(&found, w.times, column, class, units)
	}
	return found, ok
}

// askFor gives a reason its queries.
func (f *facts) askFor(r *reason, t *totals, column, class string, units []int32) {
	source := f.timesIn(t.begin, t.end, r.regions)
	if source != "" && class != "" {
		source += " and location in (select id from locations where kind = " + quoted(class) + ")"
	}
	others := f.allUnits(units...)
	r.of = func(statistic string) string { return f.unitsQuery(statistic, column, source, units) }
	r.others = func(statistic string) string { return f.unitsQuery(statistic, column, source, others) }
}

// query asks for a statistic, where a query does.
func query(ask func(string) string, statistic string) string {
	if ask == nil {
		return ""
	}
	return ask(statistic)
}

// entered reports whether units outside are ever in some regions.
func (w *reasons) entered(regions []trace.RegionID, inside []bool) bool {
	of := make([]bool, len(w.regions))
	for _, r := range regions {
		of[r] = true
	}
	for i, row := range w.times.row {
		if of[w.times.region[i]] && !inside[w.unitOf[w.rows[row]]] &&
			(w.times.inclusive[i] > 0 || w.times.calls[i] > 0) {
			return true
		}
	}
	return false
}

// categoryWords names a category of regions.
func categoryWords(category string) string {
	switch category {
	case "kernel", "concurrent_kernel":
		return "kernels"
	case "cpu_op", "operator":
		return "operators on the CPU"
	case "gpu_memcpy", "memcpy":
		return "copies"
	}
	return "regions of category " + category
}

// waitsIn names the regions in which units wait most, communication before the rest, and how long they do. Only those
// that fit are named, unless none does; nil fits all.
func (w *reasons) waitsIn(not []int32, fits func(*trace.Region) bool) (names []string, ids []trace.RegionID,
	sum float64) {
	inside := make([]bool, len(w.units))
	for _, u := range not {
		inside[u] = true
	}
	waits := func(g *trace.Region) bool {
		return (g.Role == trace.RoleCommunication || g.Role == trace.RoleSynchronization) && (fits == nil || fits(g))
	}
	all, of := w.numberNames(waits)
	sums, met := make([]float64, len(all)), make([]bool, len(w.regions))
	times, regions := map[string]float64{}, map[string][]trace.RegionID{}
	comm := map[string]bool{}
	whole := 0.0
	for i, row := range w.times.row {
		r := w.times.region[i]
		k := of[r]
		if k < 0 || inside[w.unitOf[w.rows[row]]] {
			continue
		}
		sums[k] += w.times.exclusive[i]
		whole += w.times.exclusive[i]
		if !met[r] {
			met[r] = true
			comm[all[k]] = comm[all[k]] || w.regions[r].Role == trace.RoleCommunication
			regions[all[k]] = append(regions[all[k]], r)
		}
	}
	for k, n := range all {
		if len(regions[n]) > 0 {
			times[n] = sums[k]
		}
	}
	var list []string
	any := false
	for n := range times {
		list = append(list, n)
		any = any || comm[n] && times[n] >= 0.1*whole
	}
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(times[b], times[a]), cmp.Compare(a, b)) })
	for _, n := range list {
		if any && !comm[n] || len(names) == 2 || len(names) == 1 && times[n] < 0.3*sum {
			continue
		}
		names = append(names, n)
		ids = append(ids, regions[n]...)
		sum += times[n]
	}
	slices.Sort(ids)
	if len(names) == 0 && fits != nil {
		return w.waitsIn(not, nil)
	}
	return names, ids, sum
}

// against says a reason in words: "kernels take 102 ms on it against 3.6 to 31.6 ms".
func (r *reason) against(n int) string {
	on := "on it"
	if n > 1 {
		on = "on each"
	}
	verb := "takes"
	if r.what == "kernels" || r.what == "copies" || strings.HasPrefix(r.what, "operators") ||
		strings.HasPrefix(r.what, "regions of") {
		verb = "take"
	}
	others := words.FormatDuration(r.median) + " on the others"
	switch low, high := words.FormatDuration(r.low), words.FormatDuration(r.high); {
	case r.high == 0 && !r.used:
		return fmt.Sprintf("%s %s %s %s and does not run on the others", regionWord(r.what), verb,
			words.FormatDuration(r.mean), on)
	case r.high > r.mean: // not the longest of all
		others = words.FormatDuration(r.median) + " on the others (median)"
	case low != high:
		others = between(r.low, r.high, "ns") + " on the others"
	}
	return fmt.Sprintf("%s %s %s %s against %s", regionWord(r.what), verb, words.FormatDuration(r.mean), on, others)
}

func (r *reason) evidence() []finding.Evidence {
	return []finding.Evidence{
		{Name: r.what, Value: r.mean, Unit: "ns", From: query(r.of, "avg")},
		{Name: r.what + " on the others, least", Value: r.low, Unit: "ns", From: query(r.others, "min")},
		{Name: r.what + " on the others, median", Value: r.median, Unit: "ns", From: query(r.others, "median")},
		{Name: r.what + " on the others, most", Value: r.high, Unit: "ns", From: query(r.others, "max")},
	}
}
