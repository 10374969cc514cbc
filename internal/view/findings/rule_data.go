package findings

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	// earlyShare is the part of the messages that must arrive before they are sent,
	// or of the collectives that must be left before all have come, for the clocks to
	// be the cause.
	earlyShare = 0.02
	// repairedShare is the part of the intervals that must be repaired to be told.
	repairedShare = 0.005
)

// findSuspicious: clocks that disagree, completions that are missing, repairs.
func findSuspicious(c *court) error {
	report := c.store.Info().Report
	if err := findClocks(c, report); err != nil {
		return err
	}
	var missing, repaired []string
	lost := int64(0)
	for _, e := range report {
		switch {
		case isClock(e.What):
		case incomplete(e.What):
			missing = append(missing, fmt.Sprintf("%s %s", view.Thousands(e.Count), clause(e.What)))
			lost += e.Count
		case e.Kind == trace.Repaired && float64(e.Count) > repairedShare*float64(c.store.Info().Intervals):
			repaired = append(repaired, fmt.Sprintf("%s %s", view.Thousands(e.Count), clause(e.What)))
		}
	}
	if len(missing) > 0 {
		level := finding.Low
		if lost*10 > c.store.Info().Links {
			level = finding.Medium
		}
		c.add(finding.Finding{Kind: finding.Data, Severity: level, View: "timeline",
			Text: "The recording is incomplete: " + strings.Join(missing, "; ") +
				". Waits for these messages cannot be told.",
			Evidence: []finding.Evidence{{Name: "records", Value: float64(lost), Unit: "count"},
				{Name: "messages known", Value: float64(c.store.Info().Links), Unit: "count"}}}, nil)
	}
	if len(repaired) > 0 {
		c.add(finding.Finding{Kind: finding.Data, Severity: finding.Low, View: "timeline",
			Text: "Records were repaired: " + strings.Join(repaired, "; ") + "."}, nil)
	}
	return nil
}

// clause is the part of a line of the report before its advice.
func clause(what string) string {
	what, _, _ = strings.Cut(what, ":")
	return what
}

func isClock(what string) bool {
	return strings.Contains(what, "clock") && !strings.Contains(what, "resolution") &&
		!strings.Contains(what, "rate of") || strings.Contains(what, "arrive before they are sent")
}

func incomplete(what string) bool {
	for _, s := range []string{"never complete", "cannot be paired", "is not recorded", "never received",
		"without a partner"} {
		if strings.Contains(what, s) {
			return true
		}
	}
	return false
}

// findClocks says that times of different units cannot be compared: messages arrive
// before they are sent, collectives are left before all have come, or the reader
// of the source saw it.
func findClocks(c *court, report []trace.ReportEntry) error {
	messages, collectives, known := c.early, int64(0), c.links
	var said []string
	advice := ""
	for _, e := range report {
		if e.Kind != trace.Guessed || !isClock(e.What) {
			continue
		}
		said = append(said, fmt.Sprintf("%s %s", view.Thousands(e.Count), clause(e.What)))
		if strings.Contains(e.What, "--align") {
			advice = "; --align messages or --align collectives fits them"
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
			fmt.Sprintf("%s of %s messages arrive before they are sent, by up to %s", view.Thousands(messages),
				view.Thousands(known), view.FormatTime(c.worst)))
	}
	text := "The clocks of the locations disagree: " + strings.Join(said, ", and ") +
		". Times within a location hold; who was first, who waited for whom and how long messages took cannot be told" +
		advice + "."
	c.add(finding.Finding{Kind: finding.Clock, Severity: finding.High, Text: text, View: "timeline",
		Evidence: []finding.Evidence{{Name: "messages that arrive before they are sent", Value: float64(messages),
			Unit: "count"}, {Name: "messages", Value: float64(known), Unit: "count"},
			{Name: "largest step back", Value: float64(c.worst), Unit: "ns"},
			{Name: "collectives left before all had come", Value: float64(collectives), Unit: "count"}}}, nil)
	return nil
}
