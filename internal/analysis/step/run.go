package step

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
)

// JobOfRun is a whole run taken apart.
var JobOfRun = derived.Derived[*Job]{
	Name: "steps", Version: 5, Keeps: runfacts.IsLargeJob, Restore: (*Job).restore,
	Make: func(ctx context.Context, run *derived.Run) (*Job, error) {
		r := run.Store
		return Analyse(runfacts.FindDevices(r.Locations(), nil).In(ctx, r, store.Window{End: r.Info().End}))
	},
}
