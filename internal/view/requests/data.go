package requests

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Row is one request. Critical lists the parts of its critical path, most first.
type Row struct {
	ID       string           `json:"id" unit:""`
	Root     string           `json:"root" unit:""`
	Service  string           `json:"service" unit:""`
	Begin    trace.Time       `json:"begin" unit:"ns"`
	Duration trace.Time       `json:"duration" unit:"ns"`
	After    trace.Time       `json:"after" unit:"ns"` // that calls go on when an asynchronous request's root has ended
	Spans    int32            `json:"spans" unit:"count"`
	Services int32            `json:"services" unit:"count"`
	Errors   int32            `json:"errors" unit:"count"`
	Roots    int              `json:"roots" unit:"count"`
	Chosen   bool             `json:"chosen" unit:"" write:"yes,no"`
	Most     string           `json:"-" unit:"" table:"critical"` // longest part of its critical path
	Critical []Critical       `json:"critical"`
	At       trace.LocationID `json:"-" about:"location"`
}

// A Critical is the time of an operation on the critical path of a request.
type Critical struct {
	Service string     `json:"service"`
	Region  string     `json:"region"`
	Time    trace.Time `json:"time"`
	Share   float64    `json:"share"` // of the request
}

func compareCritical(a, b Critical) int {
	return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Service, b.Service), cmp.Compare(a.Region, b.Region))
}

// A Self is an operation in all the requests: self time is duration less all children.
type Self struct {
	Service  string     `json:"service"`
	Region   string     `json:"region"`
	Calls    int64      `json:"calls"`
	Duration trace.Time `json:"duration"`
	Self     trace.Time `json:"self"`
	Errors   int64      `json:"errors"`
}

// A Differ is something that separates the requests chosen from the rest.
type Differ struct {
	Attribute    string  `json:"attribute" unit:""`
	Value        string  `json:"value" unit:""`
	AndAttribute string  `json:"and_attribute" unit:""` // of two values together, the second
	AndValue     string  `json:"and_value" unit:""`
	Inside       float64 `json:"inside" unit:""`
	Outside      float64 `json:"outside" unit:""`
	Unit         string  `json:"unit" unit:""`
	Effect       float64 `json:"effect" unit:""`
	P            float64 `json:"p" unit:""`
	Q            float64 `json:"q" unit:""`
}

// A Span is a call of the request that is drawn as a tree, in its order; parent is a place in the list.
type Span struct {
	Parent   *int             `json:"parent"`
	Level    int              `json:"depth" unit:"count"`
	Service  string           `json:"service" unit:""`
	Region   string           `json:"region" unit:""`
	Path     string           `json:"path" unit:""`
	Begin    trace.Time       `json:"begin" unit:"ns"`
	Duration trace.Time       `json:"duration" unit:"ns"`
	Self     trace.Time       `json:"self" unit:"ns"`
	Critical trace.Time       `json:"critical" unit:"ns"`
	Failed   bool             `json:"failed" unit:"" write:"yes,no"`
	RegionID trace.RegionID   `json:"-" about:"region"`
	At       trace.LocationID `json:"location" about:"location"`
}

// Data is the "data" of the JSON output. Spans are those of the one request that is chosen.
type Data struct {
	Rows    []Row    `json:"rows"`
	Self    []Self   `json:"self"`
	Differs []Differ `json:"differs"`
	Tests   int      `json:"tests"`
	Spans   []Span   `json:"spans"`
	P50     int64    `json:"p50"`
	P95     int64    `json:"p95"`
	P99     int64    `json:"p99"`
}

func (r *result) Data() any {
	d := Data{Rows: r.rows(), Self: append([]Self{}, r.self...), Differs: differences(r.differs), Tests: r.tests,
		Spans: r.spans()}
	times := r.durations()
	d.P50, d.P95, d.P99 = int64(request.Quantile(times, 0.5)), int64(request.Quantile(times, 0.95)),
		int64(request.Quantile(times, 0.99))
	return d
}

