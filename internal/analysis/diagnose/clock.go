package diagnose

// Check of the data: clocks that disagree, so that times of different units cannot be compared.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

const (
	// earlyShare is the part of the messages that must arrive before they are sent,
	// or of the collectives that must be left before all have come, for the clocks to
	// be the cause.
	earlyShare = 0.02
	// repairedShare is the part of the intervals that must be repaired to be reported.
	repairedShare = 0.005
)

// isClock reports whether a line of an import report is about clocks, whether they disagree or not: it tells of no
// record that is missing.
func isClock(what string) bool {
	return strings.Contains(what, "clock") && !strings.Contains(what, "resolution") &&
		!strings.Contains(what, "rate of") || strings.Contains(what, "arrive before they are sent")
}

// clockDoubts are parts of the lines of an import report which say that times of different locations do not fit
// together. Other lines name a clock too: one without a resolution, that of a thread, or offsets that were applied.
var clockDoubts = []string{"arrive before they are sent", "before another has entered", "begin before their caller",
	"clocks that differ", "their clocks may differ", "not aligned with each other",
	"on a clock that no snapshot compares", "as if on one clock"}

// clocksDisagree reports whether a line of an import report says so.
func clocksDisagree(what string) bool {
	return slices.ContainsFunc(clockDoubts, func(s string) bool { return strings.Contains(what, s) })
}

// findClocks says that times of different units cannot be compared: messages arrive
// before they are sent, collectives are left before all have come, or the reader
// of the source saw it.
func findClocks(c *diagnosis, report []trace.ReportEntry) error {
	messages, collectives, known := c.early, int64(0), c.links
	var said []string
	advice := ""
	for _, e := range report {
		if e.Kind != trace.Guessed || !clocksDisagree(e.What) {
			continue
		}
		said = append(said, counted(e.Count, e.What))
		switch {
		case strings.Contains(e.What, "--align none"):
			advice = ". Without --align none Parallax corrects them"
		case strings.Contains(e.What, "--align"):
			advice = ". The option --align messages corrects them"
		}
	}
	late := known > 0 && float64(messages) > earlyShare*float64(known)
	c.untimed = late || len(said) > 0
	if !c.untimed {
		return nil
	}
	waits, err := c.pairs(c.ctx)
	if err != nil {
		return err
	}
	if waits != nil {
		collectives = int64(waits.Broken)
	}
	if late && len(said) == 0 {
		said = append(said,
			fmt.Sprintf("%s of %s messages arrive before they are sent, by up to %s", words.Thousands(messages),
				words.Thousands(known), words.FormatTime(c.worst)))
	}
	text := "The clocks of the locations disagree: " + strings.Join(said, ", and ") +
		". Times within one location are valid. Order, waiting " +
		"and message times between locations are not" + advice + "."
	c.add(finding.Finding{Kind: finding.Clock, Severity: finding.High, Text: text, View: "timeline",
		Evidence: []finding.Evidence{{Name: "messages that arrive before they are sent", Value: float64(messages),
			Unit: "count", From: c.earlyQuery("total(to_time < from_time)")},
			{Name: "messages", Value: float64(known), Unit: "count", From: c.earlyQuery("count(*)")},
			{Name: "largest step back", Value: float64(c.worst), Unit: "ns",
				From: c.earlyQuery("coalesce(max(max(from_time - to_time, 0)), 0)")},
			{Name: "collectives left before all had come", Value: float64(collectives), Unit: "count"}}}, nil)
	return nil
}

// earlyQuery asks for something of the messages between units.
func (c *diagnosis) earlyQuery(what string) string {
	if c.partial || !c.window.Whole(c.store) {
		return ""
	}
	return fmt.Sprintf("select %s from links where kind = 'message' and from_time is not null", what)
}
