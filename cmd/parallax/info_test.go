package main

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// Each reason for which records are not kept has its consequence beside it.
func TestTheImportReportTellsWhatIsLost(t *testing.T) {
	var b bytes.Buffer
	printReport(&b, []trace.ReportEntry{{Kind: trace.MissingEvents, What: "records without a time", Count: 2},
		{Kind: trace.Redundant, What: "duplicates", Count: 3}})
	for _, want := range []string{"records without a time: events are missing, so calls, times and counts may be too low ", "duplicates: nothing lost\n"} {
		if text := strings.Join(strings.Fields(b.String()), " ") + "\n"; !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}
