// Package runpath gives the critical path of a run, whatever it is of: the steps of a GPU job, or its slowest request.
package runpath

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/criticalpath"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/requests"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/steppath"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A Stretch is a part of a critical path: its location from begin to end, and the region in which the time
// is spent.
type Stretch struct {
	Begin, End trace.Time
	Location   trace.LocationID // NoLocation: nothing is recorded
	Region     trace.RegionID
	Of         int32 // of Path.Names
	Kind       string
	Waits      bool // no location works: a launch on its way, a queue
}

// A Path is the critical paths of steps or of a request, in order of time. Those of one name lie end to end.
type Path struct {
	What      string // "step" or "request"
	Names     []string
	Stretches []Stretch
}

// ErrNoPath is the error of runs without requests and GPU work.
var ErrNoPath = errors.New("critical paths are those of requests and of the steps of GPU jobs, and the run has neither")

// Of returns the critical paths of a run: of all steps of a GPU job, or of the request that takes longest of
// those that begin in the window. Those of steps are kept with the run, so that moving about asks nothing twice.
func Of(ctx context.Context, run *derived.Run, w store.Window) (*Path, error) {
	if runfacts.HasSpans(run.Store) {
		return slowestRequest(ctx, run, w)
	}
	d := runfacts.FindDevices(run.Store.Locations(), nil)
	if len(d.GPUs) == 0 {
		return nil, ErrNoPath
	}
	whole := store.Window{End: run.Store.Info().End}
	n, err := run.Store.Count(store.Window{End: whole.End, Locations: d.Rows})
	if err != nil {
		return nil, err
	}
	if n > steppath.MostRows {
		whole = w
		d = runfacts.FindDevices(run.Store.Locations(), w.Locations)
	}
	paths, err := steppath.In(ctx, run, whole, d)
	if err != nil {
		return nil, err
	}
	c := &Path{What: "step"}
	for i := range paths.Steps {
		s := &paths.Steps[i]
		c.Names = append(c.Names, s.Name)
		for _, x := range s.Sections {
			waits := x.Kind == steppath.Launch || x.Kind == steppath.Queue || x.Kind == steppath.Nothing
			c.Stretches = append(c.Stretches,
				Stretch{x.Begin, x.End, x.Location, x.Region, int32(i), x.Kind.String(), waits})
		}
	}
	c.sort()
	return c, ctx.Err()
}

func (c *Path) sort() {
	slices.SortStableFunc(c.Stretches,
		func(a, b Stretch) int { return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Of, b.Of)) })
}

// slowestRequest is the path of the request that takes longest.
func slowestRequest(ctx context.Context, run *derived.Run, w store.Window) (*Path, error) {
	forest, slowest, err := requests.Slowest(ctx, run, w)
	if err != nil {
		return nil, err
	}
	c := &Path{What: "request"}
	if slowest == nil {
		return c, nil
	}
	c.Names = []string{slowest.ID}
	tree := run.Store.Locations()
	forest.Walk(forest.Walker(), slowest, func(s criticalpath.Section) {
		x := Stretch{Begin: s.Begin, End: s.End, Location: trace.NoLocation, Region: trace.NoRegion,
			Kind: "between calls", Waits: true}
		if s.Node != request.NoRoot {
			at := forest.At(s.Node)
			x.Location, x.Region, x.Kind, x.Waits = at.Location, forest.Region[s.Node],
				tree.Name[forest.Service(s.Node)], false
		}
		c.Stretches = append(c.Stretches, x)
	})
	c.sort()
	return c, ctx.Err()
}
