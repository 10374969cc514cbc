package diagnose

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A symptom comes after the cause at the same time, however much more it loses, and the cause names it. What lies at
// another time, or has no cause above low, stays what it is.
func TestCausesComeBeforeTheirSymptoms(t *testing.T) {
	at := func(begin, end trace.Time) finding.Selection {
		return finding.Selection{Begin: begin, End: end}
	}
	list := []finding.Finding{
		{Kind: finding.GPUIdle, Title: "Idle GPUs", Severity: finding.High, Lost: 90, Share: 0.9, ShareOf: "the steps", Selection: at(0, 50)},
		{Kind: finding.SlowStep, Severity: finding.Medium, Lost: 80, Selection: at(60, 100)},
		{Kind: finding.Slack, Severity: finding.Low, Lost: 70, Selection: at(0, 100)},
		{Kind: finding.Straggler, Severity: finding.Medium, Lost: 10, Selection: at(0, 50)},
		{Kind: finding.Clock, Severity: finding.High, Selection: at(0, 100)},
	}
	f := &facts{accounts: &accounts{}}
	f.findSymptoms(list)
	finding.Sort(list)
	for i, want := range []finding.Kind{finding.Clock, finding.SlowStep, finding.Straggler, finding.GPUIdle, finding.Slack} {
		if list[i].Kind != want || list[i].Symptom != (want == finding.GPUIdle) {
			t.Errorf("%d: %s, symptom %v; want %s", i, list[i].Kind, list[i].Symptom, want)
		}
	}
	if s := list[2].SeenAs; len(s) != 1 || s[0] != "Idle GPUs (90.0 % of the steps)" {
		t.Errorf("seen as %q", s)
	}
}
