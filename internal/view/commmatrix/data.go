package commmatrix

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Cell is one pair in the JSON output. Bytes are null if no link says its size,
// time (ns, summed from start to end) where none has times.
type Cell struct {
	From     trace.LocationID `json:"from" about:"location"`
	To       trace.LocationID `json:"to"`
	FromPath string           `json:"from_path" table:"from" unit:""`
	ToPath   string           `json:"to_path" table:"to" unit:""`
	FromRank *int32           `json:"from_rank"`
	ToRank   *int32           `json:"to_rank"`
	Count    int64            `json:"count" unit:"count"`
	Bytes    *int64           `json:"bytes" unit:"bytes"`
	Time     *int64           `json:"time" unit:"ns"`
}

// Data is the "data" of the JSON output.
type Data struct {
	Metric string `json:"metric"`
	Links  string `json:"links"` // their kind: messages, launches …
	Shown  string `json:"shown"` // meaning of colours: the metric, or the links if they have none of it
	Pairs  int    `json:"pairs"`
	Count  int64  `json:"count"`
	Bytes  *int64 `json:"bytes"`
	Cells  []Cell `json:"cells"`
}

func (r *result) Data() any {
	return Data{Metric: r.metric, Links: r.what, Shown: r.shown(), Pairs: len(r.cells), Count: r.total.count,
		Bytes: defined(r.total.bytes, r.total.sized), Cells: r.list()}
}

func (r *result) list() []Cell {
	out := make([]Cell, len(r.cells))
	for i := range r.cells {
		c := &r.cells[i]
		out[i] = Cell{c.from, c.to, r.tree.Path(c.from), r.tree.Path(c.to), r.rank(c.from), r.rank(c.to), c.count,
			defined(c.bytes, c.sized), defined(c.time, c.timed)}
	}
	return out
}

func (r *result) rank(id trace.LocationID) *int32 {
	if r.tree.Rank[id] == trace.NoRank {
		return nil
	}
	return &r.tree.Rank[id]
}

func defined(v int64, is bool) *int64 {
	if !is {
		return nil
	}
	return &v
}

// Table has a row for each pair; choosing one selects the sender.
func (r *result) Table() *view.Table { return view.TableOf(r.list(), nil, nil) }

// within describes where no link leaves its process: then the matrix is a line.
func within(of view.Result) string {
	if r, ok := of.(*result); ok &&
		!slices.ContainsFunc(r.cells, func(c cell) bool { return r.tree.Path(c.from) != r.tree.Path(c.to) }) {
		return "no link goes from one process to another"
	}
	return ""
}
