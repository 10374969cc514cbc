package derived

import (
	"context"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
	"github.com/parallax-hpc/parallax/internal/view/findings"
)

// findingsOf is the findings of a run as a table.
var findingsOf = table.NewFunction("findings",
	"The findings of `parallax check`, largest time lost first. A run without intervals has none.",
	[]table.Column{},
	[]table.Column{
		{Name: "kind", Kind: table.Text, Help: "straggler, imbalance, late sender …; docs/findings.md lists them"},
		{Name: "severity", Kind: table.Text, Help: "high, medium or low"},
		{Name: "lost", Kind: table.Integer, Unit: "ns", Help: "time lost, added up over locations"},
		{Name: "share", Kind: table.Number,
			Help: "of all time, or of that of ranks, processors, steps or requests: the field share_of of the view"},
		{Name: "text", Kind: table.Text, Help: "one plain sentence"},
		{Name: "begin", Kind: table.Integer, Unit: "ns", Help: "when"},
		{Name: "end", Kind: table.Integer, Unit: "ns"},
		{Name: "location", Kind: table.Integer, Null: true, Help: "the first of those it is about; null for all"},
		{Name: "paths", Kind: table.Text, Null: true, Help: "all of them, joined by commas; null for all"},
		{Name: "view", Kind: table.Text, Help: "the view that shows it"},
		{Name: "unit", Kind: table.Text, Help: "of lost: ns, or the unit of a profile without time"},
		{Name: "title", Kind: table.Text, Help: "the usual name of the kind: Load imbalance"},
		{Name: "symptom", Kind: table.Integer, Help: "1: another finding is its cause, and comes before it"},
		{Name: "next", Kind: table.Text, Help: "a remedy to try, or a place to look"},
		{Name: "gain", Kind: table.Integer, Unit: "ns", Null: true,
			Help: "how much shorter the run would be without the cause; null: not predicted"},
		{Name: "gain_share", Kind: table.Number, Null: true, Help: "the same as a part of the run, steps or requests"},
	}, findingsRows)

func findingsRows(ctx context.Context, r *table.Run, _ *table.Filter, add func(...any) error) error {
	d, err := findingsData(ctx, r, view.Spec{})
	if err != nil || d == nil {
		return err
	}
	for _, f := range d.Findings {
		location, paths := whoOf(r, &f)
		symptom := int64(0)
		if f.Symptom {
			symptom = 1
		}
		var gain, share any
		if f.Gain != nil {
			gain, share = int64(f.Gain.Time), f.Gain.Share
		}
		err := add(string(f.Kind), string(f.Severity), int64(f.Lost), f.Share, f.Text, int64(f.Selection.Begin),
			int64(f.Selection.End), location, paths, f.View, f.Unit, f.Title, symptom, f.Next, gain, share)
		if err != nil {
			return err
		}
	}
	return nil
}

// windowOf returns the window that a function is asked for.
func windowOf(r *table.Run, f *table.Filter) view.Spec {
	return specOf(r, bound(f, "begin", 0), bound(f, "end", int64(r.Store.Info().End)))
}

func specOf(r *table.Run, begin, end int64) view.Spec {
	if begin <= 0 && end >= int64(r.Store.Info().End) {
		return view.Spec{}
	}
	return view.Spec{From: strconv.FormatInt(begin, 10), To: strconv.FormatInt(end, 10)}
}

// findingsData asks for the findings of a part of a run; nil for a run that can have none.
func findingsData(ctx context.Context, r *table.Run, part view.Spec) (*findings.Data, error) {
	if findings.View.Needs.Missing(r.Store) != "" {
		return nil, nil
	}
	values, err := view.NewValues(findings.View, nil)
	if err != nil {
		return nil, err
	}
	q := &view.Request{Runs: []view.Run{{Name: r.Name, Source: r.Source, Store: r.Store}}, Values: values,
		Size: scene.Size{Width: 1600, Height: 900}}
	if q.Selection, err = part.Resolve(r.Store); err != nil {
		return nil, err
	}
	result, err := view.Ask(ctx, findings.View, q)
	if err != nil {
		return nil, err
	}
	d := result.Data().(findings.Data)
	return &d, nil
}

// mostPaths bounds how many paths a finding names.
const mostPaths = 100

func whoOf(r *table.Run, f *finding.Finding) (location, paths any) {
	list := f.Selection.Locations
	if len(list) == 0 {
		return nil, nil
	}
	var names []string
	for _, id := range list[:min(len(list), mostPaths)] {
		names = append(names, r.Store.Locations().Path(trace.LocationID(id)))
	}
	return int64(list[0]), strings.Join(names, ",")
}
