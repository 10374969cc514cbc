package fingerprint

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/criticalpath"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/steppath"
	"github.com/parallax-hpc/parallax/internal/derived"
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

// ErrNoPath is the error of runs without requests and GPU work.
var ErrNoPath = errors.New("critical paths are those of requests and of the steps of GPU jobs, and the run has neither")

// CriticalPath gives the critical paths of a run: of all steps of a GPU job, or of the request that takes longest of
// those that begin in the window. Those of steps are kept with the run, so that moving about asks nothing twice.
func CriticalPath(ctx context.Context, run view.Run, w store.Window) (*Critical, error) {
	if view.HasSpans(run.Store) {
		return slowestRequest(ctx, run, w)
	}
	d := view.FindDevices(run.Store.Locations(), nil)
	if len(d.GPUs) == 0 {
		return nil, ErrNoPath
	}
	whole := store.Window{End: run.Store.Info().End}
	if run.Store.Count(store.Window{End: whole.End, Locations: d.Rows}) > steppath.MostRows {
		whole = w
		d = view.FindDevices(run.Store.Locations(), w.Locations)
	}
	paths, err := StepPaths(ctx, run, whole, d)
	if err != nil {
		return nil, err
	}
	c := &Critical{What: "step"}
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

// mostSections bounds what is kept.
const mostSections = 200_000

// StepPaths walks the steps of a window of a GPU job. Of a whole run that is done once: what is found is kept while the
// run is open, and that of a large run with its store.
func StepPaths(ctx context.Context, run view.Run, w store.Window, d *view.Devices) (*steppath.Paths, error) {
	r := run.Store
	rows := w
	rows.Locations = d.Rows
	if !Whole(r, w) {
		if n := r.Count(rows); n > steppath.MostRows {
			return nil, tooLong(n)
		}
		source := JobOf(ctx, r, w, d)
		job, err := source.Analyse()
		if err != nil {
			return nil, err
		}
		return steppath.Find(ctx, source, job)
	}
	return derived.Keep(run.Cache, "step paths", (*steppath.Paths).SizeBytes, func() (*steppath.Paths, error) {
		return Kept(r, d, pathKeeping(r, d), func() (*steppath.Paths, error) {
			if n := r.Count(rows); n > steppath.MostRows {
				return nil, tooLong(n)
			}
			job, err := Job(ctx, &run, d)
			if err != nil {
				return nil, err
			}
			return steppath.Find(ctx, JobOf(ctx, r, store.Window{End: r.Info().End}, d), job)
		})
	})
}

// pathKeeping says how paths lie with their store.
func pathKeeping(r store.Reader, d *view.Devices) Keeping[steppath.Paths] {
	return Keeping[steppath.Paths]{
		Name: "steppaths", Version: 1,
		Small: func(p *steppath.Paths) bool { return p.Sections() <= mostSections },
		Sound: func(p *steppath.Paths) bool { return p.Sound(len(d.Units), len(r.Regions()), r.Locations().Len()) },
	}
}

func tooLong(n int64) error {
	return view.Empty("choose some steps or some ranks",
		"the selection has %s, and a path is walked in memory: at most %s", view.Count(int(n), "interval"),
		view.Thousands(steppath.MostRows))
}

// PrepareStepPaths does so for a run that was just imported, where the first look would take long.
func PrepareStepPaths(ctx context.Context, run *view.Run) error {
	d := LargeJob(run.Store)
	if d == nil || view.HasSpans(run.Store) {
		return nil
	}
	_, err := StepPaths(ctx, *run, store.Window{End: run.Store.Info().End}, d)
	return err
}

func (c *Critical) sort() {
	slices.SortStableFunc(c.Stretches,
		func(a, b Stretch) int { return cmp.Or(cmp.Compare(a.Begin, b.Begin), cmp.Compare(a.Of, b.Of)) })
}

// slowestRequest is the path of the request that takes longest.
func slowestRequest(ctx context.Context, run view.Run, w store.Window) (*Critical, error) {
	forest, slowest, err := findSlowest(ctx, run, w)
	if err != nil {
		return nil, err
	}
	c := &Critical{What: "request"}
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

// findSlowest gives the request of a window that takes longest, nil for none, without reading all spans where what is
// kept tells which one it is.
func findSlowest(ctx context.Context, run view.Run, w store.Window) (*request.Forest, *request.Request, error) {
	end := w.End
	if end == run.Store.Info().End {
		end++
	}
	if kept := keptRequestsOf(ctx, run); kept != nil && w.Locations == nil {
		k := kept.Forest.Slowest(kept.Forest.Within(w.Begin, end, nil))
		if k < 0 {
			return kept.Forest, nil, nil
		}
		if p, err := readSome(ctx, run, kept, []int32{k}, mostOne); p != nil || err != nil {
			return p.forestOf(), p.first(), err
		}
	}
	forest, err := Forest(ctx, run)
	if err != nil {
		return nil, nil, err
	}
	k := forest.Slowest(forest.Within(w.Begin, end, view.LocationSet(run.Store.Locations(), w.Locations)))
	if k < 0 {
		return forest, nil, nil
	}
	return forest, &forest.Requests[k], nil
}
