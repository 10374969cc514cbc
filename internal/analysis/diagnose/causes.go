package diagnose

// Causes: which unit and region each part of the waiting is charged to.

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A causeKey is an actor and the number of a region.
type causeKey struct{ actor, region int32 }

// waitedByOthers names the evidence of the cost of a fault.
const waitedByOthers = "waited by others"

// open opens the accounts: explains waiting where times of different units can be compared.
func (c *diagnosis) open() (err error) {
	if !c.follows() {
		c.accounts = &accounts{}
		c.accounts.numberRegions(c.regions)
		c.accounts.chooseActors(c.facts)
		return c.accounts.sum(c.ctx, c.facts)
	}
	c.accounts, err = c.account(c.ctx)
	return err
}

// follows reports whether times of different units can be compared, so that waits can be followed.
func (c *diagnosis) follows() bool {
	return !c.profile && !c.untimed && !c.spans && len(c.processors) == 0 && (c.peers() || c.scheduled())
}

// A chargedBudget is a budget of waiting whose rows are charged one by one: for runs of processors and of GPUs,
// where waits are not calls. Waiting that is not charged is unexplained.
type chargedBudget struct {
	Accounts
	columns []trace.LocationID // those who wait
	rows    []Cause
}

// charge explains some of the waiting, at most the rest that is left. Waiters are by column.
func (s *chargedBudget) charge(kind finding.Kind, at trace.LocationID, region string, t trace.Time,
	victims map[int32]trace.Time) {
	if t = min(t, s.left()); t > 0 {
		s.rows = append(s.rows,
			Cause{Cause: string(kind), Location: at, Region: region, Time: t, Direct: t, victims: victims})
	}
}

// take adds the charges of rules to units.
func (s *chargedBudget) take(list []Cause) {
	for _, x := range list {
		s.charge(finding.Kind(x.Cause), x.Location, x.Region, x.Time, x.victims)
	}
}

// left returns the waiting that is not explained yet.
func (s *chargedBudget) left() trace.Time {
	left := s.Waiting
	for i := range s.rows {
		left -= s.rows[i].Time
	}
	return left
}

// column returns the column of a location or of its nearest ancestor that has one, or -1.
func (s *chargedBudget) column(t *store.Tree, at trace.LocationID) int32 {
	for up := at; up != trace.NoLocation; up = t.Parent[up] {
		if u := slices.Index(s.columns, up); u >= 0 {
			return int32(u)
		}
	}
	return -1
}

// causes returns the rows, most first, those of one location and region together.
func (s *chargedBudget) causes(c *diagnosis) []Cause {
	by := map[[2]string]int{}
	out := []Cause{}
	for _, r := range s.rows {
		r.Path = c.tree.Path(r.Location)
		key := [2]string{r.Path, r.Cause + "\n" + r.Region}
		if i, ok := by[key]; ok {
			out[i].Time += r.Time
			out[i].Direct += r.Direct
			for u, t := range r.victims {
				out[i].victims[u] += t
			}
			continue
		}
		by[key] = len(out)
		r.victims = maps.Clone(r.victims)
		if r.victims == nil {
			r.victims = map[int32]trace.Time{}
		}
		out = append(out, r)
	}
	for i := range out {
		out[i].Share = float64(out[i].Time) / float64(s.Waiting)
	}
	slices.SortStableFunc(out, func(a, b Cause) int { return cmp.Compare(b.Time, a.Time) })
	return out
}

// explained reports whether a row of the budget has a known cause: the doing of a location, or time without records
// that a finding reports.
func (c *diagnosis) explained(r *budget.Row) bool {
	return r.Explained() || c.told[causeKey{r.Actor, r.Region}] != ""
}

// toldUnrecorded is the waiting for time without records that findings report.
func (c *diagnosis) toldUnrecorded() (sum trace.Time) {
	for _, part := range eachPart(c.accounts.result.Rows, func(rows []budget.Row) (sum trace.Time) {
		for i := range rows {
			if r := &rows[i]; !r.Explained() && c.explained(r) {
				sum += r.Caused()
			}
		}
		return sum
	}) {
		sum += part
	}
	return sum
}

// ofHost are the kinds of idle time of GPUs by what the host does.
var ofHost = map[finding.Kind]bool{finding.LaunchBound: true, finding.SynchronizationBound: true, finding.GPUIdle: true}

