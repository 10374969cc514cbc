package diagnose

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/budget"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/store"
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
		{Kind: finding.SlowStep, Severity: finding.Medium, Lost: 80, Selection: at(60, 100), Causes: causesOfTerm[step.Loader]},
		{Kind: finding.Slack, Severity: finding.Low, Lost: 70, Selection: at(0, 100)},
		{Kind: finding.Straggler, Severity: finding.Medium, Lost: 10, Selection: at(0, 50)},
		{Kind: finding.Clock, Severity: finding.High, Selection: at(0, 100)},
		{Kind: finding.GPUIdle, Title: "Idle GPUs", Lost: 9, Share: 0.09, ShareOf: "the steps", Selection: at(0, 50)},
	}
	f := &facts{accounts: &accounts{}}
	f.findSymptoms(list)
	finding.Sort(list)
	for i, want := range []finding.Kind{finding.Clock, finding.SlowStep, finding.Straggler, finding.GPUIdle, finding.GPUIdle,
		finding.Slack} {
		if list[i].Kind != want || list[i].Symptom != (want == finding.GPUIdle) {
			t.Errorf("%d: %s, symptom %v; want %s", i, list[i].Kind, list[i].Symptom, want)
		}
	}
	if s := list[2].SeenAs; len(s) != 1 || s[0] != "Idle GPUs (90.0 % and 9.0 % of the steps)" {
		t.Errorf("seen as %q", s)
	}
}

// Time that may hold more waiting for a cause comes after that cause, and so does a late start; not after one that is
// less grave. Missing records come after all causes.
func TestWhatMayHideACauseComesAfterOneThatIsAsGrave(t *testing.T) {
	for _, c := range []struct {
		name  string
		cause finding.Level
		want  []finding.Kind
	}{
		{"as grave", finding.High,
			[]finding.Kind{finding.Imbalance, finding.Communication, finding.StartUp, finding.Data}},
		{"less grave", finding.Medium,
			[]finding.Kind{finding.Communication, finding.StartUp, finding.Imbalance, finding.Data}},
		{"low", finding.Low,
			[]finding.Kind{finding.Communication, finding.StartUp, finding.Data, finding.Imbalance}},
	} {
		list := []finding.Finding{{Kind: finding.Data, Severity: finding.Medium},
			{Kind: finding.Communication, Severity: finding.High, Lost: 90, Residual: true},
			{Kind: finding.StartUp, Severity: finding.High, Lost: 50},
			{Kind: finding.Imbalance, Severity: c.cause, Lost: 20}}
		f := &facts{accounts: &accounts{result: &budget.Result{}}}
		f.setApart(list)
		finding.Sort(list)
		for i, want := range c.want {
			if list[i].Kind != want {
				t.Errorf("%s: %d is %s, want %s", c.name, i, list[i].Kind, want)
			}
		}
	}
}

// A symptom belongs to a cause that has its time: the work of the same locations in the same regions, the waiting for
// those who are late, the part of a step that takes longer. A dearer finding at the same time is no cause.
func TestASymptomBelongsToACauseOfTheSameWork(t *testing.T) {
	all := finding.Selection{End: 100}
	of := func(regions []trace.RegionID, at ...trace.LocationID) finding.Selection {
		return finding.Selection{End: 100, Regions: regions, Locations: at}
	}
	exchange, work := []trace.RegionID{0}, []trace.RegionID{1}
	communication := finding.Finding{Kind: finding.Communication, Severity: finding.High, Lost: 90, Selection: of(exchange)}
	imbalance := finding.Finding{Kind: finding.Imbalance, Severity: finding.Medium, Lost: 20, Selection: of(work)}
	late := finding.Finding{Kind: finding.StartUp, Severity: finding.High, Lost: 50, Selection: of(nil, 0)}
	input := finding.Finding{Kind: finding.InputBound, Severity: finding.High, Lost: 10, Selection: all}
	copies := finding.Finding{Kind: finding.CopyBound, Severity: finding.High, Lost: 60, Selection: all}
	for _, c := range []struct {
		name    string
		symptom finding.Finding
		causes  []finding.Finding
		want    finding.Kind
	}{
		{"work of ranks that are not late", finding.Finding{Kind: finding.Outlier, Selection: of(nil, 1)},
			[]finding.Finding{communication, late, imbalance}, finding.Imbalance},
		{"work of which no cause is known", finding.Finding{Kind: finding.Outlier, Selection: of(nil, 1)},
			[]finding.Finding{communication, late}, ""},
		{"calls of another region", finding.Finding{Kind: finding.Unlike, Selection: of(exchange, 1)},
			[]finding.Finding{imbalance}, ""},
		{"idle GPUs beside copies", finding.Finding{Kind: finding.GPUIdle, Selection: all},
			[]finding.Finding{copies, input}, ""},
		{"a step with slow input", finding.Finding{Kind: finding.SlowStep, Selection: all, Causes: causesOfTerm[step.Loader]},
			[]finding.Finding{copies, input}, finding.InputBound},
		{"imbalance of a profile, which knows no waits", finding.Finding{Kind: finding.Imbalance, Selection: finding.Selection{}},
			[]finding.Finding{late}, ""},
		{"a step without records", finding.Finding{Kind: finding.SlowStep, Selection: all, Causes: causesOfTerm[step.Other]},
			[]finding.Finding{copies, input}, ""},
	} {
		f := &facts{accounts: &accounts{result: &budget.Result{}}, tree: &store.Tree{Last: []trace.LocationID{0, 1}},
			regions: []trace.Region{{Role: trace.RoleCommunication}, {Role: trace.RoleCompute}}}
		if f.profile = c.symptom.Kind == finding.Imbalance; f.profile {
			f.accounts.result = nil
		}
		c.symptom.Lost = 5
		list := append(c.causes, c.symptom)
		f.findSymptoms(list)
		got := finding.Kind("")
		for i := range list {
			if len(list[i].SeenAs) > 0 {
				got = list[i].Kind
			}
		}
		if got != c.want || list[len(list)-1].Symptom != (c.want != "") {
			t.Errorf("%s: belongs to %q, want %q", c.name, got, c.want)
		}
	}
}
