package activity

import (
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// data is the JSON output.
type data struct {
	Locations int   `json:"locations"` // that hold intervals: the whole of every share
	Bins      []bin `json:"bins"`
}

type bin struct {
	Begin  trace.Time         `json:"begin" unit:"ns"`
	End    trace.Time         `json:"end" unit:"ns"`
	Shares map[string]float64 `json:"shares" spread:"names"`
}

// PairData is the "data" of two runs.
type PairData struct {
	data
	With data `json:"with"`
}

// Data returns every bin with all names, so that each bin has the same ones.
func (r *result) Data() any {
	return &data{Locations: r.rows, Bins: r.list()}
}

func (r *result) list() []bin {
	out := make([]bin, r.bins())
	for b := range out {
		shares := make(map[string]float64, len(r.series)+1)
		for s := range r.series {
			shares[r.series[s].name] = r.share(b, s)
		}
		shares[r.leftName] = float64(r.left(b)) / float64(r.whole(b))
		out[b] = bin{r.edges[b], r.edges[b+1], shares}
	}
	return out
}

// Table has one line per bin and one column per name.
func (r *result) Table() *view.Table {
	var names []view.Column
	for _, s := range r.series {
		names = append(names, view.Column{Name: s.name, Unit: "share"})
	}
	return view.TableOf(r.list(), nil,
		map[string][]view.Column{"names": append(names, view.Column{Name: r.leftName, Unit: "share"})})
}
