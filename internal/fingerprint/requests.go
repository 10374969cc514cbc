package fingerprint

import (
	"bytes"
	"context"
	"encoding/gob"
	"math"

	"github.com/parallax-hpc/parallax/internal/analysis/latency"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/derived"
	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Forest gives the requests of a run, read once for all views.
func Forest(ctx context.Context, run view.Run) (*request.Forest, error) {
	return derived.Keep(run.Cache, forestName, (*request.Forest).SizeBytes, func() (*request.Forest, error) {
		return request.Gather(view.SpanSourceOf(ctx, run.Store))
	})
}

// Requests are what a first look at all requests of a run shows. It is made when the run is imported and lies with its
// store, since to put ten million spans into trees takes seconds.
type Requests struct {
	Forest   *request.Forest // of the outline
	Graph    *request.Graph
	Critical *request.Critical
	Merged   map[string][]request.OnPath // "operation", "service"
	Uses     []request.Use
	Found    *latency.Found
}

// Fewer spans are put into trees while one waits; an outline of more calls is not small.
const (
	fewSpans         = 1 << 18
	mostOutline      = 1 << 19
	mostOnPaths      = 1 << 16
	requestsVersion  = 1
	keptRequestsName = "requests"
	forestName       = "requests"
)

// keptRequests is what lies there.
type keptRequests struct {
	Version    int
	Generation uint64
	Outline    *request.Outline
	Graph      *request.Graph
	Length     trace.Time
	Rootless   trace.Time
	Walked     [3]int64 // clipped, outside, moved
	MostMoved  trace.Time
	Paths      []request.Path
	By         []request.OnPath
	Merged     map[string][]request.OnPath
	Uses       []request.Use
	Found      *latency.Found
}

// PrepareRequests makes what the first look at many requests shows, and keeps it.
func PrepareRequests(ctx context.Context, run *view.Run) error {
	if run.Store.Info().Intervals < fewSpans || !view.HasSpans(run.Store) {
		return nil
	}
	return keepRequests(ctx, run)
}

func keepRequests(ctx context.Context, run *view.Run) error {
	to, keeps := run.Store.(store.Keeper)
	if !keeps {
		return nil
	}
	f, err := request.Gather(view.SpanSourceOf(ctx, run.Store))
	if err != nil {
		return err
	}
	if !f.Outlined(mostOutline) {
		return nil
	}
	all := f.Within(0, math.MaxInt64, nil)
	k := keptRequests{Version: requestsVersion, Generation: run.Store.Generation()}
	var c *request.Critical
	looks := []func(){ // none needs another, and the forest stays as it is
		func() { k.Found = latency.Find(f, all) },
		func() { k.Outline = f.Outline(mostOutline) },
		func() { c = f.CriticalPaths(all) },
		func() { k.Graph = f.Graph(all, nil) },
		func() { k.Uses = f.Uses(all) },
	}
	if err := parallel.For(ctx, len(looks), func(i int) { looks[i]() }); err != nil {
		return err
	}
	if len(c.By) > mostOnPaths {
		return nil
	}
	k.Length, k.Rootless, k.Walked, k.MostMoved = c.Length, c.Rootless, [3]int64{c.Clipped, c.Outside, c.Moved},
		c.MostMoved
	k.Paths, k.By = c.Paths.List, c.By
	k.Merged = map[string][]request.OnPath{"operation": c.Merge(c.By, false), "service": c.Merge(c.By, true)}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(&k); err != nil {
		return err
	}
	return to.Keep(keptRequestsName, b.Bytes())
}

// KeptRequests gives what lies with the store, where all requests are looked at; nil where it has to be found.
func KeptRequests(ctx context.Context, q *view.Request) *Requests {
	if r := q.Store(); q.Selection.Begin > 0 || q.Selection.End < r.Info().End || q.Selection.Locations != nil {
		return nil
	}
	return keptRequestsOf(ctx, q.Runs[0])
}

func keptRequestsOf(ctx context.Context, run view.Run) *Requests {
	size := func(x *Requests) int64 {
		if x == nil {
			return 64
		}
		return x.Forest.SizeBytes() + 64*int64(x.Critical.Requests)
	}
	kept,
		_ := derived.Keep(run.Cache, "kept requests", size,
		func() (*Requests, error) { return readRequests(ctx, run.Store), nil })
	return kept
}

func readRequests(ctx context.Context, r store.Reader) *Requests {
	from, ok := r.(store.Keeper)
	if !ok || !view.HasSpans(r) {
		return nil
	}
	b, ok := from.Kept(keptRequestsName)
	if !ok {
		return nil
	}
	var k keptRequests
	if gob.NewDecoder(bytes.NewReader(b)).Decode(&k) != nil || k.Version != requestsVersion ||
		k.Generation != r.Generation() || k.Outline == nil || k.Graph == nil || k.Found == nil {
		return nil
	}
	f := k.Outline.Forest(view.SpanSourceOf(ctx, r))
	if f == nil || !k.sound(len(r.Regions()), r.Locations().Len()) {
		return nil
	}
	c := &request.Critical{Requests: len(f.Requests), Length: k.Length, Rootless: k.Rootless,
		Paths: &request.Paths{List: k.Paths}, By: k.By,
		Clipped: k.Walked[0], Outside: k.Walked[1], Moved: k.Walked[2], MostMoved: k.MostMoved}
	return &Requests{Forest: f, Graph: k.Graph, Critical: c, Merged: k.Merged, Uses: k.Uses, Found: k.Found}
}

// sound reports whether what was read back speaks of nothing that the run does not have.
func (k *keptRequests) sound(regions, locations int) bool {
	is := func(service trace.LocationID, region trace.RegionID) bool {
		return int(service) < locations && int(region) < regions
	}
	good := true
	for i, p := range k.Paths {
		good = good && is(p.Service, p.Region) && p.Parent >= -1 && p.Parent < int32(i)
	}
	lists := [][]request.OnPath{k.By}
	for _, list := range k.Merged {
		lists = append(lists, list)
	}
	for _, list := range lists {
		for i := range list {
			good = good && list[i].Path >= 0 && int(list[i].Path) < len(k.Paths)
		}
	}
	for _, u := range k.Uses {
		good = good && is(u.Service, u.Region)
	}
	for _, s := range k.Graph.Services {
		good = good && int(s.At) < locations
	}
	for _, e := range k.Graph.Edges {
		good = good && int(e.To) < locations && (e.From == trace.NoLocation || int(e.From) < locations)
	}
	for i := range k.Found.Faults {
		x := &k.Found.Faults[i]
		good = good && is(x.Caller.Service, x.Caller.Region) && int(x.Worst) < len(k.Outline.ID) && x.Worst >= 0 &&
			len(x.Ops) > 0 && (x.At == trace.NoLocation || int(x.At) < locations)
		for _, o := range x.Ops {
			good = good && is(o.Service, o.Region)
		}
	}
	return good
}
