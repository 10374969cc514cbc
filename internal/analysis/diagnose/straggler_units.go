package diagnose

// Fault: units are busy longer than the others, in runs whose waits are not followed one by one.

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// workClasses are the kinds of locations that most units have, with their load.
func workClasses(c *diagnosis) (names []string, loads map[string]*finding.Load) {
	n := len(c.phases.List)
	loads = map[string]*finding.Load{}
	units := map[string]map[int32]bool{}
	for row, id := range c.rows {
		k, u := c.class[row], c.unitOf[id]
		l := loads[k]
		if l == nil {
			l = &finding.Load{Units: len(c.units), Phases: n, Busy: make([]trace.Time, len(c.units)*n),
				Sliced: c.phases.Sliced}
			loads[k], units[k] = l, map[int32]bool{}
			names = append(names, k)
		}
		units[k][u] = true
		for p := range n {
			l.Busy[int(u)*n+p] += c.cells.Busy[row*n+p]
		}
	}
	names = slices.DeleteFunc(names, func(k string) bool { return 4*len(units[k]) < 3*len(c.units) })
	slices.Sort(names)
	return names, loads
}

// findStragglers: units that are busy longer while the others wait for them.
func findStragglers(c *diagnosis) error {
	if !c.summed() {
		return nil
	}
	if len(c.units) < 4 || c.budget.Sum() == 0 {
		return nil
	}
	names, loads := workClasses(c)
	worth := map[string]trace.Time{}
	for _, k := range names {
		trial := &finding.Budget{Units: c.budget.Units, Phases: c.budget.Phases, Left: slices.Clone(c.budget.Left)}
		for _, s := range finding.Stragglers(loads[k], trial) {
			worth[k] = max(worth[k], s.Lost)
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(worth[b], worth[a]) })
	asked := 0
	for _, k := range names {
		if worth[k] == 0 {
			continue
		}
		list := finding.Stragglers(loads[k], c.budget)
		slices.SortStableFunc(list, func(a, b finding.Straggle) int { return cmp.Compare(b.Lost, a.Lost) })
		for i := range list {
			s := &list[i]
			hit := float64(s.Lost) / (float64(len(s.Waiters)) * float64(c.length))
			if len(s.Waiters) == 0 || finding.LevelOf(hit) == finding.Low ||
				float64(s.Lost) < leastShare*float64(c.length)*float64(len(c.units)) || c.known(s.Units) || asked >= 3 {
				continue
			}
			asked++
			if err := wordStraggle(c, s, k, loads[k], hit); err != nil {
				return err
			}
		}
	}
	return nil
}

// wordStraggle words one group of stragglers.
func wordStraggle(c *diagnosis, s *finding.Straggle, class string, l *finding.Load, hit float64) error {
	t, err := c.totalsOf(s.Phases)
	if err != nil {
		return err
	}
	r, ok := c.reasons(t).explain(s.Units, class, true)
	if !ok {
		r = busyReason(l, s)
	}
	waits, _, _ := c.reasons(t).waitsIn(s.Units, nil)
	text := fmt.Sprintf("%s %s the other %s%s: %s. The others wait a total of %s%s.",
		capital(c.named(s.Units)), words.Plural(len(s.Units), "holds up", "hold up"),
		words.Thousands(int64(len(c.units)-len(s.Units))), c.phaseWords(s.Phases),
		r.against(len(s.Units)), words.FormatTime(s.Lost), in(waits))
	begin, end := c.phaseWindow(s.Phases)
	c.charge(finding.Straggler, c.locations(s.Units), r.what, s.Lost, s.Waiters)
	c.add(finding.Finding{
		Kind: finding.Straggler, Severity: finding.LevelOf(hit), Lost: s.Lost, Hit: hit, Text: text, View: "phases",
		Options: c.phaseOption(),
		Selection: finding.Selection{Begin: begin, End: end, Locations: c.locations(s.Units),
			Regions: []trace.RegionID{}},
		Phases: c.phaseNames(s.Phases),
		Evidence: append(r.evidence(), finding.Evidence{Name: waitedByOthers, Value: float64(s.Lost), Unit: "ns",
			From: straggleQuery(c, s, class, l)},
			finding.Evidence{Name: "units that wait", Value: float64(len(s.Waiters)), Unit: "count"},
			finding.Evidence{Name: "others in all", Value: float64(len(c.units) - len(s.Units)), Unit: "count",
				From: c.countQuery(c.allUnits(s.Units...))},
			finding.Evidence{Name: "distance from the others (robust standard deviations)", Value: s.Score}),
	}, s.Units)
	c.gainWithout(s, l)
	return nil
}

// straggleQuery asks for the waiting of others in the phases of a straggler, at most the time by which it is longer
// busy; "" where an earlier finding has some of it.
func straggleQuery(c *diagnosis, s *finding.Straggle, class string, l *finding.Load) string {
	phases := c.phaseTable()
	if phases == "" || len(s.Phases) > mostNumbers || len(c.units) > mostNumbers {
		return ""
	}
	in, sum := c.among(s.Units), trace.Time(0)
	for _, k := range s.Phases {
		top := trace.Time(0)
		for _, u := range s.Units {
			top = max(top, l.At(int(u), k))
		}
		for u := range c.units {
			if !in[u] {
				sum += max(min(c.whole[u*l.Phases+k], top-l.At(u, k)), 0)
			}
		}
	}
	if sum != s.Lost {
		return ""
	}
	blamed := numbers(c.locations(s.Units))
	return fmt.Sprintf("with p as (select * from %s where kind = %s and number in (%s)), s as (select number, "+
		"max(busy) as top from p where unit in (%s) group by 1) select total(max(min(waiting, top - busy), 0)) from p "+
		"join s using (number) where unit not in (%s)", phases, quoted(class), places(s.Phases), blamed, blamed)
}

// places writes the numbers of phases.
func places(list []int) string {
	out := make([]string, len(list))
	for i, k := range list {
		out[i] = fmt.Sprint(k)
	}
	return strings.Join(out, ", ")
}

// busyReason is the busy time as such.
func busyReason(l *finding.Load, s *finding.Straggle) reason {
	in := map[int32]bool{}
	for _, u := range s.Units {
		in[u] = true
	}
	r := reason{what: "work"}
	var others []float64
	for u := range l.Units {
		sum := trace.Time(0)
		for _, k := range s.Phases {
			sum += l.At(u, k)
		}
		if in[int32(u)] {
			r.mean += float64(sum) / float64(len(s.Units))
			continue
		}
		others = append(others, float64(sum))
	}
	slices.Sort(others)
	r.low, r.high, r.median = others[0], others[len(others)-1], orderstat.Median(others)
	return r
}
