package diagnose

// Fault: waiting without a known cause.

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
// caused most of it, or else where most of it is. Processors may idle: that is no waiting for others.
func findUnexplained(c *diagnosis) error {
	if c.charged == nil && c.accounts.result == nil && c.waited > 0 {
		c.charged = unitBudget(c)
	}
	gpus := c.alike.what == "GPUs"
	found := slices.ContainsFunc(c.list, func(f finding.Finding) bool {
		return f.Severity != finding.Low && (gpus || !c.isSymptom(&f) && !slices.Contains(doubted, f.Kind))
	})
	if c.profile || c.untimed || c.spans || len(c.processors) > 0 || c.tree.Kind[c.units[0]] == trace.KindProcessor ||
		gpus && found { // the activity of hosts is reported with idle GPUs
		return nil
	}
	causes, rest, accounts := causesOf(c)
	rest -= c.ended.time
	untold, unknown := rest, rest
	var top *Cause
	for i := range causes {
		x := &causes[i]
		if x.Finding != "" && (found || x.Finding == string(finding.Slack)) {
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
			{Name: "waiting that no finding reports", Value: float64(untold), Unit: "ns",
				From: c.untoldQuery(1, found)},
			{Name: "share of the time", Value: share, Unit: "share",
				From: c.untoldQuery(int64(accounts.Time), found)}}}
	why := "and no single cause explains it"
	if 2*unknown > untold {
		why = "and the trace does not record its cause"
	}
	more := ""
	if found {
		more = "a further "
	}
	f.Text = fmt.Sprintf("Unexplained: %s%s of all time is waiting (%s), %s.", more, words.FormatShare(share),
		words.FormatTime(untold), why)
	if top != nil && 4*top.Time > untold {
		f.Text += fmt.Sprintf(" The largest part is waiting for %s in %s (%s).", c.tree.Name[top.Location],
			words.Middle(top.Region), words.FormatTime(top.Time))
		f.Selection.Locations = []trace.LocationID{top.Location}
		f.Evidence = append(f.Evidence, finding.Evidence{Name: "largest part", Value: float64(top.Time), Unit: "ns",
			From: c.largestQuery(found)})
	} else if !gpus {
		c.tellLongestWait(&f)
	}
	c.add(f, nil)
	return nil
}

// untoldQuery asks for the waiting that no other finding reports, divided by a number; of all but slack if none does
// above low. It adds up the waits themselves, and the time in calls that wait without a known cause.
func (c *diagnosis) untoldQuery(by int64, found bool) string {
	if c.accounts.result == nil {
		where := fmt.Sprintf(" where finding is null or finding <> %s", quoted(string(finding.Slack)))
		if found {
			where = fmt.Sprintf(" where finding is null or finding = %s", quoted(string(finding.Unexplained)))
		}
		return fmt.Sprintf("select total(time) / %d from waits(%d, %d)%s", by, c.window.Begin, c.window.End, where)
	}
	waits := func(where string) string {
		return fmt.Sprintf("(select total(time) from %s%s)", c.waitTable(), where)
	}
	open := c.times(c.regionsOfRole(trace.RoleSynchronization, trace.RoleIdle))
	if open != "" {
		open = "(select total(exclusive) from " + open + ")"
	} else {
		open = "0"
	}
	if c.accounts.lanes {
		source, _ := c.busyRows()
		open = "(select total(synchronization) + total(idle) from " + source + ")"
	}
	told, ok := c.toldWaits(found)
	if !ok {
		return ""
	}
	if told != "" {
		told = " - " + waits(" where "+told)
	}
	if c.ended.from != "" {
		told += " - " + c.ended.from
	}
	return fmt.Sprintf("select (%s%s + max(%s - %s, 0)) / %d", waits(""), told, open,
		waits(" where role in ('synchronization', 'idle')"), by)
}

// toldWaits is the condition that a wait is reported by a finding, or as slack if none is found above low; "" if none
// is. It is false for more than a query can list.
func (c *diagnosis) toldWaits(found bool) (condition string, ok bool) {
	var told []causeKey
	for k, kind := range c.told {
		if found || kind == finding.Slack {
			told = append(told, k)
		}
	}
	if len(told) == 0 {
		return "", true
	}
	condition = c.waitsFor(told)
	return condition, condition != ""
}

// largestQuery asks for the waiting for one location in one region that no finding reports, the most of one.
func (c *diagnosis) largestQuery(found bool) string {
	told, ok := c.toldWaits(found)
	if c.accounts.result == nil || !ok {
		where := ""
		if found {
			where = fmt.Sprintf(" where finding is null or finding = %s", quoted(string(finding.Unexplained)))
		}
		return fmt.Sprintf("select max(iif(location is null, 0, time)) from waits(%d, %d)%s", c.window.Begin,
			c.window.End, where)
	}
	if told != "" {
		told = " and not " + told
	}
	return fmt.Sprintf("with w as (select total(time) as t from %s where cause is not null and cause_region <> %s%s "+
		"group by cause, cause_region) select max(t) from w", c.waitTable(), quoted(notRecorded), told)
}

// tellLongestWait says where most time is waited without a known cause: in calls of synchronization or idle regions,
// less the waits in them that have a cause.
func (c *diagnosis) tellLongestWait(f *finding.Finding) {
	if c.ended.time > 0 { // of some of it is reported already
		return
	}
	best, most := int32(-1), 0.0
	for k, times := range c.accounts.work {
		switch c.accounts.role[k] {
		case trace.RoleSynchronization, trace.RoleIdle:
			sum := 0.0
			for _, t := range times {
				sum += float64(t)
			}
			if c.accounts.result != nil {
				sum -= float64(c.accounts.result.InCalls[k])
			}
			if sum > most {
				best, most = int32(k), sum
			}
		}
	}
	if best < 0 {
		return
	}
	ids, name := c.accounts.ids[best], c.accounts.regionNames[best]
	f.Selection.Regions = ids
	switch {
	case c.accounts.lanes: // rows do several things at once: each instant counts once, and times of regions do not
		f.Text += fmt.Sprintf(" Most of it is in %s%s.", words.Middle(name), callWords(name))
		return
	case 2*most > float64(f.Lost):
		f.Text += fmt.Sprintf(" Most of it is in %s (%s)%s.", words.Middle(name), words.FormatDuration(most),
			callWords(name))
	default:
		f.Text += fmt.Sprintf(" The largest part is in %s (%s)%s.", words.Middle(name), words.FormatDuration(most),
			callWords(name))
	}
	f.Evidence = append(f.Evidence, finding.Evidence{Name: "waiting in " + name, Value: most, Unit: "ns",
		From: c.transferQuery(ids, 1)})
}

// callWords describes for what a call waits that waits for no other location, by its name.
func callWords(name string) string {
	name = strings.ToLower(name)
	for _, x := range [][2]string{{"nanosleep", ", a sleep that the program asks for"},
		{"usleep", ", a sleep that the program asks for"},
		{"waiting", ", asleep or blocked, and no recorded task woke them"},
		{"epoll_wait", ", until an event comes from outside"}, {"poll", ", until an event comes from outside"},
		{"select", ", until an event comes from outside"}, {"join", ", until a thread ends"},
		{"wait4", ", until a process ends"}, {"waitpid", ", until a process ends"}} {
		if strings.Contains(name, x[0]) {
			return x[1]
		}
	}
	return ""
}