// causesOf returns the budget of waiting: rows that are explained, most first, and the rest.
func causesOf(c *diagnosis) ([]Cause, trace.Time, Accounts) {
	a := c.accounts
	all, unexplained := a.waiting()
	out := []Cause{}
	if c.charged != nil {
		out = c.charged.causes(c)
		for i := range out {
			switch kind := finding.Kind(out[i].Cause); {
			case c.toldKind(kind):
				out[i].Finding = out[i].Cause
			case c.toldKind(finding.HostBound) && ofHost[kind]:
				out[i].Finding = string(finding.HostBound) // in the call that is named
			case c.toldKind(finding.SlowStep) && ofHost[kind]:
				out[i].Finding = string(finding.SlowStep) // it is in that step
			case len(c.processors) > 0 && c.toldKind(finding.IdleProcessors):
				out[i].Finding = string(finding.IdleProcessors)
			}
		}
		return c.coverRest(out), c.charged.left(), c.charged.Accounts
	}
	if a.result == nil {
		return out, unexplained, sumsOf(c, all)
	}
	unexplained -= c.toldUnrecorded()
	out = slices.Concat(eachPart(a.result.Rows, func(rows []budget.Row) []Cause {
		return causesOfRows(c, rows, float64(all))
	})...)
	if out == nil {
		out = []Cause{}
	}
	return c.coverRest(out), unexplained, sumsOf(c, all)
}

// causesOfRows returns those of some rows of the budget that are explained.
func causesOfRows(c *diagnosis, rows []budget.Row, all float64) []Cause {
	a := c.accounts
	out := make([]Cause, 0, len(rows))
	for i := range rows {
		r := &rows[i]
		told := string(c.told[causeKey{r.Actor, r.Region}])
		if told == "" && !r.Explained() {
			continue
		}
		id := a.actors[r.Actor]
		cause := told
		if cause == "" {
			cause = mainKind(r).String()
		}
		direct := trace.Time(0)
		for _, t := range r.Direct {
			direct += t
		}
		caused := r.Caused()
		out = append(out,
			Cause{Cause: cause, Location: id, Path: c.tree.Path(id), Region: a.regionNames[r.Region],
				Finding: told, Time: caused, Share: float64(caused) / all, Direct: direct})
	}
	return out
}

// coverRest notes that the finding of unexplained waiting covers causes that no other does, if there is one.
func (c *diagnosis) coverRest(list []Cause) []Cause {
	if c.toldKind(finding.Unexplained) {
		for i := range list {
			if list[i].Finding == "" {
				list[i].Finding = string(finding.Unexplained)
			}
		}
	}
	return list
}

// mainKind is the kind of most of a row's waits.
func mainKind(r *budget.Row) budget.Kind {
	best := budget.Kind(0)
	for k := range budget.Kind(budget.NumKinds) {
		if r.Of(k) > r.Of(best) {
			best = k
		}
	}
	return best
}

// restOf returns the rest of a time; at least 0 if the time was too long for 64 bits.
func restOf(time, rest trace.Time) trace.Time {
	if time == math.MaxInt64 {
		return max(rest, 0)
	}
	return rest
}

func sumsOf(c *diagnosis, waiting trace.Time) Accounts {
	a := c.accounts
	s := Accounts{Time: a.time, Work: a.busy, Waiting: waiting, Transfer: a.transfer()}
	s.Rest = restOf(s.Time, s.Time-s.Work-s.Waiting-s.Transfer)
	return s
}

// A Cause is the waiting that one location in one region caused to others, in ns, summed over the waiters.
// Cause is the kind of the finding that reports it, else how it was waited.
type Cause struct {
	Cause    string           `json:"cause"`
	Location trace.LocationID `json:"location"`
	Path     string           `json:"path"`
	Region   string           `json:"region"`
	Finding  string           `json:"finding"` // the kind of the finding that reports it; empty: none does
	Time     trace.Time       `json:"time"`
	Share    float64          `json:"share"` // of all waiting
	// Direct is the part that others waited for this location itself; the rest was passed on
	// by others that waited.
	Direct trace.Time `json:"direct"`

	victims map[int32]trace.Time // waiters, as far as known, by column of a chargedBudget
}

// Accounts are where the time of all locations went, in ns: Time = Work + Waiting +
// Transfer + Rest.
type Accounts struct {
	Time    trace.Time `json:"time"`
	Work    trace.Time `json:"work"`
	Waiting trace.Time `json:"waiting"`
	// Told is the part of Waiting whose cause is known, Unexplained the rest of it.
	Told        trace.Time `json:"told"`
	Unexplained trace.Time `json:"unexplained"`
	Transfer    trace.Time `json:"transfer"` // communication without waiting for another in
	Rest        trace.Time `json:"rest"`     // overhead, and time in which nothing is recorded
}
