package diagnose

// The list of findings: causes before symptoms, most time lost first, nothing twice.

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/words"
)

// A findingList holds the findings so far, and the units to blame.
type findingList struct {
	during store.Window // the time of a finding that names none
	lostIn string       // unit of the loss
	list   []finding.Finding
	blamed []bool                    // by unit
	told   map[causeKey]finding.Kind // causes of waiting that a finding reports
	// Charges are the waiting that units cause, if waits are not traced one by one.
	charges []Cause
}

func newFindingList(f *facts) *findingList {
	return &findingList{during: f.window, lostIn: f.unit, blamed: make([]bool, len(f.units)),
		told: map[causeKey]finding.Kind{}}
}

// ranked returns the findings: causes before symptoms, most time lost first.
func (d *findingList) ranked(f *facts) []finding.Finding {
	if f.accounts.result == nil {
		d.list = slices.DeleteFunc(d.list, d.minor)
	}
	// Waits count at their full length, so in a window of a few of them more could be lost than there
	// is: such a finding is not of this window. Threads that want to run are not the rows that run, and requests are no
	// rows.
	most := float64(f.length) * float64(len(f.rows))
	d.list = slices.DeleteFunc(d.list,
		func(x finding.Finding) bool { return float64(x.Lost) > most && x.Kind != finding.Crowded && !f.spans })
	n, of := len(f.units), "the time of "+words.Count(len(f.units), f.unitWord())
	if f.accounts.result != nil {
		n = len(f.rows) // it is their time that is lost, and not that of their parents
	}
	if n == len(f.rows) && !f.profile {
		of = "all time"
	}
	for i := range d.list {
		x := &d.list[i]
		if x.Share == 0 {
			x.Share = float64(x.Lost) / (float64(f.length) * float64(n))
		}
		x.ShareOf = cmp.Or(x.ShareOf, of)
		x.Proof = proofOf(x)
	}
	f.findSymptoms(d.list)
	f.setApart(d.list)
	finding.Sort(d.list)
	return d.list
}

// minorShare is the part of the largest straggle below which others at the same
// time are not told: the largest hides them.
const minorShare = 0.15

// minor reports whether a finding is hidden by a far larger straggle at the same time,
// where waits are not followed one by one.
func (d *findingList) minor(f finding.Finding) bool {
	if f.Kind != finding.Straggler && f.Kind != finding.Imbalance {
		return false
	}
	for i := range d.list {
		g := &d.list[i]
		if g.Kind == finding.Straggler && float64(f.Lost) < minorShare*float64(g.Lost) &&
			f.Selection.Begin < g.Selection.End && g.Selection.Begin < f.Selection.End {
			return true
		}
	}
	return false
}

// charge notes waiting caused by some locations, in equal parts, and its waiters.
func (d *findingList) charge(kind finding.Kind, at []trace.LocationID, region string, t trace.Time,
	victims map[int32]trace.Time) {
	for i, id := range at {
		part := t / trace.Time(len(at)-i)
		t -= part
		mine := make(map[int32]trace.Time, len(victims))
		for u, w := range victims {
			mine[u] = w / trace.Time(len(at))
		}
		d.charges = append(d.charges,
			Cause{Cause: string(kind), Location: id, Region: region, Time: part, victims: mine})
	}
}

// known reports whether most of the units are blamed for something already.
func (d *findingList) known(units []int32) bool {
	n := 0
	for _, u := range units {
		if d.blamed[u] {
			n++
		}
	}
	return len(units) > 0 && float64(n) >= 0.8*float64(len(units))
}

// add accepts a finding. Units are to blame for it.
func (d *findingList) add(f finding.Finding, units []int32) {
	f.Unit, f.Title, f.AffectedShare = d.lostIn, f.Kind.Title(), f.Hit
	if f.Subjects == nil {
		f.Subjects = append([]trace.LocationID{}, f.Selection.Locations...)
	}
	if f.SeenAs == nil {
		f.SeenAs = []string{}
	}
	if f.Options == nil {
		f.Options = map[string][]string{}
	}
	if f.Selection.End == 0 {
		f.Selection.Begin, f.Selection.End = d.during.Begin, d.during.End
	}
	if f.Selection.Locations == nil {
		f.Selection.Locations = []trace.LocationID{}
	}
	if f.Selection.Regions == nil {
		f.Selection.Regions = []trace.RegionID{}
	}
	if f.Phases == nil {
		f.Phases = []string{}
	}
	if f.Claims == nil {
		f.Claims = []finding.Claim{}
	}
	if f.Evidence == nil {
		f.Evidence = []finding.Evidence{}
	}
	d.list = append(d.list, f)
	if f.Severity != finding.Low {
		for _, u := range units {
			d.blamed[u] = true
		}
	}
}

// accused are the units that are blamed for something already.
func (d *findingList) accused() (out []int32) {
	for u, b := range d.blamed {
		if b {
			out = append(out, int32(u))
		}
	}
	return out
}
