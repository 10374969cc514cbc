package fingerprint

import (
	"context"
	"encoding/json"

	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/view"
)

// jobVersion changes with what package step finds, or how.
const jobVersion = 1

// A run with fewer intervals is taken apart while one waits; of one with more, or with more steps, too much would be kept.
const (
	fewIntervals  = 1 << 20
	mostIntervals = 3 << 24
	mostJobSteps  = 100_000
)

// A keptJob is a job as it lies with its store.
type keptJob struct {
	Version    int       `json:"version"`
	Generation uint64    `json:"generation"`
	Job        *step.Job `json:"job"`
}

// Whole reports whether a window is all of a run.
func Whole(r store.Reader, w store.Window) bool {
	return w.Begin <= 0 && w.End >= r.Info().End && w.Locations == nil
}

// Job takes the steps of a whole run apart. It is done once: what is found is kept while the run is open, and that of
// a large run with its store.
func Job(ctx context.Context, run *view.Run, d *view.Devices) (*step.Job, error) {
	return view.Keep(run.Cache, "steps", (*step.Job).SizeBytes, func() (*step.Job, error) {
		if job := keptJobOf(run.Store, d); job != nil {
			return job, nil
		}
		r := run.Store
		job, err := JobOf(ctx, r, store.Window{End: r.Info().End}, d).Analyse()
		if k, keeps := r.(store.Keeper); err == nil && keeps && worthKeeping(r, d) && len(job.Steps) <= mostJobSteps {
			if b, bad := json.Marshal(keptJob{jobVersion, r.Generation(), job}); bad == nil {
				_ = k.Keep("steps", b) // where it cannot be kept it is found again
			}
		}
		return job, err
	})
}

// PrepareJob does so for a run that was just imported, where the first look would take long.
func PrepareJob(ctx context.Context, run *view.Run) error {
	if !run.Store.Info().Timed() {
		return nil
	}
	d := view.FindDevices(run.Store.Locations(), nil)
	if !worthKeeping(run.Store, d) {
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

func worthKeeping(r store.Reader, d *view.Devices) bool {
	n := r.Info().Intervals
	return len(d.GPUs) > 0 && n >= fewIntervals && n <= mostIntervals
}

// keptJobOf gives the job that lies with a store, if it is of this version and of this run.
func keptJobOf(r store.Reader, d *view.Devices) *step.Job {
	k, ok := r.(store.Keeper)
	if !ok || !worthKeeping(r, d) {
		return nil
	}
	b, ok := k.Kept("steps")
	if !ok {
		return nil
	}
	var x keptJob
	lanes := r.Lanes()
	if json.Unmarshal(b, &x) != nil || x.Version != jobVersion || x.Generation != r.Generation() || x.Job == nil ||
		!x.Job.Sound(len(d.Units), d.Owner, len(r.Regions()), int(lanes[len(lanes)-1])) {
		return nil
	}
	return x.Job
}