// durations of all requests, sorted.
func (r *result) durations() []trace.Time {
	times := make([]trace.Time, len(r.all))
	for i, k := range r.all {
		times[i] = r.forest.Requests[k].Duration()
	}
	slices.Sort(times)
	return times
}

// Table has the calls of one request, the differences, or the requests.
func (r *result) Table() *view.Table {
	switch {
	case r.one >= 0:
		return view.TableOf(r.spans(), nil, nil)
	case len(r.differs) > 0:
		return view.TableOf(differences(r.differs), nil, nil)
	}
	return view.TableOf(r.rows(), nil, nil)
}

func (r *result) isChosen(k int32) bool {
	_, in := slices.BinarySearch(r.chosen, k)
	return in
}

// rootName is the name of a request.
func (r *result) rootName(q *request.Request) (region string, service trace.LocationID) {
	node := q.Root
	if node == request.NoRoot {
		node = q.Roots[0]
	}
	return r.forest.Regions[r.forest.Region[node]].Name, r.forest.Service(node)
}

func (r *result) rows() []Row {
	out := make([]Row, len(r.all))
	for i, k := range r.all {
		q := &r.forest.Requests[k]
		root, service := r.rootName(q)
		x := Row{ID: q.ID, Root: root, Service: r.tree.Name[service], Begin: q.Begin, Duration: q.Duration(),
			After: q.After(), Spans: q.Spans, Services: q.Services, Errors: q.Errors, Roots: len(q.Roots),
			Chosen:   r.isChosen(k),
			Critical: r.critical(k), At: service}
		if len(x.Critical) > 0 {
			x.Most = x.Critical[0].Service + ": " + x.Critical[0].Region
		}
		out[i] = x
	}
	return out
}

func differences(list []request.Difference) []Differ {
	out := make([]Differ, len(list))
	for i, x := range list {
		out[i] = Differ{x.Attribute, x.Value, x.AndAttribute, x.AndValue, x.Inside, x.Outside, x.Unit, x.Effect, x.P,
			x.Q}
	}
	return out
}

// sumSelf adds up operations over the requests, and ranks services for their colours.
func (r *result) sumSelf() {
	services := map[trace.LocationID]trace.Time{}
	chosen := r.request.Selection.Regions
	var uses []request.Use
	if r.kept != nil {
		uses = r.kept.Uses
	} else {
		uses = r.forest.Uses(r.all)
	}
	for _, u := range uses {
		services[u.Service] += u.Self
		if chosen == nil || slices.Contains(chosen, u.Region) {
			r.self = append(r.self,
				Self{Service: r.tree.Name[u.Service], Region: r.forest.Regions[u.Region].Name, Calls: u.Calls,
					Duration: u.Duration, Self: u.Self, Errors: u.Errors})
		}
	}
	slices.SortFunc(r.self, func(a, b Self) int {
		return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(b.Duration, a.Duration),
			cmp.Compare(a.Service, b.Service), cmp.Compare(a.Region, b.Region))
	})
	r.services = services
}

// spans are all calls of the one request.
func (r *result) spans() []Span {
	out := []Span{}
	if r.one < 0 {
		return out
	}
	f := r.forest
	at := map[int32]int{}
	f.Each(&f.Requests[r.one], func(node int32, depth int) {
		call := f.At(node)
		x := Span{Level: depth, Service: r.tree.Name[f.Service(node)], Region: f.Regions[call.Region].Name,
			Path: r.tree.Path(call.Location), Begin: call.Begin, Duration: call.End - call.Begin, Self: f.Self[node],
			Critical: r.fold.critical[node], Failed: f.Failed(node), RegionID: call.Region, At: call.Location}
		if p, ok := at[f.Parent[node]]; ok {
			x.Parent = &p
		}
		at[node] = len(out)
		out = append(out, x)
	})
	return out
}
