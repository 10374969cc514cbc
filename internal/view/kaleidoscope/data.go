package kaleidoscope

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Node is one call of the JSON output; x and y are pixels from the root.
type Node struct {
	ID       int32   `json:"id"`
	Parent   *int32  `json:"parent"`
	Region   string  `json:"region"`
	Location string  `json:"location"`
	Begin    int64   `json:"begin"`
	Level    int32   `json:"level"`
	Ring     int32   `json:"ring"`
	Weight   float64 `json:"weight"`
	Start    float64 `json:"start"`
	Alloc    float64 `json:"alloc"`
	X        float64 `json:"x"`
	Y        float64 `json:"y"`
	// Step and Index are the number of the call in the run and among those of its
	// processor, from 1 on; a root that is no call has none.
	Step  int32 `json:"step"`
	Index int32 `json:"index"`
	// Children is how many calls it made, drawn or not; Expects how many of them, or of those that its source
	// names, had not begun at the time to which the tree has grown.
	Children int32 `json:"children"`
	Expects  int32 `json:"expects"`
	// Label is the paper's: region and step, processor, index.
	Label string `json:"label,omitempty"`
}

// A RegionCount says how many calls the calls of a region made. If all make as many, as
// clauses of a logic program do, the least is the most.
type RegionCount struct {
	Region string `json:"region"`
	Calls  int    `json:"calls"`
	Least  int32  `json:"least"`
	Most   int32  `json:"most"`
	Total  int64  `json:"total"`
	// Goals are the procedures that each of its calls calls, where its source was read.
	Goals []string `json:"goals,omitempty"`
}

// Data is the "data" of the JSON output.
type Data struct {
	Height    int     `json:"height"`
	HMax      int     `json:"hmax"`
	C0        int     `json:"c0"`        // 0: no level is condensed
	Threshold int     `json:"threshold"` // the level up to which every c0-th is drawn
	Ring      float64 `json:"ring"`      // distance of levels before a zoom, in pixels
	Calls     int     `json:"calls"`
	Nodes     []Node  `json:"nodes"`
	// Merged are sectors that stand for several calls. Without a zoom, nodes and their calls are all calls of the tree.
	Merged []Sector `json:"merged"`
	// Children has a row for each region with calls in the tree, in the order of regions.
	Children []RegionCount `json:"children"`
}

func (r *result) Data() any {
	r.lookAgain(r.request.Size)
	d := Data{Height: r.height, HMax: r.hmax, C0: r.condensing.C0, Threshold: r.condensing.T, Ring: r.ring,
		Calls: r.forest.calls.Len(), Nodes: []Node{}}
	t, err := r.tell()
	if err != nil {
		r.failed = err
		return d
	}
	d.Merged, d.Children = r.sectors(), r.childCounts(t)
	r.each(t, func(i int) { d.Nodes = append(d.Nodes, r.nodeData(i, t)) })
	return d
}

// Failed implements view.Late.
func (r *result) Failed() error {
	if r.failed == nil {
		r.failed = r.forest.calls.Err()
	}
	return r.failed
}

// goals are the procedures that calls of a region call, of those whose source was read.
func (r *result) goals() map[trace.RegionID][]string {
	out := map[trace.RegionID][]string{}
	regions := r.request.Store().Regions()
	for id := range regions {
		if names, known := trace.GoalsOf(&regions[id]); known {
			out[trace.RegionID(id)] = names
		}
	}
	return out
}

func (r *result) childCounts(t *told) []RegionCount {
	out := []RegionCount{}
	for id, m := range t.regions {
		if g := &r.forest.regions[id]; m.Calls > 0 {
			c := RegionCount{Region: g.Name, Calls: m.Calls, Least: m.Least, Most: m.Most, Total: m.Total}
			c.Goals, _ = trace.GoalsOf(g)
			out = append(out, c)
		}
	}
	return out
}

// isDrawn reports whether a node is drawn by itself, and had begun.
func (r *result) isDrawn(i int) bool {
	return !r.isMerged(i) && (r.until >= r.forest.end || r.nodeOf(i).Begin <= r.until)
}

// each calls f for the nodes that are drawn, or with --all for all of them, in the order of the run.
func (r *result) each(t *told, f func(i int)) {
	var list []int32
	if r.request.Values.Switch("all") {
		for i := range r.layout.Tree.Len() {
			list = append(list, int32(i))
		}
	} else {
		list = slices.Clone(r.shown)
		slices.SortFunc(list, func(a, b int32) int { return cmp.Compare(t.number[a], t.number[b]) })
	}
	for _, i := range list {
		if r.isDrawn(int(i)) {
			f(int(i))
		}
	}
}

