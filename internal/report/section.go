package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// An entry is one finding.
type entry struct {
	Kind, Severity, Text string
	Lost                 string
	SeenAs, Next, Gain   string
	Evidence             []fact
	Command              string
	Picture              *picture
}

// mostFindings are listed, mostProven of them with their picture.
const (
	mostFindings = 10
	mostProven   = 3
)

// findings asks the view that has them for its JSON: reports know contracts, not views.
func (r *reporter) findings() error {
	v := r.with(func(x view.Report) bool { return x.Findings })
	if v == nil {
		return nil
	}
	result, err := r.compute(v, r.Selection, nil, scene.Size{Width: width, Height: 400})
	if err != nil {
		return r.leave(v.Name, err)
	}
	var data struct {
		Findings []finding.Finding `json:"findings"`
		POP      map[string]any    `json:"pop"`
	}
	text, err := json.Marshal(result.Data())
	if err != nil {
		return r.leave(v.Name, err)
	}
	if err := json.Unmarshal(text, &data); err != nil {
		return fmt.Errorf("%s: %w", v.Name, err)
	}
	r.doc.Said = true
	r.pop(data.POP)
	for i := range data.Findings {
		if r.about == nil {
			r.about = data.Findings[i].Selection.Locations
		}
		if i == mostFindings {
			r.doc.More = len(data.Findings) - i
			break
		}
		e, err := r.entry(&data.Findings[i])
		if err != nil {
			return err
		}
		r.doc.Findings = append(r.doc.Findings, e)
	}
	return nil
}

func (r *reporter) entry(f *finding.Finding) (entry, error) {
	e := entry{Kind: f.Title, Severity: string(f.Severity), Text: visible(f.Text),
		SeenAs: strings.Join(f.SeenAs, ", ")}
	if f.Severity != finding.Low {
		e.Next = visible(f.Next)
		if f.Gain != nil {
			e.Gain = visible(f.Gain.Text)
		}
	}
	if f.Lost > 0 {
		e.Lost = view.FormatIn(float64(f.Lost), f.Unit) + " lost"
		if f.Share > 0 {
			e.Lost += ", " + view.FormatShare(f.Share) + " of " + f.ShareOf
		}
	}
	for _, x := range f.Evidence {
		e.Evidence = append(e.Evidence, fact{clean(x.Name), format(x.Value, x.Unit)})
	}
	v := r.find(f.View)
	if v == nil || v.Needs.Missing(r.Run.Store) != "" {
		return e, nil
	}
	sel := r.selectionOf(f)
	e.Command = r.commandOf(v, sel, f.Options)
	if len(r.drawn) < mostProven && f.Severity != finding.Low && !r.drawn[e.Command] {
		p, err := r.draw(v, sel, f.Options, 420)
		if err != nil {
			return e, err
		}
		e.Picture = p
	}
	return e, nil
}

func (r *reporter) selectionOf(f *finding.Finding) trace.Selection {
	sel := r.Selection
	if f.Selection.End > f.Selection.Begin {
		sel.Begin, sel.End = f.Selection.Begin, f.Selection.End
	}
	var how view.Report
	if v := r.find(f.View); v != nil {
		how = v.Report
	}
	if len(f.Selection.Locations) > 0 && !how.AllLocations {
		sel.Locations = f.Selection.Locations
	}
	if len(f.Selection.Regions) > 0 && !how.AllLocations && !how.AllRegions {
		sel.Regions = f.Selection.Regions
	}
	return sel
}

func (r *reporter) pop(data map[string]any) {
	for _, x := range []struct{ key, label string }{{"parallel_efficiency", "parallel efficiency"},
		{"load_balance", "load balance"}, {"communication_efficiency", "communication efficiency"}} {
		if v, ok := data[x.key].(float64); ok {
			r.doc.POP = append(r.doc.POP, fact{x.label, view.FormatShare(v)})
		}
	}
}

// leave notes a part that is missing from the report, and why; only internal errors end the report.
func (r *reporter) leave(name string, err error) error {
	if e := r.ctx.Err(); e != nil {
		return e
	}
	var empty *view.EmptyError
	if errors.As(err, &empty) {
		r.doc.Left = append(r.doc.Left, clean(name+": "+empty.What))
		return nil
	}
	r.doc.Left = append(r.doc.Left, clean(name+": "+err.Error()))
	return nil
}

// A table is rows of text. Class is that of each column: n for figures, w for words
// that stay on one line, or none.
type table struct {
	Title string
	Head  []string
	Class []string
	Rows  [][]string
	Note  string
}

const mostRows = 25

func (r *reporter) tables(i *view.InfoJSON) {
	t := table{Title: "Regions by exclusive " + i.RegionMetric.Name + ", all locations",
		Head: []string{"region", "role", "calls", "exclusive", "inclusive"}, Class: []string{"", "w", "n", "n", "n"}}
	for k, g := range i.RegionTable {
		if k == mostRows {
			t.Note = "and " + view.Count(len(i.RegionTable)-k, "more region")
			if v := r.with(func(x view.Report) bool { return x.Regions }); v != nil {
				t.Note += fmt.Sprintf("; `%s` has all", CommandLine("view", v.Name, r.Run.Source, "-o", v.Name+".csv"))
			}
			break
		}
		calls := "" // where they are not counted
		if g.Calls != nil {
			calls = view.FormatCount(*g.Calls)
		}
		t.Rows = append(t.Rows,
			[]string{clean(g.Name), g.Role, calls, view.FormatIn(g.Exclusive, g.Unit),
				view.FormatIn(g.Inclusive, g.Unit)})
	}
	if len(t.Rows) > 0 {
		r.doc.Tables = append(r.doc.Tables, t)
	}
	t = table{Title: "Import report", Head: []string{"", "what", "count", "consequence", "for example"},
		Class: []string{"w", "", "n", "", ""}}
	for _, e := range i.Report {
		t.Rows = append(t.Rows,
			[]string{e.Kind, clean(e.What), view.Thousands(e.Count), e.Consequence, clean(e.Example)})
	}
	if len(t.Rows) == 0 {
		t.Head, t.Note = nil, "Nothing was repaired, guessed or left out."
	}
	r.doc.Tables = append(r.doc.Tables, t)
}

// format writes a number with the unit of a column.
func format(v float64, unit string) string {
	switch unit {
	case "share":
		return view.FormatShare(v)
	case "":
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return view.FormatIn(v, unit)
}

// visible writes a name as pictures do.
func visible(s string) string { return scene.Visible(s) }
