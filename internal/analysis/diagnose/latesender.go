package diagnose

// Fault: receivers wait for late senders, or senders for late receivers.

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// messages reports whether others wait for messages rather than at collectives. Waits at
// the end of the run show nothing of how they came about.
func (f *fault) messages() bool {
	return f.kinds[budget.LateSender]+f.kinds[budget.LateReceiver] > 2*(f.kinds[budget.Collective]+f.kinds[budget.Join])
}

// byMessages returns the end of messages that is late.
func (a *culprits) byMessages(f *fault) finding.Kind {
	if f.kinds[budget.LateReceiver] > f.kinds[budget.LateSender] {
		return finding.LateReceiver
	}
	return finding.LateSender
}

// A lateness is the waiting that one unit causes by late messages.
type lateness struct {
	unit     int32
	receiver bool
	own      trace.Time
	skew     trace.Time
	victims  map[int32]trace.Time
	regions  map[trace.RegionID]trace.Time
	phases   map[int]trace.Time
	times    int
}

const (
	// mostLate is how many late senders and receivers are named.
	mostLate = 3
	// leastShare is the part of all time that a late message must cost to be grave.
	leastShare = 0.001
	// ownShare is the part of a wait that must be the sender's own work.
	ownShare = 0.5
)

// findLateMessages: receivers that wait for late senders, and the other way round. Only
// waits that are the late one's own doing count, see package waiting.
func findLateMessages(c *diagnosis) error {
	if !c.summed() {
		return nil
	}
	if c.untimed {
		return nil
	}
	waits, err := c.pairs(c.ctx)
	if err != nil || waits == nil {
		return err
	}
	type key struct {
		unit     int32
		receiver bool
	}
	by := map[key]*lateness{}
	for i := range waits.Late {
		w := &waits.Late[i]
		if float64(w.Own) < ownShare*float64(w.Skew) {
			continue
		}
		x := by[key{w.Cause, w.Receiver}]
		if x == nil {
			x = &lateness{unit: w.Cause, receiver: w.Receiver, victims: map[int32]trace.Time{},
				regions: map[trace.RegionID]trace.Time{}, phases: map[int]trace.Time{}}
			by[key{w.Cause, w.Receiver}] = x
		}
		x.add(w, c.phases.Find(int(w.Waiter), w.Begin))
	}
	list := make([]*lateness, 0, len(by))
	for _, x := range by {
		x.drop(c.length)
		list = append(list, x)
	}
	slices.SortFunc(list, func(a, b *lateness) int {
		return cmp.Or(cmp.Compare(b.own, a.own), cmp.Compare(a.unit, b.unit),
			cmp.Compare(boolInt(a.receiver), boolInt(b.receiver)))
	})
	named := 0
	for _, x := range list {
		if named == mostLate {
			break
		}
		if c.blamed[x.unit] || len(x.victims) == 0 {
			continue
		}
		if ok, err := wordLate(c, x); err != nil {
			return err
		} else if ok {
			named++
		}
	}
	return nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (x *lateness) add(w *waiting.Late, phase int) {
	x.own += w.Own
	x.skew += w.Skew
	x.times++
	x.victims[w.Waiter] += w.Own
	x.regions[w.Region] += w.Own
	if phase >= 0 {
		x.phases[phase] += w.Own
	}
}

// drop forgets victims that lose hardly anything, so that one sentence names those
// who do.
func (x *lateness) drop(length trace.Time) {
	most := trace.Time(0)
	for _, t := range x.victims {
		most = max(most, t)
	}
	for v, t := range x.victims {
		if t*4 < most {
			x.own -= t
			delete(x.victims, v)
		}
	}
}

// wordLate words one late sender or receiver; false if it costs too little.
func wordLate(c *diagnosis, x *lateness) (bool, error) {
	lost := trace.Time(float64(x.own) * c.scale())
	hit := float64(lost) / (float64(len(x.victims)) * float64(c.length))
	if finding.LevelOf(hit) == finding.Low {
		return false, nil
	}
	level := finding.LevelOf(hit)
	if float64(lost) < leastShare*float64(c.length)*float64(len(c.units)) {
		level = level.AtMost(finding.Medium) // a few of very many
	}
	victims := make([]int32, 0, len(x.victims))
	for v := range x.victims {
		victims = append(victims, v)
	}
	slices.Sort(victims)
	phases := mostOf(x.phases, x.own)
	t, err := c.totalsOf(phases)
	if err != nil {
		return false, err
	}
	units := []int32{x.unit}
	evidence := []finding.Evidence{{Name: waitedByOthers, Value: float64(lost), Unit: "ns"},
		{Name: "late messages", Value: float64(x.times), Unit: "count"}}
	why := ""
	if r, ok := c.reasons(t).explain(units, "", false); ok && r.clear() &&
		r.excess()*float64(len(victims)) > 0.25*float64(x.own) {
		why = ". Reason: " + r.against(1)
		evidence = append(evidence, r.evidence()...)
	}
	kind, what := finding.LateSender, "sends late"
	if x.receiver {
		kind, what = finding.LateReceiver, "receives late"
	}
	c.charge(kind, c.locations(units), before(c, most(x.regions)), lost, x.victims)
	begin, end := c.window.Begin, c.window.End
	if len(phases) > 0 {
		begin, end = c.phaseWindow(phases)
	}
	region := most(x.regions)
	text := fmt.Sprintf("%s %s%s: %s %s %s for it in %s%s.", capital(c.named(units)), what, c.phaseWords(phases),
		c.named(victims), words.Plural(len(victims), "waits", "wait"), words.FormatTime(lost),
		words.Middle(c.regions[region].Name),
		why)
	c.add(finding.Finding{Kind: kind, Severity: level, Lost: lost, Hit: hit, Text: text, View: "timeline",
		Phases: c.phaseNames(phases), Subjects: c.locations(units), Evidence: evidence,
		Selection: finding.Selection{Begin: begin, End: end, Locations: c.locations(append(victims, x.unit))}}, units)
	return true, nil
}

// mostOf returns the phases that hold nearly all of a sum, in order.
func mostOf(phases map[int]trace.Time, sum trace.Time) []int {
	var list []int
	for k, t := range phases {
		if float64(t) >= 0.1*float64(sum) {
			list = append(list, k)
		}
	}
	if len(list) == 0 {
		for k, t := range phases {
			if t > 0 {
				list = append(list, k)
			}
		}
	}
	slices.Sort(list)
	return list
}

// most is the region with the most time, the lowest of equal ones.
func most(m map[trace.RegionID]trace.Time) trace.RegionID {
	best := trace.NoRegion
	for r, t := range m {
		if best == trace.NoRegion || t > m[best] || t == m[best] && r < best {
			best = r
		}
	}
	return best
}
