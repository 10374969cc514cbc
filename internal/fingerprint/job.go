package fingerprint

import (
	"context"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/view"
)

// mostJobSteps bounds what is kept.
const mostJobSteps = 100_000

// Whole reports whether a window is all of a run.
func Whole(r store.Reader, w store.Window) bool {
	return w.Begin <= 0 && w.End >= r.Info().End && w.Locations == nil
}

// Job takes the steps of a whole run apart. It is done once: what is found is kept while the run is open, and that of
// a large run with its store.
func Job(ctx context.Context, run *view.Run, d *view.Devices) (*step.Job, error) {
	return derived.Keep(run.Cache, "steps", (*step.Job).SizeBytes, func() (*step.Job, error) {
		return Kept(run.Store, d, jobKeeping(run.Store, d), func() (*step.Job, error) {
			return JobOf(ctx, run.Store, store.Window{End: run.Store.Info().End}, d).Analyse()
		})
	})
}

// jobKeeping says how a job lies with its store.
func jobKeeping(r store.Reader, d *view.Devices) Keeping[step.Job] {
	lanes := r.Lanes()
	return Keeping[step.Job]{
		Name: "steps", Version: 3,
		Small: func(j *step.Job) bool { return len(j.Steps) <= mostJobSteps },
		Sound: func(j *step.Job) bool {
			return j.Sound(len(d.Units), d.Owner, len(r.Regions()), int(lanes[len(lanes)-1]))
		},
	}
}

// PrepareJob does so for a run that was just imported, where the first look would take long.
func PrepareJob(ctx context.Context, run *view.Run) error {
	d := LargeJob(run.Store)
	if d == nil {
		return nil
	}
	_, err := Job(ctx, run, d)
	return err
}

// HasJob reports whether the steps of a run are at hand.
func HasJob(r store.Reader, d *view.Devices) bool {
	k, ok := r.(store.Keeper)
	if !ok || !worthKeeping(r, d) {
		return false
	}
	_, ok = k.Kept("steps")
	return ok
}
