package view

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/diagnose"
	"github.com/parallax-hpc/parallax/internal/analysis/finding"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// LevelColour is the colour of findings of a level.
func LevelColour(l finding.Level) scene.Colour {
	switch l {
	case finding.High:
		return scene.UIError
	case finding.Medium:
		return scene.UIWarning
	}
	return scene.UIAxis
}

// Question asks for a diagnosis of a request's selection.
func Question(ctx context.Context, q *Request) (*diagnose.Question, error) {
	s := q.Store()
	if s.Info().Timed() && q.Selection.End <= q.Selection.Begin {
		return nil, Empty("choose a longer time", "no time is selected")
	}
	holders, err := ChosenHolders(ctx, s, q.Selection.Locations)
	if err != nil {
		return nil, err
	}
	if len(holders) == 0 {
		return nil, Empty("choose other locations", "no location with calls in the selection")
	}
	run := &q.Runs[0]
	return &diagnose.Question{Run: run, Selection: q.Selection, Phase: q.Values.Text("phase"),
		Match: func(pattern string) ([]trace.RegionID, error) {
			return MatchRegions(s.Regions(), []string{pattern})
		}}, nil
}