func (r *result) nodeData(i int, t *told) Node {
	c := r.forest.node(r.node(i))
	x, y := r.layout.At(i, r.ring)
	n := Node{ID: t.number[i], Begin: int64(c.Begin), Level: c.Level, Ring: r.layout.Level[i],
		Weight: r.layout.Weight[i],
		Start:  r.layout.Start[i], Alloc: r.layout.Alloc[i], X: x, Y: y,
		Step: t.number[i] + 1, Index: r.forest.indexOf(c), Children: t.made[i], Expects: t.expects[i]}
	if r.forest.calls.Virtual {
		n.Step = t.number[i]
	}
	if p := r.layout.Tree.Parent[i]; p >= 0 {
		n.Parent = &t.number[p]
	}
	if c.Region != trace.NoRegion {
		n.Region = r.request.Store().Regions()[c.Region].Name
		n.Location = r.request.Store().Locations().Path(c.Location)
		n.Label = r.label(c, n.Step)
	}
	return n
}

// id is the number of a node as drawn in the order of the run, by which programs and the page name it.
func (r *result) id(i int) int32 { return r.forest.calls.Number(r.node(i)) }

// call of a node as drawn.
func (r *result) call(i int) invocation.Call { return r.forest.calls.At(r.node(i)) }

// Table has a row for each node of the JSON output.
func (r *result) Table() *view.Table {
	t := &view.Table{Columns: []view.Column{{Name: "id"}, {Name: "parent"}, {Name: "region"}, {Name: "location"},
		{Name: "begin", Unit: "ns"}, {Name: "level", Unit: "count"},
		{Name: "ring", Unit: "count"}, {Name: "weight"}, {Name: "start"}, {Name: "alloc"},
		{Name: "step"}, {Name: "processor"}, {Name: "index"}, {Name: "children", Unit: "count"},
		{Name: "expects", Unit: "count"}}, Rows: [][]any{}, Locations: []trace.LocationID{},
		Regions: []trace.RegionID{}}
	r.lookAgain(r.request.Size)
	told, err := r.tell()
	if err != nil {
		r.failed = err
		return t
	}
	r.each(told, func(i int) {
		n, c := r.nodeData(i, told), r.call(i)
		parent := any(nil)
		if n.Parent != nil {
			parent = int64(*n.Parent)
		}
		t.Rows = append(t.Rows,
			[]any{int64(n.ID), parent, n.Region, n.Location, n.Begin, int64(n.Level), int64(n.Ring), n.Weight, n.Start,
				n.Alloc, int64(n.Step), r.processorName(c.Location), int64(n.Index), int64(n.Children),
				int64(n.Expects)})
		t.Locations, t.Regions = append(t.Locations, c.Location), append(t.Regions, c.Region)
	})
	return t
}

// processorName names the processor that ran the calls of a location; empty for a root that is no call.
func (r *result) processorName(location trace.LocationID) string {
	if id := r.forest.ranBy(location); id != trace.NoLocation {
		return r.request.Store().Locations().Name[id]
	}
	return ""
}

// label is the paper's name of a node: its procedure with its number in the run,
// its processor, and its number among the calls of that processor.
func (r *result) label(n *invocation.Node, step int32) string {
	name := r.request.Store().Regions()[n.Region].Name
	return fmt.Sprintf("(%s %d, %s, %d)", scene.Shorten(name, 120, scene.TextSize), step,
		r.processorNumber(n.Location), r.forest.indexOf(n))
}

// processorNumber is the rank of a processor, or the number that its name ends in,
// or its name.
func (r *result) processorNumber(location trace.LocationID) string {
	id, t := r.forest.ranBy(location), r.request.Store().Locations()
	if t.Rank[id] >= 0 && r.forest.ranksAlone {
		return strconv.Itoa(int(t.Rank[id]))
	}
	name := t.Name[id]
	if digits := name[len(strings.TrimRight(name, "0123456789")):]; digits != "" && r.forest.processor != nil {
		return digits
	}
	return name
}

