package operators

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/replay"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Graph is a CUDA or HIP graph with its replays and nodes, these in the order of a replay. Times are in ns.
type Graph struct {
	Graph    string           `json:"graph"`
	Location trace.LocationID `json:"location"`
	Path     string           `json:"path"`
	Replays  []Replay         `json:"replays"`
	Span     Times            `json:"span"`
	// SlowestReplay is a place in replays, SlowestNode one in nodes: that with the longest mean.
	SlowestReplay int    `json:"slowest_replay"`
	SlowestNode   int    `json:"slowest_node"`
	Nodes         []Node `json:"nodes"`
}

// A Replay is one start of a graph: from its first piece of work to the end of the last.
type Replay struct {
	Begin trace.Time `json:"begin"`
	End   trace.Time `json:"end"`
	Busy  trace.Time `json:"busy"`
}

// Times are a distribution in short.
type Times struct {
	Mean      float64    `json:"mean"`
	Deviation float64    `json:"deviation"`
	Median    trace.Time `json:"q50"`
	Min       trace.Time `json:"min"`
	Max       trace.Time `json:"max"`
}

// A Node is one node of a graph over its replays. Share is that of the time of all nodes.
type Node struct {
	Node      string     `json:"node"`
	Kernel    string     `json:"kernel"`
	Count     int        `json:"count"`
	Mean      float64    `json:"mean"`
	Deviation float64    `json:"deviation"`
	Min       trace.Time `json:"min"`
	Max       trace.Time `json:"max"`
	Share     float64    `json:"share"`
	// Slowest is the replay in which it took longest.
	Slowest int `json:"slowest_replay"`
}

// graphName is how a graph is called.
func (r *result) graphName(i int) string {
	if g := &r.graphs[i]; g.ID >= 0 {
		return fmt.Sprintf("graph %d", g.ID)
	}
	return fmt.Sprintf("graph %d", i+1)
}

func nodeName(n *replay.Node, place int) string {
	if n.ID >= 0 {
		return fmt.Sprint(n.ID)
	}
	return fmt.Sprint(place + 1)
}

func (r *result) dataGraphs() []Graph {
	out := []Graph{}
	tree := r.request.Store().Locations()
	for i := range r.graphs {
		g := &r.graphs[i]
		id := r.devices.GPUs[g.GPU]
		x := Graph{Graph: r.graphName(i), Location: id, Path: tree.Path(id), Replays: []Replay{}, Nodes: []Node{},
			SlowestReplay: g.Slowest, SlowestNode: g.Heaviest,
			Span: Times{g.Mean, g.Deviation, g.Median, g.Least, g.Most}}
		whole := trace.Time(0)
		for k := range g.Nodes {
			whole += g.Nodes[k].Time
		}
		for k := range g.Replays {
			x.Replays = append(x.Replays, Replay{g.Replays[k].Begin, g.Replays[k].End, g.Replays[k].Busy})
		}
		for k := range g.Nodes {
			n := &g.Nodes[k]
			x.Nodes = append(x.Nodes,
				Node{nodeName(n, k), r.regions[n.Region].Name, n.Count, n.Mean, n.Deviation, n.Least, n.Most,
					float64(n.Time) / float64(max(whole, 1)), n.Slow()})
		}
		out = append(out, x)
	}
	return out
}

// graphBars are the graphs, each with its nodes below it in the order of a replay.
func (r *result) graphBars() (bars []bar, title string) {
	if len(r.graphs) == 0 {
		return nil, "no CUDA or HIP graph was launched in the selection"
	}
	replays := 0
	for i, g := range r.dataGraphs() {
		replays += len(g.Replays)
		slow := g.Replays[g.SlowestReplay]
		of := &r.graphs[i]
		bars = append(bars,
			bar{label: fmt.Sprintf("%s: %s, %s", g.Graph, view.Count(len(g.Nodes), "node"),
				view.Count(len(g.Replays), "replay")), region: trace.NoRegion,
				words: fmt.Sprintf("%s a replay (%s – %s)", view.FormatDuration(g.Span.Mean),
					view.FormatTime(g.Span.Min),
					view.FormatTime(g.Span.Max)), begin: slow.Begin, end: slow.End,
				lines: []view.FactLine{exact("mean of a replay", g.Span.Mean),
					exact("standard deviation", g.Span.Deviation), exact("shortest", float64(g.Span.Min)),
					exact("longest", float64(g.Span.Max)), exact("the longest begins", float64(slow.Begin)),
					{Label: "node with the longest mean", Value: g.Nodes[g.SlowestNode].Kernel}}})
		for k, n := range g.Nodes {
			words := view.FormatDuration(n.Mean)
			if n.Count > 1 { // one replay has no spread
				words += " ± " + view.FormatDuration(n.Deviation)
			}
			bars = append(bars,
				bar{label: "  " + n.Node + " " + n.Kernel, value: n.Mean, low: float64(n.Min), high: float64(n.Max),
					colour: deviceColour, region: of.Nodes[k].Region, begin: of.Replays[n.Slowest].Begin,
					end:   of.Replays[n.Slowest].End,
					words: words + " · " + view.FormatShare(n.Share),
					lines: []view.FactLine{{Label: "replays", Value: view.Thousands(int64(n.Count))},
						exact("mean", n.Mean),
						exact("standard deviation", n.Deviation), exact("shortest", float64(n.Min)),
						exact("longest", float64(n.Max)),
						{Label: "of the graph's work", Value: view.FormatShare(n.Share)}}})
		}
	}
	return bars,
		fmt.Sprintf("%s of %s: a bar is the mean of a node, the line goes from its shortest to its longest",
			view.Count(replays, "replay"), view.Count(len(r.graphs), "graph"))
}

func exact(label string, ns float64) view.FactLine {
	return view.FactLine{Label: label, Value: view.FormatDuration(ns), Exact: fmt.Sprintf("%g ns", ns)}
}
