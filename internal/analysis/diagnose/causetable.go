package diagnose

// The table of causes and of those who waited, for the picture of the view findings.

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A CauseTable is the budget of waiting for a picture: causes by those who waited.
type CauseTable struct {
	Causes         []CauseRow
	Units          []trace.LocationID // those who wait
	Names          []string
	Machine        []int32 // of a unit, counted from 0; -1 for none
	Machines       []string
	Caused, Waited []trace.Time // by unit
	Waiting        trace.Time
	Untold         bool // a profile has no waits
	All            int  // causes, with those that are not listed
	Unexplained    trace.Time
}

// A CauseRow is one cause at one location, with its waiters.
type CauseRow struct {
	Label   string
	Cause   string // the kind of the finding that reports it, else how it was waited
	At      trace.LocationID
	Regions []trace.RegionID
	Time    trace.Time
	Direct  trace.Time   // of it, waited for this location itself
	Waiters []trace.Time // by unit
}

// mostCauses is the number of lines that a picture has.
const mostCauses = 60

// causeTableOf makes the table to draw: causes of one unit and region together.
func causeTableOf(c *diagnosis) CauseTable {
	a := c.accounts
	if c.charged != nil && !slices.Equal(c.charged.columns, c.units) {
		l := CauseTable{Units: c.charged.columns, Machine: make([]int32, len(c.charged.columns))}
		for _, id := range l.Units {
			l.Names = append(l.Names, c.tree.Name[id])
		}
		l.Caused, l.Waited = make([]trace.Time, len(l.Units)), make([]trace.Time, len(l.Units))
		l.fill(c)
		return l
	}
	l := CauseTable{Units: c.units, Names: c.names, Caused: make([]trace.Time, len(c.units)),
		Waited: make([]trace.Time, len(c.units)), Machine: make([]int32, len(c.units))}
	l.Waiting, l.Unexplained = a.waiting()
	last := trace.NoLocation
	for u, id := range c.units {
		l.Machine[u] = -1
		for up := id; up != trace.NoLocation; up = c.tree.Parent[up] {
			if c.tree.Kind[up] == trace.KindMachine {
				if up != last {
					last = up
					l.Machines = append(l.Machines, c.tree.Name[up])
				}
				l.Machine[u] = int32(len(l.Machines)) - 1
				break
			}
		}
	}
	if c.charged != nil {
		l.fill(c)
		return l
	}
	if a.result == nil {
		return l
	}
	l.Unexplained -= c.toldUnrecorded()
	index := map[[2]int32]int{}
	alone := len(a.unit) == len(c.units) // each unit is one actor: no two rows are one line
	for _, r := range slices.Concat(eachPart(a.result.Rows, c.explainedOf)...) {
		u := a.unit[r.Actor]
		l.Caused[u] += r.Caused()
		if alone && len(l.Causes) == mostCauses {
			l.All++
			continue
		}
		k, ok := index[[2]int32{u, r.Region}]
		if !ok {
			index[[2]int32{u, r.Region}] = len(l.Causes)
			if l.All++; len(l.Causes) == mostCauses {
				index[[2]int32{u, r.Region}] = -1
				continue
			}
			k = len(l.Causes)
			cause := string(c.told[causeKey{r.Actor, r.Region}])
			if cause == "" {
				cause = mainKind(r).String()
			}
			l.Causes = append(l.Causes,
				CauseRow{Label: c.names[u] + " · " + words.Middle(a.regionNames[r.Region]), Cause: cause,
					At:      c.units[u],
					Regions: a.ids[r.Region], Waiters: make([]trace.Time, len(c.units))})
		}
		if k < 0 {
			continue
		}
		row := &l.Causes[k]
		row.Time += r.Caused()
		for _, t := range r.Direct {
			row.Direct += t
		}
		for v, t := range r.Waiters.All() {
			if at := v * a.result.Fold; at < len(a.unit) {
				row.Waiters[a.unit[at]] += t
			}
		}
	}
	// parts of a unit are one line
	slices.SortStableFunc(l.Causes, func(x, y CauseRow) int { return cmp.Compare(y.Time, x.Time) })
	for i, t := range a.result.Waited {
		l.Waited[a.unit[i/(len(a.result.Waited)/len(a.unit))]] += t
	}
	return l
}

// explainedOf returns those of some rows of the budget that are explained.
func (c *diagnosis) explainedOf(rows []budget.Row) (out []*budget.Row) {
	for i := range rows {
		if c.explained(&rows[i]) {
			out = append(out, &rows[i])
		}
	}
	return out
}

// fill takes the causes that were charged one by one.
func (l *CauseTable) fill(c *diagnosis) {
	l.Waiting, l.Unexplained = c.charged.Waiting, c.charged.left()
	for _, r := range c.charged.causes(c) {
		u := c.charged.column(c.tree, r.Location)
		if u >= 0 {
			l.Caused[u] += r.Time
		}
		name := c.tree.Name[r.Location]
		if u >= 0 {
			name = l.Names[u]
		}
		if name != r.Region {
			name += " · " + words.Middle(r.Region)
		}
		row := CauseRow{Label: name, Cause: r.Cause, At: r.Location, Time: r.Time, Direct: r.Direct,
			Waiters: make([]trace.Time, len(l.Units))}
		for v, t := range r.victims {
			row.Waiters[v] += t
			l.Waited[v] += t
		}
		if l.All++; len(l.Causes) < mostCauses {
			l.Causes = append(l.Causes, row)
		}
	}
}
