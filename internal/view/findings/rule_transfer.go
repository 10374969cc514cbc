package findings

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// leastTransfer is the part of the time from which communication itself is told.
const leastTransfer = 0.1

// transfers: communication that takes long by itself, and others that wait for somebody who
// is in it. What is waited for a late one is not counted. Capacity is the time of all who
// also work; byName and ids are the times and regions of communication by name.
func (c *court) transfers(capacity float64, byName map[string]float64, ids map[string][]trace.RegionID) error {
	own := float64(c.books.transfer())
	passed := 0.0
	for i := range c.books.result.Rows {
		r := &c.books.result.Rows[i]
		if _, told := c.told[causeKey{r.Actor, r.Region}]; r.Explained() && !told && c.books.role[r.Region] == trace.RoleCommunication {
			passed += float64(r.Caused())
		}
	}
	hit := (own + passed) / capacity
	if hit < leastTransfer {
		return nil
	}
	for i := range c.books.result.Rows {
		r := &c.books.result.Rows[i]
		if k := (causeKey{r.Actor, r.Region}); r.Explained() && c.told[k] == "" && c.books.role[r.Region] == trace.RoleCommunication {
			c.told[k] = finding.Communication
		}
	}
	level := finding.Low
	switch {
	case hit >= highCommunication:
		level = finding.High
	case hit >= leastCommunication:
		level = finding.Medium
	}
	// What is left of each name when its waits are taken away.
	left := map[string]float64{}
	for name, t := range byName {
		left[name] = t
		for _, id := range ids[name] {
			left[name] -= float64(c.books.result.InCalls[c.books.number[id]])
			break // the books count by name
		}
	}
	names := slices.Sorted(maps.Keys(left))
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(left[b], left[a]) })
	text := fmt.Sprintf("Communication itself takes %s of the time", view.FormatShare(own/capacity))
	evidence := []finding.Evidence{{Name: "time in communication without waiting", Value: own, Unit: "ns"}, {Name: "share of the time", Value: own / capacity, Unit: "share"}, {Name: "waited for others that communicate", Value: passed, Unit: "ns"}}
	var regions []trace.RegionID
	for i, k := range names[:min(len(names), 3)] {
		if left[k] < 0.01*capacity && i > 0 {
			break
		}
		text += []string{", most in ", ", ", ", "}[i] + fmt.Sprintf("%s (%s)", middle(k), view.FormatShare(left[k]/capacity))
		evidence = append(evidence, finding.Evidence{Name: k + " without waiting", Value: left[k], Unit: "ns"}, finding.Evidence{Name: k + ", share of the time", Value: left[k] / capacity, Unit: "share"})
		regions = append(regions, ids[k]...)
	}
	if passed > 0.1*own {
		text += fmt.Sprintf("; others wait %s for those who are in it", view.FormatDuration(passed))
	}
	slices.Sort(regions)
	c.add(finding.Finding{Kind: finding.Communication, Severity: level, Lost: trace.Time(own + passed), Hit: hit, Text: text + ".", View: "profile", Evidence: evidence, Selection: finding.Selection{Regions: regions}}, nil)
	return nil
}
