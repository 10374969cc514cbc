package diagnose

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

// waitedByOthers names the evidence of what a fault costs.
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
	return !c.profile && !c.untimed && !c.spans && len(c.processors) == 0 && c.peers()
}

// A ledger is a budget of waiting whose rows are charged one by one: of runs of processors
// and of GPUs, where nobody waits in a call. What is not charged is unexplained.
type ledger struct {
	Accounts
	columns []trace.LocationID // those who wait
	rows    []Cause
	outside trace.Time // of GPUs, before their first work and after their last: no idleness
}

// charge explains some of the waiting, at most what is left. Victims are by column.
func (s *ledger) charge(kind finding.Kind, at trace.LocationID, region string, t trace.Time,
	victims map[int32]trace.Time) {
	if t = min(t, s.left()); t > 0 {
		s.rows = append(s.rows,
			Cause{Cause: string(kind), Location: at, Region: region, Time: t, Direct: t, victims: victims})
	}
}

// take charges what rules have charged to units.
func (s *ledger) take(list []Cause) {
	for _, x := range list {
		s.charge(finding.Kind(x.Cause), x.Location, x.Region, x.Time, x.victims)
	}
}

// left is what is not explained yet.
func (s *ledger) left() trace.Time {
	left := s.Waiting
	for i := range s.rows {
		left -= s.rows[i].Time
	}
	return left
}

// column is where a location, or what it belongs to, is among those who wait; -1.
func (s *ledger) column(t *store.Tree, at trace.LocationID) int32 {
	for up := at; up != trace.NoLocation; up = t.Parent[up] {
		if u := slices.Index(s.columns, up); u >= 0 {
			return int32(u)
		}
	}
	return -1
}

// causes gives the rows, most first, those of one location and region together.
func (s *ledger) causes(c *diagnosis) []Cause {
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

// explained reports whether a row of the budget has a known cause: somebody's doing, or time without records that a
// finding tells of.
func (c *diagnosis) explained(r *budget.Row) bool {
	return r.Explained() || c.told[causeKey{r.Actor, r.Region}] != ""
}

// toldUnrecorded is what was waited for time without records that findings tell of.
func (c *diagnosis) toldUnrecorded() (sum trace.Time) {
	for i := range c.accounts.result.Rows {
		if r := &c.accounts.result.Rows[i]; !r.Explained() && c.explained(r) {
			sum += r.Caused()
		}
	}
	return sum
}

// causesOf gives the budget of waiting: rows that are explained, most first, and the rest.
func causesOf(c *diagnosis) ([]Cause, trace.Time, Accounts) {
	a := c.accounts
	all, unexplained := a.waiting()
	out := []Cause{}
	if c.ledger != nil {
		return c.ledger.causes(c), c.ledger.left(), c.ledger.Accounts
	}
	if a.result == nil {
		return out, unexplained, sumsOf(c, all)
	}
	unexplained -= c.toldUnrecorded()
	for i := range a.result.Rows {
		r := &a.result.Rows[i]
		if !c.explained(r) {
			continue
		}
		id := a.actors[r.Actor]
		told := string(c.told[causeKey{r.Actor, r.Region}])
		cause := told
		if cause == "" {
			cause = mainKind(r).String()
		}
		direct := trace.Time(0)
		for _, t := range r.Direct {
			direct += t
		}
		out = append(out,
			Cause{Cause: cause, Location: id, Path: c.tree.Path(id), Region: a.regionNames[r.Region],
				Finding: told, Time: r.Caused(),
				Share: float64(r.Caused()) / float64(all), Direct: direct})
	}
	return out, unexplained, sumsOf(c, all)
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

// restOf is what is left of a time; of one that was too long for a number of 64 bits, no less than nothing.
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

// A Cause is what one location in one region made others wait, in ns added up over those
// who waited. Cause is the kind of the finding that tells of it, else how it was waited.
type Cause struct {
	Cause    string           `json:"cause"`
	Location trace.LocationID `json:"location"`
	Path     string           `json:"path"`
	Region   string           `json:"region"`
	Finding  string           `json:"finding"` // the kind of the finding that tells of it; empty: none does
	Time     trace.Time       `json:"time"`
	Share    float64          `json:"share"` // of all waiting
	// Direct is the part that others waited for this location itself; the rest was passed on
	// by others that waited.
	Direct trace.Time `json:"direct"`

	victims map[int32]trace.Time // what is known of who waited, by column of a ledger
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
	Transfer    trace.Time `json:"transfer"` // communication that nobody waited for another in
	Rest        trace.Time `json:"rest"`     // overhead, and time in which nothing is recorded
}
