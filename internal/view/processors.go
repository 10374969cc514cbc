package view

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/processor"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
)

// A TwinRows says which rows a view compares, and by which rule.
type TwinRows struct {
	Rule  string `json:"rule"`  // processors, threads or all: the rule that chose the rows.
	What  string `json:"what"`  // The rows in words.
	Shown int    `json:"shown"` // How many they are in the run.
	Of    int    `json:"of"`    // Locations with intervals.
	Why   string `json:"why"`   // Why it is this rule.
}

// autoRows are all locations, but processors where there are goroutines too.
const autoRows processor.Rule = "auto"

// rowRule is the rule by which the rows of a view are chosen, and why. A selection of locations that are no rows by
// themselves asks for all rows of it.
func (q *Request) rowRule(v *View) (rule processor.Rule, why string) {
	if !v.hasOption("rows") || len(q.Runs) == 0 || q.Store() == nil {
		return "", ""
	}
	rule, why = processor.Rule(q.Values.Text("rows")), "what can be compared"
	if q.Values.Set("rows") {
		why = "asked for"
	}
	if rule == autoRows {
		rule, why = processor.All, "all are drawn"
		if t := q.Store().Locations(); runfacts.Processors(t, runfacts.Chosen(t, nil, t.Holds)) != nil {
			rule, why = processor.Processors, "most goroutines live for a small part of the run"
		}
	}
	if seen, ok := processor.See(q.Runs[0], rule).Store.(*processor.Reader); ok &&
		!seen.Choice.Holds(q.Selection.Locations) {
		return processor.All, "the selection names others"
	}
	return rule, why
}

// byRows is the request with its runs as they are seen by the rows of the view.
func (q *Request) byRows(v *View) *Request {
	rule, _ := q.rowRule(v)
	if rule == "" || rule == processor.All {
		return q
	}
	out := *q
	out.Runs = make([]Run, len(q.Runs))
	for i, run := range q.Runs {
		out.Runs[i] = run
		if run.Store != nil {
			out.Runs[i] = processor.See(run, rule)
		}
	}
	return &out
}

// RowNotes describes the rows of a run, if they are not all.
func RowNotes(r store.Reader) []string {
	seen, ok := r.(*processor.Reader)
	if !ok {
		return nil
	}
	c := seen.Choice
	return []string{fmt.Sprintf("rows are %s, of %s with intervals; --rows all shows each", c.Words(),
		Count(c.Of, "location"))}
}

func (q *Request) twinRows(v *View) *TwinRows {
	rule, why := q.rowRule(v)
	if rule == "" {
		return nil
	}
	c := processor.Choose(q.Store().Locations(), rule)
	return &TwinRows{Rule: string(rule), What: c.Words(), Shown: len(c.Rows), Of: c.Of, Why: why}
}
