package diagnose

// Fault: threads wait for one that holds a lock.

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/waiting"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// locked: threads wait for one that holds a lock.
func (a *culprits) locked() error {
	f := a.claim(func(r *budget.Row) bool { return 2*r.Of(budget.Lock) > r.Caused() })
	f.actors = a.actorsOf(f)
	if !a.grave(f) {
		a.give(f)
		return nil
	}
	return a.tell(f, finding.Lock)
}

// longHolder is the part of a lock's cost from which on its holder is named.
const longHolder = 0.5

// tellLock words waiting for locks: their holders, and the work done meanwhile. It returns the units to
// blame.
func (a *culprits) tellLock(f *fault, n *finding.Finding) (blamed []int32) {
	held, cost := map[int32]trace.Time{}, map[int32]trace.Time{} // by actor
	in := map[int32]trace.Time{}
	for _, r := range f.rows {
		cost[r.Actor] += r.Caused()
		in[r.Region] += r.Caused()
	}
	top := int32(-1)
	for x, t := range cost {
		if t*100 >= f.lost {
			held[x] = t
		}
		if top < 0 || t > cost[top] || t == cost[top] && x < top {
			top = x
		}
	}
	share := float64(cost[top]) / float64(f.lost)
	who, region, waits := a.tree.Name[a.accounts.actors[top]], words.Middle(a.accounts.regionNames[f.cause()]),
		a.lockCalls()
	each := "thread"
	if k := a.tree.Kind[a.accounts.actors[top]]; k != "" {
		each = string(k)
	}
	n.View, n.Options = "timeline", nil
	n.Selection.Regions = a.accounts.ids[f.cause()]
	n.Evidence = append(n.Evidence, finding.Evidence{Name: "hold it", Value: float64(len(held)), Unit: "count"},
		finding.Evidence{Name: "caused by " + who + ", the most of one", Value: share, Unit: "share"},
		finding.Evidence{Name: "of it in " + a.accounts.regionNames[f.cause()], Value: float64(in[f.cause()]),
			Unit: "ns"})
	if share >= longHolder {
		n.Text = fmt.Sprintf("%s holds a lock for a long time: others wait a total of %s%s, %s of that for %s, "+
			"mostly while it runs %s.", who, words.FormatTime(f.lost), waits, words.FormatShare(share), who, region)
		n.Selection.Locations = []trace.LocationID{a.accounts.actors[top]}
		return []int32{a.accounts.unit[top]}
	}
	n.Text = fmt.Sprintf("Lock contention: %ss wait a total of %s for locks%s. %d of them hold a lock in turn, mostly "+
		"while they run %s. No %s causes more than %s of that.", each, words.FormatTime(f.lost), waits, len(held),
		region,
		each, words.FormatShare(share))
	return nil
}

// lockCalls names the region in which locks are waited for most.
func (a *culprits) lockCalls() string {
	best := int32(-1)
	for k, t := range a.accounts.result.InCalls {
		if ids := a.accounts.ids[k]; len(ids) > 0 && t > 0 && a.locks(ids[0]) &&
			(best < 0 || t > a.accounts.result.InCalls[best]) {
			best = int32(k)
		}
	}
	if best < 0 {
		return ""
	}
	return " in " + words.Middle(a.accounts.regionNames[best])
}

func (a *culprits) locks(r trace.RegionID) bool {
	h := waiting.LockOf(&a.regions[r])
	return h == waiting.Acquires || h == waiting.Critical
}
