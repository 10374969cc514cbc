package steppath

import (
	"context"
	"errors"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/step"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/words"
)

// PathsOfRun are the paths of the steps of a whole run.
var PathsOfRun = derived.Derived[*Paths]{
	Name: "steppaths", Version: 2, Make: makePaths, Restore: (*Paths).restore,
	Keeps: func(r store.Reader) bool { return runfacts.IsLargeJob(r) && !runfacts.HasSpans(r) },
}

func makePaths(ctx context.Context, run *derived.Run) (*Paths, error) {
	r := run.Store
	part := runfacts.FindDevices(r.Locations(), nil).In(ctx, r, store.Window{End: r.Info().End})
	if err := checkRows(part); err != nil {
		return nil, err
	}
	job, err := step.JobOfRun.Of(ctx, run)
	if err != nil {
		return nil, err
	}
	return Find(ctx, part, job)
}

// In walks the steps of the devices in a window of a run.
func In(ctx context.Context, run *derived.Run, w store.Window, d *runfacts.Devices) (*Paths, error) {
	if w.Whole(run.Store) {
		return PathsOfRun.Of(ctx, run)
	}
	part := d.In(ctx, run.Store, w)
	if err := checkRows(part); err != nil {
		return nil, err
	}
	job, err := step.Analyse(part)
	if err != nil {
		return nil, err
	}
	return Find(ctx, part, job)
}

// checkRows refuses more rows than are walked.
func checkRows(p *runfacts.GPUPart) error {
	n, err := p.Store.Count(p.Window)
	if err != nil {
		return err
	}
	if n > MostRows {
		return words.Empty("choose some steps or some ranks",
			"the selection has %s, and a path is walked in memory: at most %s", words.Count(int(n), "interval"),
			words.Thousands(MostRows))
	}
	return nil
}

// errOtherRun is the error of paths that name rows or regions unknown to their run.
var errOtherRun = errors.New("the paths of steps are not those of this run")

// restore checks paths that were kept against their run.
func (p *Paths) restore(r store.Reader) error {
	tree := r.Locations()
	if !p.fits(len(runfacts.FindDevices(tree, nil).Units), len(r.Regions()), tree.Len()) {
		return errOtherRun
	}
	return nil
}
