package findings_test

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// answers are the findings of a run. Tests check kinds, subjects and evidence; only testdata/sentences*.txt has the
// wording, so that better words cost no test.
type answers struct {
	findings.Data
	run store.Reader
}

// about lists the subjects and the evidence of a finding, one per line: "at node01/rank 5", "in compute",
// "phase iteration 21", "code main.go:12", "compute = 440 ms".
func (d *answers) about(f *finding.Finding) string {
	var b strings.Builder
	for _, id := range f.Subjects {
		fmt.Fprintf(&b, "at %s\n", d.run.Locations().Path(id))
	}
	for _, id := range f.Selection.Regions {
		fmt.Fprintf(&b, "in %s\n", d.run.Regions()[id].Name)
	}
	for _, p := range f.Phases {
		fmt.Fprintf(&b, "phase %s\n", p)
	}
	if f.Place != "" {
		fmt.Fprintf(&b, "code %s\n", f.Place)
	}
	for _, e := range f.Evidence {
		fmt.Fprintf(&b, "%s = %s\n", e.Name, diagnose.Format(e))
	}
	return b.String()
}

// subjects lists the ranks of the subjects of a finding: formats differ in the names of threads and nodes.
func (d *answers) subjects(f *finding.Finding) string {
	var names []string
	for _, id := range f.Subjects {
		tree := d.run.Locations()
		for tree.Rank[id] < 0 && tree.Parent[id] != trace.NoLocation {
			id = tree.Parent[id]
		}
		names = append(names, fmt.Sprint(tree.Rank[id]))
	}
	return strings.Join(names, ", ")
}
