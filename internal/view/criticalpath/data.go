package criticalpath

import (
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Row is the time of a call path on the critical paths of requests. Mean and percentiles are
// over the requests that have it there.
type Row struct {
	Region       string     `json:"region" unit:""`
	Service      string     `json:"service" unit:""`
	CallPath     string     `json:"callpath" unit:""`
	Time         trace.Time `json:"time" unit:"ns"`
	Share        float64    `json:"share" unit:"share"`
	Mean         float64    `json:"mean" unit:"ns"`
	P50          trace.Time `json:"p50" unit:"ns"`
	P95          trace.Time `json:"p95" unit:"ns"`
	P99          trace.Time `json:"p99" unit:"ns"`
	Requests     int        `json:"requests" unit:"count"`
	RequestShare float64    `json:"request_share" unit:"share"`
	// Half is the most that a request would gain on average if this took half the time.
	Half     float64          `json:"gain_if_halved" unit:"ns"`
	Failed   int64            `json:"failed" unit:"count"`
	RegionID trace.RegionID   `json:"-" about:"region"`
	At       trace.LocationID `json:"-" about:"location"`
}

// A Section is a stretch of the path of one request. Kind is "self" or, where the root of the
// request is not in the source, "missing".
type Section struct {
	Location *trace.LocationID `json:"location"`
	Path     string            `json:"path"`
	Region   string            `json:"region"`
	Begin    trace.Time        `json:"begin"`
	End      trace.Time        `json:"end"`
	Kind     string            `json:"kind"`
	Moved    trace.Time        `json:"moved"`
}

// Data is the "data" of the JSON output. Length is of all requests together; path is that of
// the request named.
type Data struct {
	Length   trace.Time `json:"length"`
	Requests int        `json:"requests"`
	Request  string     `json:"request"`
	Duration trace.Time `json:"request_duration"` // of the request named
	Path     []Section  `json:"path"`
	By       []Row      `json:"by"`
	Clipped  int64      `json:"clipped"`
	Outside  int64      `json:"outside"`
	Moved    int64      `json:"moved"`
	// MostMoved is by how much at most.
	MostMoved trace.Time `json:"most_moved"`
	Rootless  trace.Time `json:"rootless"`
}

func (r *result) Data() any {
	d := Data{Length: r.critical.Length, Requests: len(r.chosen), Request: r.forest.Requests[r.shown].ID,
		Duration: r.forest.Requests[r.shown].Duration(), Path: []Section{}, By: append([]Row{}, r.rows...),
		Clipped: r.critical.Clipped, Outside: r.critical.Outside, Moved: r.critical.Moved,
		MostMoved: r.critical.MostMoved, Rootless: r.critical.Rootless}
	for _, s := range r.path {
		x := Section{Begin: s.Begin, End: s.End, Kind: "missing", Moved: s.Moved}
		if s.Node != request.NoRoot {
			at := r.forest.At(s.Node).Location
			x.Location, x.Path, x.Region, x.Kind = &at, r.tree.Path(at), r.forest.Regions[r.forest.Region[s.Node]].Name,
				"self"
		}
		d.Path = append(d.Path, x)
	}
	return d
}

func (r *result) Table() *view.Table { return view.TableOf(r.rows, nil, nil) }

// makeRows makes the rows that were asked for, and finds the services.
func (r *result) makeRows() {
	by := r.request.Values.Text("by")
	list := slices.Clone(r.critical.By)
	times := map[trace.LocationID]trace.Time{}
	for i := range list {
		times[r.critical.Paths.List[list[i].Path].Service] += list[i].Time
	}
	if chosen := r.request.Selection.Regions; chosen != nil {
		list = slices.DeleteFunc(list,
			func(p request.OnPath) bool { return !slices.Contains(chosen, r.critical.Paths.List[p.Path].Region) })
	}
	switch {
	case by == "callpath":
	case r.kept != nil && by == "service":
		list = r.kept.ByService
	case r.kept != nil:
		list = r.kept.ByOperation
	default:
		list = r.critical.Merge(list, by == "service")
	}
	r.rows = []Row{}
	for i := range list {
		p := &list[i]
		path := r.critical.Paths.List[p.Path]
		x := Row{Region: r.forest.Regions[path.Region].Name, Service: r.tree.Name[path.Service],
			CallPath: r.callPath(p.Path), Time: p.Time, Mean: p.Mean, P50: p.Median, P95: p.P95, P99: p.P99,
			Requests: p.Requests, RequestShare: float64(p.Requests) / float64(len(r.chosen)),
			Share: share(p.Time, r.critical.Length), Half: float64(p.Time) / 2 / float64(len(r.chosen)),
			Failed: p.Failed, RegionID: path.Region, At: path.Service}
		switch by {
		case "operation":
			x.CallPath = ""
		case "service":
			x.Region, x.CallPath, x.RegionID = "", "", trace.NoRegion
		}
		r.rows = append(r.rows, x)
	}
	r.services = times
}

// callPath writes a path out: "front: GET / > cart: add".
func (r *result) callPath(id int32) string {
	var parts []string
	for _, k := range r.critical.Paths.Chain(id) {
		p := r.critical.Paths.List[k]
		parts = append(parts, r.tree.Name[p.Service]+": "+r.forest.Regions[p.Region].Name)
	}
	return strings.Join(parts, pathSign)
}

// pathSign is the sign between a caller and a callee.
const pathSign = " > "

func share(part, whole trace.Time) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}
