package diagnose

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// silentShare is the part of all time from which waiting is never passed over in silence.
const silentShare = 0.05

// findUnexplained: waiting that no finding tells. It says who caused most of it, or else who waits most, and where.
func findUnexplained(c *diagnosis) {
	if c.profile || c.untimed || c.spans {
		return
	}
	causes, rest, accounts := causesOf(c)
	untold, told := rest, trace.Time(0)
	gpus := c.alike.what == "GPUs"
	if c.ledger != nil {
		untold = max(untold-c.ledger.outside, 0)
	}
	unknown := untold
	var top *Cause
	for i := range causes {
		x := &causes[i]
		if c.tells(finding.Kind(x.Cause)) || gpus && slices.ContainsFunc(idleTold, c.tells) {
			continue
		}
		untold += x.Time
		if top == nil || x.Time > top.Time {
			top = x
		}
	}
	for i := range c.list {
		if c.list[i].Severity != finding.Low {
			told += c.list[i].Lost
		}
	}
	if float64(untold) < silentShare*float64(accounts.Time) || 2*told > untold {
		return
	}
	share := float64(untold) / float64(accounts.Time)
	f := finding.Finding{Kind: finding.Unexplained, Severity: finding.Medium, Lost: untold, Hit: share, Share: share,
		ShareOf: "all time", View: "findings", Options: map[string][]string{"picture": {"causes"}},
		Evidence: []finding.Evidence{{Name: "waiting that no finding tells", Value: float64(untold), Unit: "ns"},
			{Name: "share of the time", Value: share, Unit: "share"}}}
	why := "and no cause stands out"
	if 2*unknown > untold {
		why = "and nothing recorded explains it"
	}
	f.Text = fmt.Sprintf("Unexplained: %s of all time is waiting (%s), %s.", words.FormatShare(share),
		words.FormatTime(untold), why)
	if top != nil && 4*top.Time > untold {
		f.Text += fmt.Sprintf(" The largest part is for %s in %s (%s).", c.tree.Name[top.Location],
			words.Middle(top.Region), words.FormatTime(top.Time))
		f.Selection.Locations = []trace.LocationID{top.Location}
		f.Evidence = append(f.Evidence, finding.Evidence{Name: "largest part", Value: float64(top.Time), Unit: "ns"})
	} else if !gpus {
		c.tellLongestWait(&f)
	}
	c.add(f, nil)
}

// idleTold are the kinds that tell why GPUs idle.
var idleTold = []finding.Kind{finding.InputBound, finding.HostBound, finding.LaunchBound, finding.SynchronizationBound,
	finding.GPUIdle}

// tells reports whether a finding above low is of a kind.
func (c *diagnosis) tells(k finding.Kind) bool {
	return slices.ContainsFunc(c.list,
		func(f finding.Finding) bool { return f.Kind == k && f.Severity != finding.Low })
}

// tellLongestWait says where most time is waited.
func (c *diagnosis) tellLongestWait(f *finding.Finding) {
	best, most := trace.NoRegion, 0.0
	sums := make([]float64, len(c.regions))
	for i, r := range c.table.region {
		switch c.regions[r].Role {
		case trace.RoleCommunication, trace.RoleSynchronization, trace.RoleIdle:
			if sums[r] += c.table.exclusive[i]; sums[r] > most {
				best, most = r, sums[r]
			}
		}
	}
	if best == trace.NoRegion {
		return
	}
	ids := []trace.RegionID{best}
	e := finding.Evidence{Name: "time in " + c.regions[best].Name, Value: most, Unit: "ns",
		From: sumQuery("total(exclusive)", c.times(ids))}
	f.Text += fmt.Sprintf(" Most of it is in %s (%s).", words.Middle(c.regions[best].Name), Format(e))
	f.Evidence, f.Selection.Regions = append(f.Evidence, e), ids
}
