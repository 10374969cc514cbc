package history

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Run is one of the runs, in order.
type Run struct {
	Name   string `json:"name"`
	Source string `json:"source"`
	Key    string `json:"key"`
}

// A Change is where a series changes: from the run at index on. Means are those since the
// change before, and until the next; p is how often values dealt anew divide as well.
type Change struct {
	Index  int     `json:"index"`
	From   string  `json:"from"` // the last run before
	To     string  `json:"to"`   // the first run after
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	P      float64 `json:"p"`
	// Command compares the two runs around it.
	Command string `json:"command"`
}

// A Series is the length, or the exclusive time of a call path, of each run.
type Series struct {
	CallPath string    `json:"callpath" unit:""`
	Region   string    `json:"region" unit:""`
	Metric   string    `json:"metric" unit:""`
	Values   []float64 `json:"values" spread:"runs"`
	Changes  []int     `json:"changes"`
	Points   []Change  `json:"points"`
	Count    int       `json:"count" unit:"count" table:"changes"`
	Mean     *float64  `json:"mean" unit:"of"` // since the last change
	Low      *float64  `json:"low" unit:"of"`
	High     *float64  `json:"high" unit:"of"`
	Outside  []int     `json:"outside"`
}

// Data is the "data" of the JSON output.
type Data struct {
	Runs   []Run    `json:"runs"`
	Unit   string   `json:"unit"`
	Series []Series `json:"series"`
	Text   string   `json:"text"`
}

// Data implements view.Result.
func (r *result) Data() any {
	d := Data{Runs: []Run{}, Unit: r.unit, Series: r.rows(), Text: r.text}
	for i := range r.runs {
		d.Runs = append(d.Runs, Run{r.runs[i].name, r.runs[i].source, r.runs[i].key})
	}
	return d
}

func (r *result) rows() []Series {
	out := []Series{}
	for i := range r.series {
		s := &r.series[i]
		x := Series{CallPath: s.CallPath, Region: s.Name, Metric: "exclusive", Values: s.Values, Changes: []int{},
			Points: []Change{}, Count: len(s.Changes),
			Mean: view.Defined(s.Mean), Low: view.Defined(s.Low), High: view.Defined(s.High),
			Outside: append([]int{}, s.Outside...)}
		if i == 0 {
			x.Metric = "length"
		}
		for _, c := range s.Changes {
			x.Changes = append(x.Changes, c.Index)
			x.Points = append(x.Points,
				Change{c.Index, r.runs[c.Index-1].name, r.runs[c.Index].name, c.Before, c.After, c.Dealt,
					r.command(&c)})
		}
		out = append(out, x)
	}
	return out
}

// Table has a line for each series and a column for each run.
func (r *result) Table() *view.Table {
	unit := ""
	if r.unit == "ns" {
		unit = "ns"
	}
	var columns []view.Column
	for i := range r.runs {
		columns = append(columns, view.Column{Name: r.runs[i].name, Unit: unit})
	}
	return view.TableOf(r.rows(), map[string]string{"of": unit}, map[string][]view.Column{"runs": columns})
}

// Item kinds of the picture.
const (
	itemRun    uint8 = iota + 1 // A: series, B: run
	itemChange                  // A: series, B: change
)

// Fact implements view.Facts.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	s := &r.series[it.A]
	switch it.Of {
	case itemRun:
		x := &r.runs[it.B]
		v := s.Values[it.B]
		f := view.Fact{Title: x.name + ", " + s.Name}
		f.Say("value", r.format(v), view.Cell(v))
		if x.key != "" {
			f.Say("key", x.key, "")
		}
		if s.Mean == s.Mean {
			f.Say("usual since the last change", r.format(s.Low)+" … "+r.format(s.High), "")
		}
		return f, true
	case itemChange:
		c := &s.Changes[it.B]
		before, after := &r.runs[c.Index-1], &r.runs[c.Index]
		f := view.Fact{Title: "change of " + s.Name,
			Text:    "A click opens both runs against each other; so does " + r.command(c),
			Compare: []string{before.name, after.name}}
		f.Say("before", r.format(c.Before), view.Cell(c.Before))
		f.Say("after", r.format(c.After), view.Cell(c.After))
		f.Say("change", view.FormatSigned("%+.1f %%", 100*(c.After/c.Before-1)), "")
		f.Say("last run before", r.runs[c.Index-1].name, "")
		f.Say("first run after", r.runs[c.Index].name, "")
		f.Say("as large by chance", fmt.Sprintf("%.2g of cases", c.Dealt), "")
		return f, true
	}
	return view.Fact{}, false
}
