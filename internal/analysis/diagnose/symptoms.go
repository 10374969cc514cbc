package diagnose

import (
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/words"
)

// symptoms are kinds that say where time goes, not why.
var symptoms = []finding.Kind{finding.ExposedCommunication, finding.GPUIdle, finding.IdleStart, finding.IdleEnd,
	finding.Outlier, finding.Heterogeneous, finding.Unlike, finding.Blocked, finding.SlowStep}

// isSymptom reports whether a finding may be the symptom of another. Load imbalance and communication are, unless waits
// are traced one by one: then their time is no other finding's.
func (f *facts) isSymptom(x *finding.Finding) bool {
	if x.Kind == finding.Communication || x.Kind == finding.Imbalance {
		return f.accounts.result == nil
	}
	return slices.Contains(symptoms, x.Kind)
}

// noCauses are kinds about the recording, and waiting whose cause is not known.
var noCauses = append([]finding.Kind{finding.Unexplained}, doubted...)

// mostSymptoms is how many symptoms a cause names.
const mostSymptoms = 3

// findSymptoms marks findings whose time a cause has: one above low at the same time. The cause that costs most names
// them.
func (f *facts) findSymptoms(list []finding.Finding) {
	for i := range list {
		x := &list[i]
		if !f.isSymptom(x) {
			continue
		}
		var cause *finding.Finding
		for k := range list {
			y := &list[k]
			if y.Severity != finding.Low && !f.isSymptom(y) && !slices.Contains(noCauses, y.Kind) &&
				x.Selection.Begin < y.Selection.End && y.Selection.Begin < x.Selection.End &&
				(cause == nil || y.Lost > cause.Lost) {
				cause = y
			}
		}
		if cause == nil {
			continue
		}
		x.Symptom = true
		if len(cause.SeenAs) < mostSymptoms && x.Lost > 0 {
			cause.SeenAs = append(cause.SeenAs,
				fmt.Sprintf("%s (%s of %s)", x.Title, words.FormatShare(x.Share), x.ShareOf))
		}
	}
}
