package diagnose

// Fault: units start up or shut down while others wait for them.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/orderstat"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// starts reports regions of start-up and shutdown.
func (a *culprits) starts(k int32) bool { return a.start[k] }

func isStart(name string, role trace.Role) bool {
	name = strings.ToLower(name)
	if strings.HasSuffix(name, "_initialized") || strings.HasSuffix(name, "_finalized") { // they ask
		return false
	}
	for _, s := range []string{"mpi_init", "mpi_finalize", "shmem_init", "shmem_finalize", "gaspi_proc_init",
		"gaspi_proc_term", "nccl_init", "ncclcomminit", "startup", "start-up", "start_up", "shutdown"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return (role == trace.RoleOverhead || role.Busy()) &&
		(name == "init" || name == "initialize" || name == "initialise" || name == "initialization" ||
			name == "initializing" || name == "setup" || name == "finalize" || name == "load_modules")
}

// starting: others wait for units that start up or shut down.
func (a *culprits) starting() error {
	f := a.claim(func(r *budget.Row) bool { return a.starts(r.Region) })
	if !a.grave(f) {
		a.give(f)
		return nil
	}
	a.wholeGroupStarts(f)
	return a.tell(f, finding.StartUp)
}

// beginning: others wait for units whose first record comes after theirs. The wait is before that record: what such a
// unit does later is another matter.
func (a *culprits) beginning() error {
	if len(a.units) < 3 || len(a.units) > mostUnits || a.untimed {
		return nil
	}
	if !slices.ContainsFunc(a.rows, func(r *budget.Row) bool { return r.Region == budget.Nothing }) {
		return nil
	}
	first, err := firstRecords(a.diagnosis)
	if err != nil || first == nil {
		return err
	}
	a.first = first
	begins := first.times()
	usual := orderstat.Median(begins)
	f := a.claim(func(r *budget.Row) bool {
		u := a.accounts.unit[r.Actor]
		if r.Region != budget.Nothing || begins[u]-usual < finding.MediumShare*float64(a.length) {
			return false
		}
		before, all := trace.Time(0), trace.Time(0)
		for i, t := range r.Series.All() {
			if all += t; float64(i)*float64(a.length) < begins[u]*budget.Bins {
				before += t
			}
		}
		return before*2 > all // a wait may go on while the unit does its first work
	})
	if !a.grave(f) || 2*len(f.units) > len(a.units) {
		a.give(f)
		return nil
	}
	return a.tell(f, finding.StartUp)
}

// lateWords describes how long after the others units begin, and notes it as evidence.
func (a *culprits) lateWords(units []int32, n *finding.Finding) string {
	first := a.first.times()
	late := -orderstat.Median(first)
	for _, u := range units {
		late += first[u] / float64(len(units))
	}
	n.Evidence = append([]finding.Evidence{{Name: "first record after that of the others, median", Value: late,
		Unit: "ns", From: a.apartQueryOf(a.first, units, false)}}, n.Evidence...)
	return "about " + words.FormatDuration(late) + " after the others"
}

// firstRecords finds the time of each unit's first record from the start of the window. It returns nil if some have
// none.
func firstRecords(c *diagnosis) (*edges, error) {
	var roles []trace.Role
	for r := range trace.Role(trace.RoleCount) {
		if r != trace.RoleNone {
			roles = append(roles, r)
		}
	}
	e, err := c.edgesIn(binLevel(c), roles)
	if err != nil || e == nil || slices.Contains(e.first, -1) {
		return nil, err
	}
	return c.finer(e)
}

// wholeGroupStarts blames all that start up as long as the last: one of a slow node is waited for, and without it the
// next would be.
func (a *culprits) wholeGroupStarts(f *fault) {
	values := make([]float64, len(a.units))
	for u, t := range a.accounts.work[f.cause()] {
		values[u] = float64(t)
	}
	group := finding.Upper(values)
	in := a.among(group)
	for _, u := range f.units {
		if !in[u] {
			return
		}
	}
	if 2*len(group) <= len(a.units) {
		f.units = group
	}
}

// findUnevenStart: of a profile, units on which starting and ending takes longer than on the
// others; in a profile no record shows who waited for it.
func findUnevenStart(c *diagnosis) error {
	if !c.compared || !c.profile {
		return nil
	}
	a := newCulprits(c)
	values := make([]float64, len(c.units))
	var ids []trace.RegionID
	for k, times := range c.accounts.work {
		if times != nil && a.starts(int32(k)) {
			ids = append(ids, c.accounts.ids[k]...)
			for u, t := range times {
				values[u] += float64(t)
			}
		}
	}
	units := finding.Upper(values)
	if len(units) == 0 || len(units)*2 > len(values) {
		return nil
	}
	in, mean := map[int32]bool{}, 0.0
	for _, u := range units {
		in[u] = true
		mean += values[u] / float64(len(units))
	}
	var others []float64
	for u, v := range values {
		if !in[int32(u)] {
			others = append(others, v)
		}
	}
	base := orderstat.Median(others)
	hit := (mean - base) / float64(c.length)
	if level := finding.LevelOf(hit); level != finding.Low {
		c.add(finding.Finding{Kind: finding.StartUp, Severity: level,
			Lost: trace.Time((mean - base) * float64(len(units))), Hit: hit, View: "boxprofile",
			Options: map[string][]string{"over": {"locations"}},
			Text: fmt.Sprintf("%s %s longer to start and end: %s against %s on the others (median).",
				capital(c.named(units)), words.Plural(len(units), "takes", "take"), c.amount(mean), c.amount(base)),
			Evidence: []finding.Evidence{{Name: "starting and ending", Value: mean, Unit: c.unit,
				From: c.unitsQuery("avg", "exclusive", c.times(ids), units)},
				{Name: "starting and ending on the others, median", Value: base, Unit: c.unit,
					From: c.unitsQuery("median", "exclusive", c.times(ids), c.allUnits(units...))}},
			Selection: finding.Selection{Locations: c.locations(units)}}, units)
	}
	return nil
}

// startsOrEnds reports regions in which ranks meet though their role is overhead:
// how long they take is the doing of others.
func startsOrEnds(g *trace.Region) bool {
	name := strings.ToLower(g.Name)
	return g.Role == trace.RoleOverhead && (strings.Contains(name, "init") || strings.Contains(name, "finalize"))
}
