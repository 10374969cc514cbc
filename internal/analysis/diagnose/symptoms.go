package diagnose

// Which findings are symptoms of others: they say where time goes, not why.

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// late are kinds of causes that others wait for.
var late = []finding.Kind{finding.Straggler, finding.Rotating, finding.Jitter, finding.Growth, finding.LateSender,
	finding.LateReceiver, finding.Imbalance, finding.Serial, finding.StartUp, finding.IO, finding.Lock, finding.Crowded,
	finding.SlowKernels}

// causesOfKind are the kinds of findings that can have the time of a symptom: one that says where time goes, not why.
var causesOfKind = map[finding.Kind][]finding.Kind{
	finding.ExposedCommunication: late, finding.GPUIdle: late, finding.Communication: late, finding.Imbalance: late,
	finding.IdleEnd: late, finding.IdleStart: {finding.StartUp},
	finding.Outlier: late, finding.Heterogeneous: late, finding.Unlike: late,
}

// causesOfTerm are the kinds of findings that can have the time that a step takes longer, by the part of it that does.
var causesOfTerm = [step.Terms][]finding.Kind{
	step.Kernel: {finding.SlowKernels}, step.Memcpy: {finding.CopyBound}, step.Communication: late,
	step.Runtime: {finding.HostBound, finding.LaunchBound, finding.SynchronizationBound},
	step.Loader:  {finding.InputBound}, step.CPU: {finding.HostBound, finding.LaunchBound},
}

// mayCause are the kinds of findings that can have the time of a finding; none: it is no symptom. Load imbalance and
// communication are none if waits are traced one by one: then their time is no other finding's.
func (f *facts) mayCause(x *finding.Finding) []finding.Kind {
	switch {
	case x.Causes != nil:
		return x.Causes
	case f.accounts.result != nil && (x.Kind == finding.Communication || x.Kind == finding.Imbalance):
		return nil
	}
	return causesOfKind[x.Kind]
}

// isSymptom reports whether a finding may be the symptom of another.
func (f *facts) isSymptom(x *finding.Finding) bool { return f.mayCause(x) != nil }

// hasTimeOf reports whether a finding above low has the time of a symptom: it is of a kind that can, at the same time,
// of the same locations, and in the same regions.
func (f *facts) hasTimeOf(cause, x *finding.Finding) bool {
	of := &cause.Selection
	if cause.Severity == finding.Low || !slices.Contains(f.mayCause(x), cause.Kind) ||
		!f.profile && (x.Selection.Begin >= of.End || of.Begin >= x.Selection.End) {
		return false
	}
	if !slices.Contains(ofWork, x.Kind) { // a profile has no waits
		return !f.isSymptom(cause) && !f.profile
	}
	if f.isSymptom(cause) { // load imbalance of all work, whose largest region is selected
		of = &finding.Selection{}
	}
	return f.sameWork(of, &x.Selection)
}

// ofWork are the kinds of symptoms in the work of some locations; the time of the others is waiting for a cause
// elsewhere.
var ofWork = []finding.Kind{finding.Outlier, finding.Heterogeneous, finding.Unlike, finding.IdleStart}

// sameWork reports whether a cause is about the work of a symptom: of one of its locations, in one of its regions. A
// symptom that names no region is about all work, and no finding about communication has that.
func (f *facts) sameWork(cause, x *finding.Selection) bool {
	inside := func(a, b trace.LocationID) bool { return a <= b && b <= f.tree.Last[a] }
	at := len(cause.Locations) == 0 || len(x.Locations) == 0 ||
		slices.ContainsFunc(cause.Locations, func(a trace.LocationID) bool {
			return slices.ContainsFunc(x.Locations,
				func(b trace.LocationID) bool { return inside(a, b) || inside(b, a) })
		})
	in := len(cause.Regions) == 0 || slices.ContainsFunc(cause.Regions, func(r trace.RegionID) bool {
		return slices.Contains(x.Regions, r) || len(x.Regions) == 0 && f.regions[r].Role.Busy()
	})
	return at && in
}

// mostSymptoms is how many symptoms a cause names.
const mostSymptoms = 3

// findSymptoms marks findings whose time a cause has. The one that costs most names them.
func (f *facts) findSymptoms(list []finding.Finding) {
	of := map[*finding.Finding][]symptom{}
	for i := range list {
		x := &list[i]
		var cause *finding.Finding
		for k := range list {
			if y := &list[k]; f.hasTimeOf(y, x) && (cause == nil || y.Lost > cause.Lost) {
				cause = y
			}
		}
		if cause == nil {
			continue
		}
		x.Symptom = true
		if x.Lost > 0 {
			of[cause] = addSymptom(of[cause], x)
		}
	}
	for cause, symptoms := range of {
		for _, s := range symptoms[:min(len(symptoms), mostSymptoms)] {
			cause.SeenAs = append(cause.SeenAs, s.String())
		}
	}
}

// A symptom is what findings of one title say of a cause: the shares of each.
type symptom struct {
	title, shareOf string
	shares         []string
}

// addSymptom adds a finding to the symptoms of its cause; those of one title are one symptom.
func addSymptom(list []symptom, x *finding.Finding) []symptom {
	share := words.FormatShare(x.Share)
	for i := range list {
		if s := &list[i]; s.title == x.Title && s.shareOf == x.ShareOf {
			s.shares = append(s.shares, share)
			return list
		}
	}
	return append(list, symptom{x.Title, x.ShareOf, []string{share}})
}

// String returns a symptom as text: "Idle GPUs (90.0 % of the steps)". Of more than two shares it names the first.
func (s *symptom) String() string {
	shares := strings.Join(s.shares, " and ")
	if n := len(s.shares); n > 2 {
		shares = fmt.Sprintf("%s and %d more", s.shares[0], n-1)
	}
	return fmt.Sprintf("%s (%s of %s)", s.title, shares, s.shareOf)
}

// setApart marks what comes after causes of waiting within the run, if there are any as grave: how it starts and ends,
// and time that may hold waiting for them which the records do not show. A cause that is less grave does not explain
// that time, and to remove it gains less. Missing records come after any cause.
func (f *facts) setApart(list []finding.Finding) {
	gravest := finding.Low
	for i := range list {
		x := &list[i]
		if !x.Symptom && x.Kind != finding.StartUp && slices.Contains(late, x.Kind) &&
			x.Severity.Rank() < gravest.Rank() {
			gravest = x.Severity
		}
	}
	for i := range list {
		x := &list[i]
		apart := x.Kind == finding.Data ||
			(x.Residual || x.Kind == finding.StartUp) && gravest.Rank() <= x.Severity.Rank()
		x.Apart = apart && gravest != finding.Low && f.accounts.result != nil
	}
}
