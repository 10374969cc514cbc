package requests

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/latency"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An Overview is the first view of all requests of a run. It is made when the run is imported and is stored next to its
// store, since putting ten million spans into trees takes seconds.
type Overview struct {
	Outline  *request.Outline
	Graph    *request.Graph
	Critical *request.Critical
	// ByOperation and ByService are the critical paths, merged.
	ByOperation, ByService []request.OnPath

	Uses  []request.Use
	Found *latency.Found

	forest *request.Forest // of the outline
}

// Fewer spans are put into trees while one waits; an outline of more calls is not small.
const (
	fewSpans    = 1 << 18
	mostOutline = 1 << 19
	mostOnPaths = 1 << 16
)

// OverviewOfRun is the overview of a run with many requests; nil if it would not be small.
var OverviewOfRun = derived.Derived[*Overview]{
	Name: "requests", Version: 5, Make: makeOverview, Restore: (*Overview).restore,
	Keeps: func(r store.Reader) bool { return r.Info().Intervals >= fewSpans && runfacts.HasSpans(r) },
}

// FindOverview returns the overview of a run, nil where none is kept.
func FindOverview(run *derived.Run) *Overview {
	o, _ := OverviewOfRun.Found(run)
	return o
}

// FindOverviewIn is FindOverview where a window holds all requests; else it is nil.
func FindOverviewIn(run *derived.Run, w store.Window) *Overview {
	if !w.Whole(run.Store) {
		return nil
	}
	return FindOverview(run)
}

// Forest are the requests of the overview, with the calls of its outline.
func (o *Overview) Forest() *request.Forest { return o.forest }

// SizeBytes estimates the memory of an overview.
func (o *Overview) SizeBytes() int64 {
	if o == nil {
		return 64
	}
	return o.forest.SizeBytes() + 64*int64(o.Critical.Requests)
}

func makeOverview(ctx context.Context, run *derived.Run) (*Overview, error) {
	source := runfacts.SpanSourceOf(ctx, run.Store)
	f, err := request.Gather(source)
	if err != nil || !f.Outlined(mostOutline) {
		return nil, err
	}
	all := f.Within(0, math.MaxInt64, nil)
	o := &Overview{}
	var problem error
	looks := []func(){ // none needs another, and the forest stays as it is
		func() { o.Found, problem = latency.Find(f, source, all) },
		func() { o.Outline = f.Outline(mostOutline) },
		func() { o.Critical = f.CriticalPaths(all) },
		func() { o.Graph = f.Graph(all, nil) },
		func() { o.Uses = f.Uses(all) },
	}
	if err := cmp.Or(parallel.For(ctx, len(looks), func(i int) { looks[i]() }), problem); err != nil {
		return nil, err
	}
	c := o.Critical
	if len(c.By) > mostOnPaths {
		return nil, nil
	}
	o.ByOperation, o.ByService = c.Merge(c.By, false), c.Merge(c.By, true)
	return o, o.restore(run.Store)
}

// errOtherRun is the error of an overview that names locations or regions unknown to its run.
var errOtherRun = errors.New("the overview of requests is not that of this run")

// restore checks an overview against its run, and makes the requests of its outline.
func (o *Overview) restore(r store.Reader) error {
	if o.Outline == nil || o.Graph == nil || o.Found == nil || o.Critical == nil || o.Critical.Paths == nil {
		return errOtherRun
	}
	o.forest = o.Outline.Forest(runfacts.SpanSourceOf(context.Background(), r))
	if o.forest == nil || !o.fits(len(r.Regions()), r.Locations().Len()) {
		return errOtherRun
	}
	o.Critical.Requests = len(o.forest.Requests)
	return nil
}

// fits reports whether an overview speaks of nothing that the run does not have.
func (o *Overview) fits(regions, locations int) bool {
	is := func(service trace.LocationID, region trace.RegionID) bool {
		return int(service) < locations && int(region) < regions
	}
	good := true
	for i, p := range o.Critical.Paths.List {
		good = good && is(p.Service, p.Region) && p.Parent >= -1 && p.Parent < int32(i)
	}
	lists := [][]request.OnPath{o.Critical.By}
	for _, list := range [][]request.OnPath{o.ByOperation, o.ByService} {
		lists = append(lists, list)
	}
	for _, list := range lists {
		for i := range list {
			good = good && list[i].Path >= 0 && int(list[i].Path) < len(o.Critical.Paths.List)
		}
	}
	for _, u := range o.Uses {
		good = good && is(u.Service, u.Region)
	}
	for _, s := range o.Graph.Services {
		good = good && int(s.At) < locations
	}
	for _, e := range o.Graph.Edges {
		good = good && int(e.To) < locations && (e.From == trace.NoLocation || int(e.From) < locations)
	}
	for i := range o.Found.Faults {
		x := &o.Found.Faults[i]
		good = good && is(x.Caller.Service, x.Caller.Region) && int(x.Worst) < len(o.Outline.ID) && x.Worst >= 0 &&
			len(x.Ops) > 0 && (x.At == trace.NoLocation || int(x.At) < locations)
		for _, o := range x.Ops {
			good = good && is(o.Service, o.Region)
		}
	}
	return good
}