func (r *result) fact(i int) view.Fact {
	if r.isMerged(i) {
		return r.mergedFact(i)
	}
	c, s := r.forest.node(r.node(i)), r.request.Store()
	if c.Region == trace.NoRegion {
		calls := int64(r.forest.calls.Len() - 1)
		f := view.Fact{Title: "all", Text: "The root stands above calls without a caller.", Count: calls}
		f.Say("calls", view.Thousands(calls), "")
		return f
	}
	g := &s.Regions()[c.Region]
	begin, end := c.Begin, c.End
	f := view.Fact{Title: g.Name, Locations: []trace.LocationID{c.Location}, Regions: []trace.RegionID{c.Region},
		Begin: &begin, End: &end,
		Row: &store.Row{Location: c.Location, Lane: int(c.Lane), Row: int(c.Row)}, Open: r.opens(i)}
	line := f.Say
	line("location", s.Locations().Path(c.Location), "")
	line("call", r.label(c, r.forest.step(c.Number)), "")
	if p := r.forest.ranBy(c.Location); p != c.Location {
		line("processor", s.Locations().Name[p]+", which ran it longest", "")
	}
	line("calls made", view.Thousands(int64(r.forest.madeBy(c))), "")
	if names, _ := trace.GoalsOf(g); len(names) > 0 {
		line("calls of its source", strings.Join(names, ", "), "")
	}
	line("begin", view.FormatTime(c.Begin), strconv.FormatInt(int64(c.Begin), 10))
	line("duration", view.FormatTime(c.End-c.Begin), strconv.FormatInt(int64(c.End-c.Begin), 10))
	line("path", r.path(r.node(i)), "")
	line("weight", strconv.FormatFloat(r.layout.Weight[i], 'f', 0, 64), "")
	line("sector",
		strconv.FormatFloat(r.layout.Start[i], 'f', 2, 64)+"° and "+strconv.FormatFloat(r.layout.Alloc[i], 'f', 2, 64)+
			"° wide", "")
	line("node", strconv.Itoa(int(r.id(i))), "")
	switch {
	case g.File != "" && g.Line > 0:
		line("source", g.File+":"+strconv.Itoa(g.Line), "")
	case g.File != "":
		line("source", g.File, "")
	}
	return f
}

// opens returns the target of a double click on a node: the subtree below it, by location where calls move; from the
// root of a subtree the way up, to the subtree of its caller or to the whole tree. A zoom belongs to the picture
// that it was made for.
func (r *result) opens(i int) map[string]string {
	node := r.node(i)
	if node != r.root {
		open := map[string]string{"root": r.rootText(node), "zoom": ""}
		if first := r.firstBelow(i); first == "location" || r.paint == "location" {
			open["paint"] = first
		}
		return open
	}
	up := r.forest.calls.Parent(node)
	if up <= 0 {
		return map[string]string{"root": "", "zoom": ""}
	}
	return map[string]string{"root": r.rootText(up), "zoom": ""}
}

// firstBelow is the painting of the subtree of a drawn node that none is asked for: by location, as in the paper, but
// where no call is made by one of another location.
func (r *result) firstBelow(i int) string {
	if r.node(i) > 0 && !r.forest.moves() {
		return "region"
	}
	return r.forest.firstPaint()
}

// mostAsked is how many calls are looked at for their locations.
const mostAsked = 4096

// paintOf is the painting of a stretch of calls that none is asked for.
func (r *result) paintOf(from, to int32) string {
	first, several := trace.NoLocation, false
	invocation.Sample(from, to, mostAsked, func(k int32) {
		if id := r.forest.calls.Location(r.detail.node(k)); id != trace.NoLocation {
			several = several || first != trace.NoLocation && id != first
			first = id
		}
	})
	if several {
		return "location"
	}
	return "region"
}

// path is the names of the callers, outermost first; the middle of a long one is left out.
func (r *result) path(i int32) string {
	var names []string
	for ; i >= 0; i = r.forest.calls.Parent(i) {
		if region := r.forest.node(i).Region; region != trace.NoRegion {
			names = append(names, r.request.Store().Regions()[region].Name)
		}
	}
	s := ""
	for k := len(names) - 1; k >= 0; k-- {
		if len(names) > 12 && k == len(names)-6 {
			s += " → …"
			k = 6
		}
		if s != "" {
			s += " → "
		}
		s += names[k]
	}
	return s
}

// Rows implements view.Lister: a node takes little here, and much once it is written out.
func (r *result) Rows() int {
	if r.request.Values.Switch("all") {
		return r.layout.Tree.Len()
	}
	r.lookAgain(r.request.Size)
	n := 0
	for _, i := range r.shown {
		n += btoi(r.isDrawn(int(i)))
	}
	return n
}
