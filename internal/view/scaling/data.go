package scaling

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/scaling"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Factor is a row of POP's table: one value per run, null if it is not known. Shares
// are 1 where ideal; the others are plain numbers.
type Factor struct {
	Name   string     `json:"name" unit:""`
	Level  int        `json:"level"`
	Share  bool       `json:"share"`
	Values []*float64 `json:"values" spread:"runs"`
}

// A Term of a model is c · n^i · log2(n)^j.
type Term struct {
	C float64 `json:"c"`
	I float64 `json:"i"`
	J float64 `json:"j"`
}

// A Model is the exclusive time of a call path per location: values as measured, the
// curve, its error by cross-validation, and its prediction at four times the largest
// size. Without a model c0, error and predicted are null.
type Model struct {
	CallPath  string    `json:"callpath"`
	Region    string    `json:"region"`
	Values    []float64 `json:"values"`
	C0        *float64  `json:"c0"`
	Terms     []Term    `json:"terms"`
	Error     *float64  `json:"error"`
	Predicted *float64  `json:"predicted"`
	Text      string    `json:"text"`
}

// A Run is one that is shown.
type Run struct {
	Name   string  `json:"name"`
	Source string  `json:"source"`
	Size   float64 `json:"size"`
	Length float64 `json:"length"`
}

// Data is the "data" of the JSON output.
type Data struct {
	Kind      scaling.Kind `json:"kind"`
	Sizes     []float64    `json:"sizes"`
	Runs      []Run        `json:"runs"`
	Factors   []Factor     `json:"factors"`
	Models    []Model      `json:"models"`
	Predicted float64      `json:"predicted_size"`
	Text      string       `json:"text"`
}

// Data implements view.Result.
func (r *result) Data() any {
	d := Data{Kind: r.kind, Sizes: []float64{}, Runs: []Run{}, Factors: r.rows(), Models: []Model{}, Text: r.text}
	for i := range r.runs {
		x := &r.runs[i]
		d.Sizes = append(d.Sizes, x.Sums.Size)
		d.Runs = append(d.Runs, Run{x.name, x.source, x.Sums.Size, x.Sums.Runtime})
		d.Predicted = scaling.Beyond * x.Sums.Size
	}
	for i := range r.models {
		m := &r.models[i]
		out := Model{CallPath: m.CallPath, Region: m.Name, Values: m.Values, Terms: []Term{}}
		if m.Fitted {
			out.C0, out.Error, out.Predicted, out.Text = &m.C0, &m.Error, &m.Predicted, m.String()
			for _, t := range m.Terms {
				out.Terms = append(out.Terms, Term(t))
			}
		}
		d.Models = append(d.Models, out)
	}
	return d
}

func (r *result) rows() []Factor {
	out := []Factor{}
	for _, f := range r.factors {
		x := Factor{Name: f.Name, Level: f.Level, Share: f.Share, Values: []*float64{}}
		for _, v := range f.Values {
			x.Values = append(x.Values, view.Defined(v))
		}
		out = append(out, x)
	}
	return out
}

// Table has a line for each factor and a column for each run.
func (r *result) Table() *view.Table {
	var columns []view.Column
	for i := range r.runs {
		columns = append(columns, view.Column{Name: fmt.Sprintf("%s (%.0f)", r.runs[i].name, r.runs[i].Sums.Size)})
	}
	return view.TableOf(r.rows(), nil, map[string][]view.Column{"runs": columns})
}

// Item kinds of the pictures.
const (
	itemFactor uint8 = iota + 1 // A: factor, B: run
	itemRun                     // A: run
	itemModel                   // A: model, B: run, or -1
)

// Fact implements view.Facts.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	a, b := int(it.A), int(it.B)
	switch it.Of {
	case itemFactor:
		f := &r.factors[a]
		x := &r.runs[b]
		out := view.Fact{Title: f.Name + ", " + x.name}
		out.Say("ranks", view.FormatCount(x.Sums.Size), "")
		out.Say("value", r.format(f, f.Values[b]), view.Cell(f.Values[b]))
		return out, true
	case itemRun:
		x := &r.runs[a]
		out := view.Fact{Title: x.name}
		out.Say("ranks", view.FormatCount(x.Sums.Size), "")
		out.Say("length", view.FormatIn(x.Sums.Runtime, r.unit), view.Cell(x.Sums.Runtime))
		for i := range r.factors {
			out.Say(r.factors[i].Name, r.format(&r.factors[i], r.factors[i].Values[a]),
				view.Cell(r.factors[i].Values[a]))
		}
		return out, true
	case itemModel:
		m := &r.models[a]
		out := view.Fact{Title: m.Name, Text: m.CallPath}
		for i, v := range m.Values {
			out.Say(fmt.Sprintf("%.0f ranks", r.runs[i].Sums.Size), view.FormatIn(v, r.unit), view.Cell(v))
		}
		if m.Fitted {
			out.Say("model", m.String(), "")
			out.Say("error", view.FormatShare(m.Error), view.Cell(m.Error))
			out.Say(fmt.Sprintf("%.0f ranks, foretold", scaling.Beyond*r.runs[len(r.runs)-1].Sums.Size),
				view.FormatIn(m.Predicted, r.unit), view.Cell(m.Predicted))
		}
		return out, true
	}
	return view.Fact{}, false
}

func (r *result) format(f *scaling.Factor, v float64) string {
	switch {
	case math.IsNaN(v) || math.IsInf(v, 0):
		return "not known"
	case f.Share:
		return fmt.Sprintf("%.1f %%", 100*v)
	}
	return fmt.Sprintf("%.2f", v)
}
