package diagnose

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// silentShare is the part of all time from which waiting is never passed over in silence.
const silentShare = 0.05

// findUnexplained: waiting without a known cause, and where no cause is found above low all that is waited. It says who
// caused most of it, or else where most of it is. Processors may idle: that is no waiting for anybody.
func findUnexplained(c *diagnosis) error {
	if c.charged == nil && c.accounts.result == nil && c.waited > 0 {
		c.charged = unitBudget(c)
	}
	gpus := c.alike.what == "GPUs"
	found := slices.ContainsFunc(c.list, func(f finding.Finding) bool {
		return f.Severity != finding.Low && (gpus || !c.isSymptom(&f) && !slices.Contains(doubted, f.Kind))
	})
	if c.profile || c.untimed || c.spans || len(c.processors) > 0 || c.tree.Kind[c.units[0]] == trace.KindProcessor ||
		gpus && found { // what hosts did is told with idle GPUs
		return nil
	}
	causes, rest, accounts := causesOf(c)
	untold, unknown := rest, rest
	var top *Cause
	for i := range causes {
		x := &causes[i]
		if found && x.Finding != "" {
			continue
		}
		untold += x.Time
		if top == nil || x.Time > top.Time {
			top = x
		}
	}
	least := silentShare
	if gpus { // a pipeline has its bubbles
		least = step.IdleBound.Threshold()
	}
	if float64(untold) < least*float64(accounts.Time) {
		return nil
	}
	share := float64(untold) / float64(accounts.Time)
	f := finding.Finding{Kind: finding.Unexplained, Severity: finding.Medium, Lost: untold, Hit: share, Share: share,
		ShareOf: "all time", View: "findings", Options: map[string][]string{"picture": {"causes"}},
		Evidence: []finding.Evidence{
			{Name: "waiting that no finding tells", Value: float64(untold), Unit: "ns",
				From: c.untoldQuery("total(time)", found)},
			{Name: "share of the time", Value: share, Unit: "share",
				From: c.untoldQuery(fmt.Sprintf("total(time) / %d", accounts.Time), found)}}}
	why := "and no cause stands out"
	if 2*unknown > untold {
		why = "and nothing recorded tells for whom"
	}
	more := ""
	if found {
		more = "a further "
	}
	f.Text = fmt.Sprintf("Unexplained: %s%s of all time is waiting (%s), %s.", more, words.FormatShare(share),
		words.FormatTime(untold), why)
	if top != nil && 4*top.Time > untold {
		f.Text += fmt.Sprintf(" The largest part is for %s in %s (%s).", c.tree.Name[top.Location],
			words.Middle(top.Region), words.FormatTime(top.Time))
		f.Selection.Locations = []trace.LocationID{top.Location}
		f.Evidence = append(f.Evidence, finding.Evidence{Name: "largest part", Value: float64(top.Time), Unit: "ns",
			From: c.untoldQuery("max(iif(location is null, 0, time))", found)})
	} else if !gpus {
		c.tellLongestWait(&f)
	}
	c.add(f, nil)
	return nil
}

// untoldQuery asks for something of the waiting that no other finding tells; of all waiting if none does above low.
func (c *diagnosis) untoldQuery(what string, found bool) string {
	where := ""
	if found {
		where = fmt.Sprintf(" where finding is null or finding = %s", quoted(string(finding.Unexplained)))
	}
	return fmt.Sprintf("select %s from waits(%d, %d)%s", what, c.window.Begin, c.window.End, where)
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
	f.Text += fmt.Sprintf(" Most of it is in %s (%s)%s.", words.Middle(c.regions[best].Name), Format(e),
		callWords(c.regions[best].Name))
	f.Evidence, f.Selection.Regions = append(f.Evidence, e), ids
}

// callWords says for what a call waits that waits for no other location, by its name.
func callWords(name string) string {
	name = strings.ToLower(name)
	for _, x := range [][2]string{{"nanosleep", ", a sleep that the program asks for"},
		{"usleep", ", a sleep that the program asks for"},
		{"epoll_wait", ", until something comes from outside"}, {"poll", ", until something comes from outside"},
		{"select", ", until something comes from outside"}, {"join", ", until a thread ends"},
		{"wait4", ", until a process ends"}, {"waitpid", ", until a process ends"}} {
		if strings.Contains(name, x[0]) {
			return x[1]
		}
	}
	return ""
}
