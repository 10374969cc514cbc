package timeline

import (
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// data is the JSON twin: what is drawn at the size asked for, or with --all
// every interval of the rows.
type data struct {
	Rows  []dataRow  `json:"rows"`
	Spans []dataSpan `json:"spans"`
	Links []dataLink `json:"links"`
	// BinNS is the length of the bins that aggregates fill.
	BinNS trace.Time `json:"bin"`
	// TotalRows counts those that are scrolled out of sight too.
	TotalRows int `json:"total_rows"`
}

type dataRow struct {
	Location  *trace.LocationID `json:"location"` // null for a run of neighbours
	Path      string            `json:"path"`
	Label     string            `json:"label"`
	Rank      *int              `json:"rank"`
	Level     int               `json:"level"`
	Locations int               `json:"locations"`
	Kind      string            `json:"kind"`
}

var rowKinds = [...]string{leaf: "location", header: "group", folded: "folded"}

// A dataSpan is an interval (or the part of it that is innermost), an aggregate
// (count intervals in a bin, named after the winner), or a bin of a group with
// the shares of its roles.
type dataSpan struct {
	Row        int                `json:"row"`
	Lane       int                `json:"lane"`
	Depth      int                `json:"depth"`
	Begin      trace.Time         `json:"begin"`
	End        trace.Time         `json:"end"`
	Region     *string            `json:"region"`
	Role       string             `json:"role"`
	Open       trace.Time         `json:"open"`
	Count      int64              `json:"count"`
	Aggregated bool               `json:"aggregated"`
	Shares     map[string]float64 `json:"shares,omitempty"`
}

type dataLink struct {
	Kind     string           `json:"kind"`
	From     trace.LocationID `json:"from"`
	FromTime trace.Time       `json:"from_time"`
	To       trace.LocationID `json:"to"`
	ToTime   trace.Time       `json:"to_time"`
	Size     int64            `json:"size"`
	Count    int64            `json:"count"`
}

// Data gives rows, spans and links.
func (r *result) Data() any {
	d := &data{Rows: make([]dataRow, len(r.rows)), Spans: []dataSpan{}, Links: []dataLink{}, BinNS: 1 << r.grid.level, TotalRows: r.total}
	tree := r.reader.Locations()
	for i := range r.rows {
		w := &r.rows[i]
		row := dataRow{Label: w.label, Level: w.level, Locations: w.count, Kind: rowKinds[w.kind]}
		if w.location != trace.NoLocation {
			id := w.location
			row.Location, row.Path = &id, tree.Path(id)
			if rank := int(tree.Rank[id]); rank != trace.NoRank {
				row.Rank = &rank
			}
		}
		d.Rows[i] = row
		d.Spans = append(d.Spans, r.dataSpans(i)...)
	}
	for i := range r.links.arrows {
		l := &r.links.arrows[i]
		d.Links = append(d.Links, dataLink{l.kind.String(), l.from, l.fromTime, l.to, l.toTime, l.size, l.count})
	}
	return d
}

// dataSpans lists the spans of one row.
func (r *result) dataSpans(i int) (out []dataSpan) {
	if r.opt.all && r.rows[i].kind == leaf {
		for _, w := range r.all[r.rows[i].location] {
			out = append(out, dataSpan{
				Row: i, Lane: int(w.lane), Depth: int(w.depth), Begin: w.begin, End: w.end, Open: w.end - w.begin, Count: 1,
				Region: &r.regions[w.region].Name, Role: r.regions[w.region].Role.String(),
			})
		}
		return out
	}
	if l := r.leaves[i]; l != nil {
		for _, s := range l.list {
			for _, x := range merge(s.spans, sameWinner) {
				out = append(out, r.dataSpan(i, &s, &x))
			}
		}
	}
	if g := r.groups[i]; g != nil {
		for b := range g.bins {
			out = append(out, groupSpan(i, g, b))
		}
	}
	return out
}

// sameWinner joins aggregates in the twins, which do not show heights.
func sameWinner(a, b *span) bool { return a.region == b.region && a.role == b.role }

func (r *result) dataSpan(row int, s *strip, x *span) dataSpan {
	out := dataSpan{
		Row: row, Lane: s.lane, Depth: s.level, Begin: x.begin, End: x.end, Open: x.open, Count: int64(x.count),
		Role: x.role.String(), Aggregated: x.aggregate(),
	}
	if !x.aggregate() {
		out.Lane = int(x.lane)
	}
	if x.region != trace.NoRegion {
		out.Region = &r.regions[x.region].Name
	}
	return out
}

func groupSpan(row int, g *stack, bin int) dataSpan {
	out := dataSpan{Row: row, Lane: -1, Depth: -1, Begin: g.begin(bin), End: g.begin(bin + 1), Count: int64(g.rows), Aggregated: true, Shares: map[string]float64{}}
	for role := 1; role < trace.RoleCount; role++ {
		if t := g.time[bin*trace.RoleCount+role]; t > 0 {
			out.Open += t
			out.Shares[trace.Role(role).String()] = g.share(bin, trace.Role(role))
		}
	}
	return out
}

// Table has a line a span.
func (r *result) Table() *view.Table {
	t := &view.Table{
		Columns: []view.Column{
			{Name: "location"}, {Name: "lane"}, {Name: "depth"}, {Name: "begin", Unit: "ns"}, {Name: "end", Unit: "ns"},
			{Name: "region"}, {Name: "role"}, {Name: "open", Unit: "ns"}, {Name: "count", Unit: "count"}, {Name: "aggregated"},
		},
		Rows: [][]any{}, Locations: []trace.LocationID{},
	}
	for i := range r.rows {
		for _, s := range r.dataSpans(i) {
			var region any
			if s.Region != nil {
				region = *s.Region
			}
			aggregated := "no"
			if s.Aggregated {
				aggregated = "yes"
			}
			t.Rows = append(t.Rows, []any{r.rows[i].label, int64(s.Lane), int64(s.Depth), int64(s.Begin), int64(s.End), region, s.Role, int64(s.Open), s.Count, aggregated})
			t.Locations = append(t.Locations, r.rows[i].location)
		}
	}
	return t
}
