// Package answer summarises a run in one look: the first cause of lost time, its cost, the numbers that prove it, and
// the next step. Package diagnose finds the cause.
//
//	answer.go   the view     layout.go   the card
package answer

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/view"
)

// View is the view.
var View = &view.View{
	Name:    "answer",
	Title:   "Answer",
	Summary: "the main cause of lost time on one screen: its cost, its evidence, the next step",
	HowToRead: "The sentence is the first finding about the program: the cause, the affected locations and the time " +
		"lost. The bars compare the numbers behind it; a thin line is the range of the other locations. Below are " +
		"symptoms of the same cause, doubts about the recording, and the next step. The view findings lists all " +
		"findings.",
	Needs:   view.Needs{Intervals: true, Profile: true, Moments: true},
	Options: view.Use("phase=auto"),
	Data:    []any{diagnose.Answer{}},
	Compute: compute,
}

type result struct {
	*diagnose.Answer
	notes []string
}

func compute(ctx context.Context, q *view.Request) (view.Result, error) {
	question, err := view.Question(ctx, q)
	if err != nil {
		return nil, err
	}
	found, err := diagnose.Run(ctx, question)
	if err != nil {
		return nil, err
	}
	return &result{found.Answer(), found.Notes}, nil
}

func (r *result) Data() any       { return *r.Answer }
func (r *result) Notes() []string { return append([]string{}, r.notes...) }

// Table has a line a number of the proof.
func (r *result) Table() *view.Table {
	t := &view.Table{Rows: [][]any{}, Columns: []view.Column{{Name: "name"}, {Name: "value"}, {Name: "least"},
		{Name: "most"}, {Name: "unit"}}}
	cell := func(x *float64) any {
		if x == nil {
			return nil
		}
		return *x
	}
	for _, p := range r.Proof {
		t.Rows = append(t.Rows, []any{p.Name, p.Value, cell(p.Least), cell(p.Most), p.Unit})
	}
	return t
}
