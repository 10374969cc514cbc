package diagnose

// Fault: processors are idle for a reason that no other finding reports.

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// idleVerbs say what a goroutine does while processors idle for it, by cause.
var idleVerbs = map[string]string{
	"sleep": "sleeps", "network": "waits for the network", "timer": "waits for a timer",
	string(finding.IO): "is in a system call", string(finding.ProcessorWait): "could run and its thread is yet to wake",
	string(finding.GarbageCollection): "collects garbage",
}

// idleRest: processors have nothing to run for a reason that no other finding reports: the program sleeps, waits for
// the outside, or does one thing after the other. That may be all that it has to do, so it is low.
func (s *scheduler) idleRest() error {
	var rest []Cause
	sum := trace.Time(0)
	for _, c := range s.charged.causes(s.diagnosis) {
		if !s.toldKind(finding.Kind(c.Cause)) {
			rest = append(rest, c)
			sum += c.Time
		}
	}
	share := float64(sum) / s.capacity
	if share < silentShare {
		return nil
	}
	part := fmt.Sprintf("total(time) / %.17g", s.capacity)
	evidence := []finding.Evidence{
		{Name: "processors idle", Value: float64(sum), Unit: "ns", From: s.idleQuery("total(time)", "")},
		{Name: "share of the processors' time", Value: share, Unit: "share", From: s.idleQuery(part, "")}}
	at, parts := []trace.LocationID{}, []string{}
	for _, c := range rest[:min(len(rest), 3)] {
		of := float64(c.Time) / s.capacity
		if of < worthKnowing {
			break
		}
		name := s.tree.Name[c.Location]
		does := idleVerbs[c.Cause]
		switch {
		case does == "" && c.Region == name:
			does = "runs"
		case does == "":
			does = "runs in " + words.Middle(c.Region)
		}
		parts = append(parts, fmt.Sprintf("%s while %s %s", words.FormatShare(of), words.Middle(name), does))
		where := fmt.Sprintf(" and location = %d and cause = %s and region = %s", c.Location, quoted(c.Cause),
			quoted(c.Region))
		evidence = append(evidence, finding.Evidence{Name: name + " " + does, Value: float64(c.Time), Unit: "ns",
			From: s.idleQuery("total(time)", where)}, finding.Evidence{Name: name + " " + does + ", share", Value: of,
			Unit: "share", From: s.idleQuery(part, where)})
		at = append(at, c.Location)
	}
	text := fmt.Sprintf("Processors are idle for %s of their time because no goroutine can run",
		words.FormatShare(share))
	if len(parts) > 0 {
		text += ": " + strings.Join(parts, ", ")
	}
	s.add(finding.Finding{Kind: finding.IdleProcessors, Severity: finding.Low, Lost: sum, Hit: share, Share: share,
		ShareOf: ofProcessors, View: "findings", Options: map[string][]string{"picture": {"causes"}},
		Text: text + ".", Evidence: evidence, Selection: finding.Selection{Locations: at}}, nil)
	return nil
}

// idleQuery asks for something of the causes of idle processors that this finding reports; "" of a part of the run.
func (s *scheduler) idleQuery(what, where string) string {
	if !s.window.Whole(s.store) {
		return ""
	}
	return fmt.Sprintf("select %s from waits() where finding = %s%s", what, quoted(string(finding.IdleProcessors)),
		where)
}
