package findings

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A POP is POP's efficiencies of the selection, over rows that have the same to do;
// Over says which, Locations how many. Shares are null where they are not defined.
type POP struct {
	Over          string   `json:"over"`
	Locations     int      `json:"locations"`
	Mean          float64  `json:"useful_mean"`
	Max           float64  `json:"useful_max"`
	Runtime       float64  `json:"runtime"`
	LoadBalance   *float64 `json:"load_balance"`
	Communication *float64 `json:"communication_efficiency"`
	Parallel      *float64 `json:"parallel_efficiency"`
}

// Data is the "data" of the JSON twin. Findings are all there are, ranked; Shown is
// how many are shown first.
type Data struct {
	Findings []finding.Finding `json:"findings"`
	Shown    int               `json:"shown"`
	// Unit is that of what is lost, as in each finding.
	Unit string `json:"unit"`
	POP  POP    `json:"pop"`
	// Phases says what cut the run.
	Phases string `json:"phases"`
	// PhaseCount is into how many.
	PhaseCount int `json:"phase_count"`
	// Budget are the causes of all waiting, most first; what has no known cause is
	// Unexplained. Together they are Accounts.Waiting.
	Budget      []Cause    `json:"budget"`
	Unexplained trace.Time `json:"unexplained"`
	Accounts    Accounts   `json:"accounts"`
}

// A Cause is what one location in one region made others wait, in ns added up over those
// who waited. Cause is the kind of the finding that tells of it, else how it was waited.
type Cause struct {
	Cause    string           `json:"cause"`
	Location trace.LocationID `json:"location"`
	Path     string           `json:"path"`
	Region   string           `json:"region"`
	Time     trace.Time       `json:"time"`
	Share    float64          `json:"share"` // of all waiting
	// Direct is the part that others waited for this location itself; the rest was passed on
	// by others that waited.
	Direct trace.Time `json:"direct"`

	victims map[int32]trace.Time // what is known of who waited, by column of a ledger
}

// Accounts are where the time of all locations went, in ns: Time = Work + Waiting +
// Transfer + Rest.
type Accounts struct {
	Time     trace.Time `json:"time"`
	Work     trace.Time `json:"work"`
	Waiting  trace.Time `json:"waiting"`
	Transfer trace.Time `json:"transfer"` // communication that nobody waited for another in
	Rest     trace.Time `json:"rest"`     // overhead, and time in which nothing is recorded
}

func defined(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

func (r *result) Data() any {
	e := &r.pop
	return Data{Budget: append([]Cause{}, r.causes...), Unexplained: r.unexplained, Accounts: r.accounts,
		Findings: append([]finding.Finding{}, r.list...), Shown: min(r.shown, len(r.list)), Unit: r.unit,
		Phases: r.phases, PhaseCount: r.phaseCount,
		POP: POP{Over: r.what, Locations: e.Locations, Mean: e.Mean, Max: e.Max, Runtime: e.Runtime,
			LoadBalance: defined(e.LoadBalance), Communication: defined(e.Communication),
			Parallel: defined(e.Parallel)}}
}

// column is the unit of what is lost as tables name it.
func (r *result) column() string { return view.ColumnUnit(r.unit) }

// Table has a line a finding.
func (r *result) Table() *view.Table {
	t := &view.Table{Rows: [][]any{},
		Columns: []view.Column{{Name: "kind"}, {Name: "severity"}, {Name: "lost", Unit: r.column()},
			{Name: "share", Unit: "share"}, {Name: "hit", Unit: "share"}, {Name: "text"}, {Name: "view"},
			{Name: "begin", Unit: "ns"}, {Name: "end", Unit: "ns"}, {Name: "share_of"}}}
	for i := range r.list {
		f := &r.list[i]
		t.Rows = append(t.Rows,
			[]any{string(f.Kind), string(f.Severity), int64(f.Lost), f.Share, f.Hit, f.Text, f.View,
				int64(f.Selection.Begin), int64(f.Selection.End), f.ShareOf})
		id := trace.NoLocation
		if len(f.Selection.Locations) > 0 {
			id = f.Selection.Locations[0]
		}
		t.Locations = append(t.Locations, id)
	}
	for _, id := range t.Locations { // a table says what a row selects for all or for none
		if id == trace.NoLocation {
			t.Locations = nil
			break
		}
	}
	return t
}
