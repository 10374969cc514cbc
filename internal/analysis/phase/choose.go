package phase

import (
	"regexp"
	"slices"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Use is how one location uses one region, as a store knows it without a scan.
type Use struct {
	Unit      int32
	Region    trace.RegionID
	Calls     int64
	Inclusive trace.Time
}

// A Marker is the regions whose intervals cut the run, and a word for them.
type Marker struct {
	Regions []trace.RegionID
	By      string
	// Top: only outermost intervals count, and all units share the phases that
	// those of any unit make: a request that begins at one service and goes
	// through the others.
	Top bool
	// Rounds: phases go from the end of one interval to that of the next, and there are so many; calls of communication
	// are in each.
	Rounds int
	calls  int
}

const (
	// leastCover is the part of the run that phases must fill on their units.
	leastCover = 0.5
	// mostCalls is how many phases one unit may have for people to look at them.
	mostCalls = 10_000
	// most of the units must have the region, equally often.
	mostUnits = 0.75
)

var step = regexp.MustCompile(`^ProfilerStep#?\s*(\d+|…)`)

// Choose finds the regions that cut a run best, nil where none do:
//
//  1. the steps that PyTorch's profiler marks, ProfilerStep#n
//  2. names that differ only in the number at their end, each once on a unit, such
//     as "epoch 1", "epoch 2": annotations, or three and more that are numbered without a gap
//  3. a region that most units enter equally often and that fills most of the run:
//     the iterations of the outermost loop
//
// O(uses).
func Choose(uses []Use, regions []trace.Region, units int, length trace.Time) *Marker {
	if m := families(uses, regions, length); m != nil {
		return m
	}
	return iterations(uses, regions, units, length)
}

// Roots are the requests of services: outermost spans of regions that no other
// location calls. Called is by region.
func Roots(called []bool) *Marker {
	m := &Marker{By: "request", Top: true}
	for r, c := range called {
		if !c {
			m.Regions = append(m.Regions, trace.RegionID(r))
		}
	}
	return m
}

// families groups regions by name without its number.
func families(uses []Use, regions []trace.Region, length trace.Time) *Marker {
	type family struct {
		regions map[trace.RegionID]bool
		cover   map[int32]trace.Time
		repeats bool
		noted   bool // all are annotations, or steps of PyTorch's profiler
		folded  bool // one region stands for several steps
	}
	all := map[string]*family{}
	var order []string
	for _, u := range uses {
		g := &regions[u.Region]
		stem := trace.Stem(g.Name)
		if stem == g.Name || g.Category == "gpu_user_annotation" || u.Calls == 0 {
			continue
		}
		f := all[stem]
		if f == nil {
			f = &family{regions: map[trace.RegionID]bool{}, cover: map[int32]trace.Time{}, noted: true}
			all[stem] = f
			order = append(order, stem)
		}
		f.regions[u.Region] = true
		f.cover[u.Unit] += u.Inclusive
		if trace.FoldedStep(g.Name) {
			f.folded = f.folded || u.Calls > 1
		} else {
			f.repeats = f.repeats || u.Calls > 1
		}
		f.noted = f.noted && (g.Role == trace.RoleAnnotation || step.MatchString(g.Name))
	}
	slices.Sort(order)
	best, bestCover := "", trace.Time(0)
	for _, stem := range order {
		f := all[stem]
		cover := trace.Time(0)
		for _, t := range f.cover {
			cover = max(cover, t)
		}
		switch {
		case len(f.regions) < 2 && !f.folded || f.repeats:
		case !f.noted && !f.folded && !counted(f.regions, regions, len(stem)):
		case step.MatchString(stem + "0"): // nothing cuts a training job better
			best, bestCover = stem, 1<<62
		case float64(cover) >= leastCover*float64(length) && cover > bestCover:
			best, bestCover = stem, cover
		}
	}
	if best == "" {
		return nil
	}
	m := &Marker{By: best}
	for r := range all[best].regions {
		m.Regions = append(m.Regions, r)
	}
	slices.Sort(m.Regions)
	return m
}

// leastCounted is how many regions of one name must be numbered without a gap to be steps if the source does not say
// so.
const leastCounted = 3

// counted reports whether the numbers of regions follow one another: those of iterations do, those of overloads or
// templates mostly do not.
func counted(of map[trace.RegionID]bool, regions []trace.Region, stem int) bool {
	if len(of) < leastCounted || stem == 0 {
		return false
	}
	numbers := make([]int, 0, len(of))
	for r := range of {
		n, err := strconv.Atoi(regions[r].Name[stem:])
		if err != nil {
			return false
		}
		numbers = append(numbers, n)
	}
	return slices.Max(numbers)-slices.Min(numbers) == len(numbers)-1
}

// iterations looks for the loop: regions are taken by name.
func iterations(uses []Use, regions []trace.Region, units int, length trace.Time) *Marker {
	type loop struct {
		regions []trace.RegionID
		calls   map[int32]int64
		cover   trace.Time
	}
	// First the sums, which tell for most regions that they are no loop.
	cover := make([]trace.Time, len(regions))
	for i := range uses {
		if u := &uses[i]; u.Calls >= 2 && u.Calls <= mostCalls {
			cover[u.Region] += u.Inclusive
		}
	}
	whole := float64(length) * float64(max(units, 1))
	sums := map[string]trace.Time{}
	for r, t := range cover {
		if t > 0 {
			sums[regions[r].Name] += t
		}
	}
	wanted := make([]bool, len(regions))
	for r := range regions {
		switch regions[r].Role {
		case trace.RoleCompute, trace.RoleIO, trace.RoleAnnotation:
			wanted[r] = cover[r] > 0 && !trace.Inferred(&regions[r]) &&
				float64(sums[regions[r].Name]) >= leastCover*whole
		}
	}
	byName := map[string]*loop{}
	for i := range uses {
		u := &uses[i]
		if !wanted[u.Region] || u.Calls < 2 || u.Calls > mostCalls {
			continue
		}
		name := regions[u.Region].Name
		l := byName[name]
		if l == nil {
			l = &loop{calls: map[int32]int64{}}
			byName[name] = l
		}
		if !slices.Contains(l.regions, u.Region) {
			l.regions = append(l.regions, u.Region)
		}
		l.calls[u.Unit] += u.Calls
		l.cover += u.Inclusive
	}
	names := make([]string, 0, len(byName))
	for n := range byName {
		names = append(names, n)
	}
	slices.Sort(names)
	var best *loop
	var by string
	for _, n := range names {
		l := byName[n]
		if part := float64(l.cover) / whole; equal(l.calls) < mostUnits*float64(units) || part < leastCover ||
			part > 1 {
			continue
		}
		if best == nil || l.cover > best.cover {
			best, by = l, n
		}
	}
	if best == nil {
		return nil
	}
	slices.Sort(best.regions)
	return &Marker{Regions: best.regions, By: by}
}

// equal is how many units have the commonest number of calls.
func equal(calls map[int32]int64) float64 {
	counts := map[int64]int{}
	most := 0
	for _, c := range calls {
		counts[c]++
		most = max(most, counts[c])
	}
	return float64(most)
}
