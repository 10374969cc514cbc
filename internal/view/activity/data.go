package activity

import (
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// data is the JSON twin.
type data struct {
	Locations int   `json:"locations"` // that hold intervals: the whole of every share
	Bins      []bin `json:"bins"`
}

type bin struct {
	Begin  trace.Time         `json:"begin"`
	End    trace.Time         `json:"end"`
	Shares map[string]float64 `json:"shares"`
}

// Data gives every bin with all names, so that each bin has the same ones.
func (r *result) Data() any {
	d := &data{Locations: r.rows, Bins: make([]bin, r.bins())}
	for b := range d.Bins {
		shares := make(map[string]float64, len(r.series)+1)
		for s := range r.series {
			shares[r.series[s].name] = r.share(b, s)
		}
		shares[r.leftName] = float64(r.left(b)) / float64(r.whole(b))
		d.Bins[b] = bin{r.edges[b], r.edges[b+1], shares}
	}
	return d
}

// Table has a line a bin and a column a name.
func (r *result) Table() *view.Table {
	t := &view.Table{Columns: []view.Column{{Name: "begin", Unit: "ns"}, {Name: "end", Unit: "ns"}}, Rows: make([][]any, r.bins())}
	for _, s := range r.series {
		t.Columns = append(t.Columns, view.Column{Name: s.name, Unit: "share"})
	}
	t.Columns = append(t.Columns, view.Column{Name: r.leftName, Unit: "share"})
	for b := range t.Rows {
		row := make([]any, 0, len(t.Columns))
		row = append(row, int64(r.edges[b]), int64(r.edges[b+1]))
		for s := range r.series {
			row = append(row, r.share(b, s))
		}
		t.Rows[b] = append(row, float64(r.left(b))/float64(r.whole(b)))
	}
	return t
}
