package fingerprint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/criticalpath"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/steppath"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Stretch is a part of a critical path: where it is from begin to end, and with what the time is spent.
type Stretch struct {
	Begin, End trace.Time
	Location   trace.LocationID // NoLocation: nobody records anything
	Region     trace.RegionID
	Of         int32 // of Critical.Names
	Kind       string
	Waits      bool // nobody works: a launch on its way, a queue
}

// Critical are the critical paths of steps or of a request, in order of time. Those of one name lie end to end.
type Critical struct {
	What      string // "step" or "request"
	Names     []string
	Stretches []Stretch
}

// SizeBytes is about what it takes.
func (c *Critical) SizeBytes() int64 { return 64*int64(len(c.Stretches)) + 1000 }

// ErrNoPath is the error of runs without requests and GPU work.
var ErrNoPath = errors.New("critical paths are those of requests and of the steps of GPU jobs, and the run has neither")

// CriticalPath gives the critical paths of a run: of all steps of a GPU job, or of the request that takes longest of those that begin in
// the window. That of steps is kept with the run, so that moving about asks nothing twice.
func CriticalPath(ctx context.Context, run view.Run, w store.Window) (*Critical, error) {
	if view.HasSpans(run.Store) {
		return slowestRequest(ctx, run, w)
	}
	d := view.FindDevices(run.Store.Locations(), nil)
	if len(d.GPUs) == 0 {
		return nil, ErrNoPath
	}
	whole := store.Window{End: run.Store.Info().End, Locations: d.Rows}
	if run.Store.Count(whole) <= steppath.MostRows {
		return view.Keep(run.Cache, "critical path", (*Critical).SizeBytes, func() (*Critical, error) { return stepPaths(ctx, run.Store, whole, d) })
	}
	d = view.FindDevices(run.Store.Locations(), w.Locations)
	w.Locations = d.Rows
	if n := run.Store.Count(w); n > steppath.MostRows {
		return nil, fmt.Errorf("the path is walked in memory, and %s are more than the %s that it may be: choose some steps or some ranks", view.Count(int(n), "interval"), view.Thousands(steppath.MostRows))
	}
	return stepPaths(ctx, run.Store, w, d)
}

// stepPaths walks the steps of a window.
func stepPaths(ctx context.Context, r store.Reader, w store.Window, d *view.Devices) (*Critical, error) {
	source := JobOf(ctx, r, w, d)
	job, err := source.Analyse()
	if err != nil {
		return nil, err
	}
	graph, err := steppath.Gather(source)
	if err != nil {
		return nil, err
	}
	c := &Critical{What: "step"}
	for _, s := range graph.StepsOf(job, w.Begin, w.End) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		of, from := int32(len(c.Names)), len(c.Stretches)
		c.Names = append(c.Names, s.Name)
		graph.Walk(s.Unit, s.Begin, s.End, func(x steppath.Section) {
			waits := x.Kind == steppath.Launch || x.Kind == steppath.Queue || x.Kind == steppath.Nothing
			c.Stretches = append(c.Stretches, Stretch{x.Begin, x.End, x.Location, x.Region, of, x.Kind.String(), waits})
		})
		slices.Reverse(c.Stretches[from:])
	}
	c.sort()
	return c, ctx.Err()
}

func (c *Critical) sort() {
	slices.SortStableFunc(c.Stretches, func(a, b Stretch) int { return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Of, b.Of)) })
}

// slowestRequest is the path of the request that takes longest.
func slowestRequest(ctx context.Context, run view.Run, w store.Window) (*Critical, error) {
	forest, err := view.Keep(run.Cache, "requests", (*request.Forest).SizeBytes, func() (*request.Forest, error) {
		return request.Gather(view.SpanSourceOf(ctx, run.Store))
	})
	if err != nil {
		return nil, err
	}
	c := &Critical{What: "request"}
	end := w.End
	if end == run.Store.Info().End {
		end++
	}
	var slowest *request.Request
	for _, k := range forest.Within(w.Begin, end, view.LocationSet(run.Store.Locations(), w.Locations)) {
		if x := &forest.Requests[k]; slowest == nil || x.Duration() > slowest.Duration() {
			slowest = x
		}
	}
	if slowest == nil {
		return c, nil
	}
	c.Names = []string{slowest.ID}
	tree := run.Store.Locations()
	forest.Walk(forest.Walker(), slowest, func(s criticalpath.Section) {
		x := Stretch{Begin: s.Begin, End: s.End, Location: trace.NoLocation, Region: trace.NoRegion, Kind: "between calls", Waits: true}
		if s.Node != request.NoRoot {
			at := forest.At(s.Node)
			x.Location, x.Region, x.Kind, x.Waits = at.Location, forest.Region[s.Node], tree.Name[forest.Service(s.Node)], false
		}
		c.Stretches = append(c.Stretches, x)
	})
	c.sort()
	return c, ctx.Err()
}
