package groups

import (
	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Difference is one thing that sets a group apart. Effect is signed: by calls
// the difference of the shares of locations that make the call, by time the
// difference of the mean times as a share of all a location does.
type Difference struct {
	Region  string  `json:"region"`
	Caller  string  `json:"caller"`
	Effect  float64 `json:"effect"`
	Kind    string  `json:"kind"` // calls or time
	Inside  float64 `json:"inside"`
	Outside float64 `json:"outside"` // mean exclusive ns a location
	Text    string  `json:"text"`
}

// A Group is locations that behave alike.
type Group struct {
	ID             int                `json:"id"`
	Members        []trace.LocationID `json:"members"`
	Names          string             `json:"names"`
	Function       string             `json:"function,omitempty"` // run by all of them, if the run records it
	Representative trace.LocationID   `json:"representative"`
	Differs        []Difference       `json:"differs"`
	// Calls are regions that all of it call and not all locations do; Lacks those
	// that none of it calls though others do.
	Calls []string `json:"calls"`
	Lacks []string `json:"lacks"`
}

// A Partial is a call that some locations make and others do not.
type Partial struct {
	Region  string             `json:"region"`
	Caller  string             `json:"caller"`
	Count   int                `json:"count"`
	Members []trace.LocationID `json:"members"`
}

// A PartialRegion is a region that some locations call and others do not, from
// wherever.
type PartialRegion struct {
	Region  string             `json:"region"`
	Count   int                `json:"count"`
	Members []trace.LocationID `json:"members"`
}

// A Similarity compares the representatives each with each, in the order of the dendrogram.
type Similarity struct {
	By        string             `json:"by"`
	Locations []trace.LocationID `json:"locations"`
	Values    [][]float32        `json:"values"`
}

// Data is the "data" of the JSON output.
type Data struct {
	Groups     []Group            `json:"groups"`
	Order      []trace.LocationID `json:"order"`
	Classes    int                `json:"classes"` // different sets of calls
	Silhouette float64            `json:"silhouette"`
	Cost       float64            `json:"cost"` // mean distance from the representative
	Partial    []Partial          `json:"partial"`
	Regions    []PartialRegion    `json:"partial_regions"`
	Similarity Similarity         `json:"similarity"`
}

// mostPartial bounds the list of calls that only some make.
const mostPartial = 500

func (r *result) ids(members []int32) []trace.LocationID {
	out := make([]trace.LocationID, len(members))
	for i, m := range members {
		out[i] = r.locations[m]
	}
	return out
}

func (r *result) caller(p callgraph.Pair) string {
	if p.Caller == callgraph.Root {
		return ""
	}
	return r.nodes[p.Caller].Name
}

// PairData is the "data" of two runs.
type PairData struct {
	Data
	With Data `json:"with"`
}

func (r *result) Data() any {
	g := r.groups
	d := Data{Groups: []Group{}, Order: r.ids(g.Order), Classes: r.table.Classes, Silhouette: g.Silhouette,
		Cost: g.Cost, Partial: []Partial{}, Regions: []PartialRegion{},
		Similarity: Similarity{By: r.request.Values.Text("similarity"), Locations: r.ids(g.Sampled),
			Values: [][]float32{}}}
	for k, members := range g.Members {
		x := Group{ID: k, Members: r.ids(members), Names: view.NameList(r.names, members, 12), Function: r.function(k),
			Representative: r.locations[g.Medoid[k]], Differs: []Difference{}}
		x.Calls, x.Lacks = r.signature(k)
		for i := range r.differs[k] {
			x.Differs = append(x.Differs, r.difference(k, i))
		}
		d.Groups = append(d.Groups, x)
	}
	for _, p := range r.partials[:min(len(r.partials), mostPartial)] {
		pair := r.table.Columns[p.Column]
		d.Partial = append(d.Partial,
			Partial{r.nodes[pair.Callee].Name, r.caller(pair), len(p.Members), r.ids(p.Members)})
	}
	for _, c := range r.callees[:min(len(r.callees), mostPartial)] {
		d.Regions = append(d.Regions, PartialRegion{r.nodes[c.Node].Name, len(c.Members), r.ids(c.Members)})
	}
	n := len(g.Sampled)
	for i := range n {
		d.Similarity.Values = append(d.Similarity.Values, g.Similarity[i*n:(i+1)*n])
	}
	return d
}

func (r *result) difference(k, i int) Difference {
	x := &r.differs[k][i]
	p := r.table.Columns[x.Column]
	out := Difference{Region: r.nodes[p.Callee].Name, Caller: r.caller(p), Effect: x.Effect, Kind: "time",
		Inside: x.Inside, Outside: x.Outside, Text: r.words(k, x)}
	if x.Calls {
		out.Kind = "calls"
	}
	return out
}

// A line is a location in the table.
type line struct {
	Location trace.LocationID `about:"location"`
	Path     string           `table:"path" unit:""`
	Group    int              `table:"group" unit:""`
	Class    int              `table:"class" unit:""`
	Alike    float64          `table:"alike its representative" unit:"share"`
}

// Table has one line per location, in order.
func (r *result) Table() *view.Table {
	lines := make([]line, len(r.groups.Order))
	for i, m := range r.groups.Order {
		k := r.groups.Of[m]
		lines[i] = line{r.locations[m], r.tree.Path(r.locations[m]), int(k) + 1, int(r.table.Class(int(m))) + 1,
			r.similarity(int(m), int(r.groups.Medoid[k]))}
	}
	return view.TableOf(lines, nil, nil)
}
