package kaleidoscope

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/view"
)

// PairData is the "data" of two runs.
type PairData struct {
	Data
	With Data `json:"with"`
}

// besides shows the signatures of two runs side by side: colours of regions and of time mean
// the same in both.
func besides(ctx context.Context, q *view.Request) (view.Result, error) {
	b := &view.Beside{Join: func(first, second any) any { return PairData{first.(Data), second.(Data)} }}
	err := b.Compute(ctx, q,
		func(ctx context.Context, one *view.Request) (view.Result, error) { return signature(ctx, one) })
	if err != nil {
		return nil, err
	}
	if paint := q.Values.Text("paint"); paint == "time" || paint == "both" {
		f := b.Halves[1].(*result).forest
		b.Extra = append(b.Extra,
			fmt.Sprintf("%s: its colours run from %s to %s", b.Names[1], view.FormatTime(f.begin),
				view.FormatTime(f.end)))
	}
	return b, nil
}
