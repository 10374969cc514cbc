package diagnose

import (
	"testing"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
)

func TestAnAnswerIsAboutTheProgram(t *testing.T) {
	list := []finding.Finding{
		{Kind: finding.Clock, Severity: finding.High, Text: "The clocks disagree."},
		{Kind: finding.LateSender, Severity: finding.High, Text: "Rank 1 sends late.", Lost: 40, Share: 0.4, Unit: "ns",
			ShareOf: "all time", SeenAs: []string{"Communication (30.0 % of all time)"}},
		{Kind: finding.Communication, Severity: finding.High, Text: "Communication takes long.", Lost: 30, Share: 0.3,
			ShareOf: "all time"},
	}
	list[1].Proof = proofOf(&list[1])
	a := (&Result{Findings: list}).Answer()
	if a.Kind != finding.LateSender || len(a.Doubts) != 1 || len(a.SeenAs) != 1 ||
		a.SeenAs[0] != list[1].SeenAs[0] || a.Of != 3 {
		t.Errorf("%+v", a)
	}
	if len(a.Proof) != 2 || a.Proof[0].Value != 40 || a.Proof[1].Value != 100 {
		t.Errorf("without numbers to compare the proof is the loss against all time: %+v", a.Proof)
	}
}

func TestUnexplainedWaitingIsAnAnswer(t *testing.T) {
	for _, c := range []struct {
		waiting, time trace.Time
		view          string
	}{{3, 100, "profile"}, {72, 100, "findings"}} {
		r := &Result{}
		r.Accounts.Waiting, r.Accounts.Time = c.waiting, c.time
		if a := r.Answer(); a.View != c.view || a.Lost != c.waiting || a.Text == "" || a.Next == "" {
			t.Errorf("%d of %d: %+v", c.waiting, c.time, a)
		}
	}
}

func TestARunWithoutLossesNamesItsLargestRegions(t *testing.T) {
	r := &Result{Hot: []finding.Proof{{Name: "parse", Value: 60, Unit: "ns"}, {Name: "link", Value: 30, Unit: "ns"}},
		HotOf: 100}
	r.Accounts.Work, r.Accounts.Time = 100, 100
	a := r.Answer()
	if a.Lost != 0 || len(a.Proof) != 2 || a.Proof[0].Name != "parse" || a.Proof[0].Value != 60 {
		t.Errorf("%q, proof %+v", a.Text, a.Proof)
	}
}

// Numbers in the unit of the loss prove it, also if a count comes first; else the loss does.
func TestAProofIsInTheUnitOfTheLoss(t *testing.T) {
	f := finding.Finding{Lost: 40, Share: 0.4, Unit: "ns", ShareOf: "all time", Evidence: []finding.Evidence{
		{Name: "calls", Value: 6300, Unit: "count"}, {Name: "callers", Value: 12, Unit: "count"},
		{Name: "slow", Value: 60, Unit: "ns"}, {Name: "others, least", Value: 5, Unit: "ns"},
		{Name: "others, median", Value: 7, Unit: "ns"}, {Name: "others, most", Value: 9, Unit: "ns"}}}
	if p := proofOf(&f); len(p) != 2 || p[0].Value != 60 || p[1].Value != 7 || *p[1].Least != 5 || *p[1].Most != 9 {
		t.Errorf("%+v", p)
	}
	f.Evidence = f.Evidence[:2]
	if p := proofOf(&f); len(p) != 2 || p[0].Value != 40 || p[1].Value != 100 {
		t.Errorf("%+v", p)
	}
	f.Lost = 0
	if p := proofOf(&f); len(p) != 2 || p[0].Value != 6300 {
		t.Errorf("%+v", p)
	}
}
