package diagnose

// Checks of the data: completions that are missing, and records that the import repaired.

import (
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// findSuspicious: clocks that disagree, completions that are missing, repairs.
func findSuspicious(c *diagnosis) error {
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
			missing = append(missing, counted(e.Count, e.What))
			lost += e.Count
		case e.Kind == trace.Repaired && float64(e.Count) > repairedShare*float64(c.store.Info().Intervals):
			repaired = append(repaired, counted(e.Count, e.What))
		}
	}
	if len(missing) > 0 {
		level := finding.Low
		if c.missing() {
			level = finding.Medium
		}
		c.add(finding.Finding{Kind: finding.Data, Severity: level, View: "timeline",
			Text: "Incomplete trace: " + strings.Join(missing, "; ") +
				". Parallax cannot compute the waiting for these messages.",
			Evidence: []finding.Evidence{{Name: "records", Value: float64(lost), Unit: "count"},
				{Name: "messages known", Value: float64(c.store.Info().Links), Unit: "count"}}}, nil)
	}
	if len(repaired) > 0 {
		c.add(finding.Finding{Kind: finding.Data, Severity: finding.Low, View: "timeline",
			Text: "Records were repaired: " + strings.Join(repaired, "; ") + "."}, nil)
	}
	return nil
}

// missing reports whether so many messages are incomplete that most waiting for them may be unknown.
func (c *diagnosis) missing() bool {
	lost := int64(0)
	for _, e := range c.store.Info().Report {
		if incomplete(e.What) && !isClock(e.What) {
			lost += e.Count
		}
	}
	return lost*10 > c.store.Info().Links
}

// counted writes a line of the report with its count. Lines are in the plural.
func counted(n int64, what string) string {
	if n == 1 {
		return clause(what) + " (1)"
	}
	return words.Thousands(n) + " " + clause(what)
}

// clause is the part of a line of the report before its advice.
func clause(what string) string {
	what, _, _ = strings.Cut(what, ":")
	return what
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
