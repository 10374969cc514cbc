package phase

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/store"
)

// OfRun finds the steps or iterations of a run by its repeated regions; nil if nothing repeats. Runs are laid over
// each other where their phases begin.
func OfRun(ctx context.Context, r store.Reader) (*Phases, error) {
	if !r.Info().Timed() {
		return nil, nil
	}
	tree := r.Locations()
	rows := runfacts.Chosen(tree, nil, tree.Holds)
	units, of, err := runfacts.Units(tree, rows, "auto")
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	s, err := NewSource(ctx, r, store.Window{End: r.Info().End}, rows, len(units), of)
	if err != nil {
		return nil, err
	}
	if err := s.addUses(); err != nil {
		return nil, err
	}
	marker, err := s.choose()
	if err != nil || marker == nil {
		return nil, err
	}
	p, _, err := s.Cut(marker, DefaultSlices)
	if err != nil || p.Sliced {
		return nil, err
	}
	return p, nil
}
