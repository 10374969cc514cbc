package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A reader sees which records that were left out are missing, and which tell nothing more.
func TestTheImportReportTellsWhatIsLost(t *testing.T) {
	var b bytes.Buffer
	printReport(&b, []trace.ReportEntry{{Kind: trace.Skipped, What: "records without a time", Count: 2},
		{Kind: trace.Redundant, What: "duplicates", Count: 3}})
	if text := b.String(); !strings.Contains(text, "duplicates (nothing lost)") || strings.Count(text, "nothing lost") != 1 {
		t.Error(text)
	}
}
