package overview

import (
	"fmt"
	"math"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A Part is one box of the JSON twin.
type Part struct {
	Location *trace.LocationID  `json:"location"` // null for a root that the source does not have
	Path     string             `json:"path"`
	Leaves   int64              `json:"leaves"` // locations it stands for
	Begin    trace.Time         `json:"begin"`
	End      trace.Time         `json:"end"`
	Values   map[string]float64 `json:"values"` // ns by role
	Gain     float64            `json:"gain"`
	Loss     float64            `json:"loss"`
}

// Data is the "data" of the JSON twin.
type Data struct {
	P          float64   `json:"p"`
	Suggested  float64   `json:"suggested"` // the p whose boxes come nearest to all the gain at none of the loss
	Gain       float64   `json:"gain"`
	Loss       float64   `json:"loss"`
	PIC        float64   `json:"pic"`
	Slices     int       `json:"slices"`
	Locations  int       `json:"locations"`
	Parts      []Part    `json:"parts"`
	Thresholds []float64 `json:"thresholds"` // p at which the boxes change, as far as they were looked for
	Curve      Curve     `json:"curve"`
}

func (r *result) Data() any {
	c := r.curves()
	d := Data{P: r.p, Suggested: c.suggested, Gain: r.gain, Loss: r.loss, PIC: r.pic, Slices: r.slices(), Locations: r.hierarchy.Leaves,
		Parts: make([]Part, 0, len(r.parts)), Thresholds: c.thresholds, Curve: c.Curve}
	for _, p := range r.parts {
		node := r.node[p.Node]
		part := Part{Path: r.hierarchy.Path(node), Leaves: int64(r.count[p.Node]), Values: map[string]float64{}, Gain: p.Gain, Loss: p.Loss}
		part.Begin, part.End = r.span(p)
		if id := r.hierarchy.Location[node]; id != trace.NoLocation {
			part.Location = &id
		}
		for x, role := range r.roles {
			part.Values[role.String()] = math.Round(r.programme.Sum(x, p) * 1e9)
		}
		d.Parts = append(d.Parts, part)
	}
	return d
}

// Table has a row for each box.
func (r *result) Table() *view.Table {
	t := &view.Table{Columns: []view.Column{{Name: "path"}, {Name: "leaves", Unit: "count"}, {Name: "begin", Unit: "ns"}, {Name: "end", Unit: "ns"}}, Rows: [][]any{}, Locations: []trace.LocationID{}}
	for _, role := range r.roles {
		t.Columns = append(t.Columns, view.Column{Name: role.String(), Unit: "ns"})
	}
	t.Columns = append(t.Columns, view.Column{Name: "gain"}, view.Column{Name: "loss"})
	for _, p := range r.parts {
		begin, end := r.span(p)
		row := []any{r.hierarchy.Path(r.node[p.Node]), int64(r.count[p.Node]), int64(begin), int64(end)}
		for x := range r.roles {
			row = append(row, math.Round(r.programme.Sum(x, p)*1e9))
		}
		t.Rows = append(t.Rows, append(row, p.Gain, p.Loss))
		t.Locations = append(t.Locations, r.hierarchy.Location[r.node[p.Node]])
	}
	return t
}

// Pick gives the box at a place.
func (r *result) Pick(x, y float64) (view.Fact, bool) {
	for _, b := range r.drawn.boxes {
		if float32(x) < b.x || float32(x) >= b.x+b.w || float32(y) < b.y || float32(y) >= b.y+b.h {
			continue
		}
		p := r.parts[b.part]
		begin, end := r.span(p)
		f := view.Fact{Title: r.hierarchy.Name(r.node[p.Node]), Begin: &begin, End: &end, Count: int64(r.count[p.Node])}
		line := func(label, value, exact string) {
			f.Lines = append(f.Lines, view.FactLine{Label: label, Value: value, Exact: exact})
		}
		line("path", r.hierarchy.Path(r.node[p.Node]), "")
		line("from", view.FormatTime(begin), strconv.FormatInt(int64(begin), 10))
		line("to", view.FormatTime(end), strconv.FormatInt(int64(end), 10))
		line("locations", view.FormatCount(r.count[p.Node]), "")
		for k, role := range r.roles {
			v := math.Round(r.programme.Sum(k, p) * 1e9)
			line(role.String(), view.FormatDuration(v), strconv.FormatFloat(v, 'f', 0, 64))
		}
		line("loss as one", fmt.Sprintf("%s bits, %s of all", view.FormatCount(p.Loss), view.FormatShare(r.lossShare(p.Loss))), strconv.FormatFloat(p.Loss, 'g', -1, 64))
		if r.aggregated(p) {
			f.Text = fmt.Sprintf("Aggregated: %s over %s.", view.Count(int(r.count[p.Node]), "location"), view.Count(int(p.Last-p.First)+1, "slice"))
		}
		if id := r.hierarchy.Location[r.node[p.Node]]; id != trace.NoLocation {
			f.Locations = []trace.LocationID{id}
		}
		return f, true
	}
	return view.Fact{}, false
}
