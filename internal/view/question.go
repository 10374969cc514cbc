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
	s, run := q.Store(), &q.Runs[0]
	if _, _, err := q.Holders(ctx, "calls"); err != nil && !(s.Info().Intervals == 0 && hasMoments(s)) {
		return nil, err
	}
	return &diagnose.Question{Run: run, Selection: q.Selection, Phase: q.Values.Text("phase"),
		Match: func(pattern string) ([]trace.RegionID, error) {
			return MatchRegions(s.Regions(), []string{pattern})
		}}, nil
}
