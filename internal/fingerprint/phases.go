package fingerprint

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/phase"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Phases finds the steps or iterations of a run by what repeats in it; nil where nothing
// does. Runs are laid over each other where their phases begin.
func Phases(ctx context.Context, run *view.Run) (*phase.Phases, error) {
	r := run.Store
	if !r.Info().Timed() {
		return nil, nil
	}
	tree := r.Locations()
	rows := view.Chosen(tree, nil, tree.Holds)
	units, of, err := view.Units(tree, rows, "auto")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	whole := (&view.Request{Runs: []view.Run{*run}, Selection: trace.Selection{End: r.Info().End}}).Window()
	s := &phase.Source{Regions: r.Regions(), End: r.Info().End, Rows: len(rows), Units: len(units), Lanes: r.Lanes(),
		Intervals: r.Count(whole)}
	s.Row, s.Unit = make([]int32, tree.Len()), make([]int32, tree.Len())
	for i := range s.Row {
		s.Row[i], s.Unit[i] = -1, -1
	}
	for i, id := range rows {
		s.Row[id], s.Unit[id] = int32(i), of[i]
	}
	s.Scan = func(ids []trace.LocationID, add func(*trace.Columns) error) error {
		w := whole
		w.Locations = ids
		return r.Intervals(ctx, w, add)
	}
	t, err := r.Time(ctx, whole)
	if err != nil {
		return nil, err
	}
	for k, id := range t.Locations {
		for i := t.Offsets[k]; i < t.Offsets[k+1]; i++ {
			if u := s.Unit[id]; u >= 0 {
				s.Uses = append(s.Uses,
					phase.Use{Unit: u, Region: t.Region[i], Calls: t.Calls[i], Inclusive: t.Inclusive[i]})
			}
		}
	}
	marker := phase.Choose(s.Uses, s.Regions, len(units), s.End)
	if marker == nil {
		return nil, nil
	}
	p, _, err := s.Cut(marker, phase.DefaultSlices)
	if err != nil || p.Sliced {
		return nil, err
	}
	return p, nil
}
