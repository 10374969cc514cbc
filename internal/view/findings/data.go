package findings

import (
	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A POP is POP's efficiencies of the selection, over rows that have the same to do;
// Over says which, Locations how many. Shares are null if they are not defined.
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

// Data is the "data" of the JSON output. Findings are all there are, ranked; Shown is
// how many are shown first.
type Data struct {
	Findings []finding.Finding `json:"findings"`
	Shown    int               `json:"shown"`
	// Answer is the first cause, or that nothing stands out.
	Answer diagnose.Answer `json:"answer"`
	// Unit is that of the loss, as in each finding.
	Unit string `json:"unit"`
	POP  POP    `json:"pop"`
	// Phases says the region or rule that cut the run.
	Phases string `json:"phases"`
	// PhaseCount is into how many.
	PhaseCount int `json:"phase_count"`
	// Budget are the causes of all waiting, most first; waiting without a known cause is
	// Unexplained. Together they are Accounts.Waiting.
	Budget      []Cause    `json:"budget"`
	Unexplained trace.Time `json:"unexplained"`
	Accounts    Accounts   `json:"accounts"`
}

// Cause and Accounts are those of package diagnose.
type (
	Cause    = diagnose.Cause
	Accounts = diagnose.Accounts
)

func (r *result) Data() any {
	e := &r.found.POP
	return Data{Answer: *r.found.Answer(), Budget: append([]Cause{}, r.found.Causes...),
		Unexplained: r.found.Unexplained, Accounts: r.found.Accounts,
		Findings: append([]finding.Finding{}, r.list...), Shown: min(r.shown, len(r.list)), Unit: r.found.Unit,
		Phases: r.found.Phases, PhaseCount: r.found.PhaseCount,
		POP: POP{Over: r.found.What, Locations: e.Locations, Mean: e.Mean, Max: e.Max, Runtime: e.Runtime,
			LoadBalance: view.Defined(e.LoadBalance), Communication: view.Defined(e.Communication),
			Parallel: view.Defined(e.Parallel)}}
}

// column is the unit of the loss as tables name it.
func (r *result) column() string { return runfacts.ColumnUnit(r.found.Unit) }

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
	for _, id := range t.Locations { // a table names the selected locations for all or for none
		if id == trace.NoLocation {
			t.Locations = nil
			break
		}
	}
	return t
}
