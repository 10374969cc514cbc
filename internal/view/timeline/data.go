package timeline

import (
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// data is the JSON output: the spans drawn at the size asked for, or with --all every
// location of the selection with every interval.
type data struct {
	Rows  []dataRow  `json:"rows"`
	Spans []dataSpan `json:"spans"`
	Links []dataLink `json:"links"`
	// BinNS is the length of the bins that aggregates fill.
	BinNS trace.Time `json:"bin"`
	// TotalRows counts those that are scrolled out of sight too.
	TotalRows int `json:"total_rows"`
	// Critical is the critical path, with --critical.
	Critical []dataStretch `json:"critical,omitempty"`
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

// Data returns rows, spans and links.
func (r *result) Data() any {
	d := &data{Rows: []dataRow{}, Spans: []dataSpan{}, Links: []dataLink{}, BinNS: 1 << r.grid.level,
		TotalRows: r.total, Critical: r.dataCritical()}
	r.eachRow(func(row dataRow, spans []dataSpan) {
		d.Rows = append(d.Rows, row)
		d.Spans = append(d.Spans, spans...)
	})
	for i := range r.links.arrows {
		l := &r.links.arrows[i]
		d.Links = append(d.Links, dataLink{l.kind.String(), l.from, l.fromTime, l.to, l.toTime, l.size, l.count})
	}
	return d
}

// eachRow calls f for every row of the twins with its spans.
func (r *result) eachRow(f func(dataRow, []dataSpan)) {
	if r.opt.all {
		for i := range r.all {
			w := &r.all[i]
			f(r.dataRow(w.location,
				dataRow{Label: r.reader.Locations().Name[w.location], Locations: 1, Kind: rowKinds[leaf]}),
				r.wholeSpans(i, w))
		}
		return
	}
	for i := range r.rows {
		w := &r.rows[i]
		f(r.dataRow(w.location, dataRow{Label: w.label, Level: w.level, Locations: w.count, Kind: rowKinds[w.kind]}),
			r.dataSpans(i))
	}
}

// dataRow fills in the fields of the tree.
func (r *result) dataRow(id trace.LocationID, row dataRow) dataRow {
	if id == trace.NoLocation {
		return row
	}
	tree := r.reader.Locations()
	row.Location, row.Path = &id, tree.Path(id)
	if rank := int(tree.Rank[id]); rank != trace.NoRank {
		row.Rank = &rank
	}
	return row
}

func (r *result) wholeSpans(row int, w *wholes) []dataSpan {
	out := make([]dataSpan, len(w.list))
	for i, x := range w.list {
		g := &r.regions[x.region]
		out[i] = dataSpan{Row: row, Lane: int(x.lane), Depth: int(x.depth), Begin: x.begin, End: x.end,
			Open: x.end - x.begin, Count: 1, Region: &g.Name, Role: g.Role.String()}
	}
	return out
}

// Rows implements view.Lister: an interval takes little here, and ten times as much in a table. For drawn spans it is
// an upper bound, before neighbours are joined.
func (r *result) Rows() (n int) {
	if r.opt.all {
		for i := range r.all {
			n += len(r.all[i].list)
		}
		return n
	}
	for i := range r.rows {
		if l := r.leaves[i]; l != nil {
			for _, s := range l.list {
				n += len(s.spans)
			}
		}
		if g := r.groups[i]; g != nil {
			n += g.bins
		}
	}
	return n
}

// dataSpans lists the drawn spans of one row.
func (r *result) dataSpans(i int) (out []dataSpan) {
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
	out := dataSpan{Row: row, Lane: -1, Depth: -1, Begin: g.begin(bin), End: g.begin(bin + 1), Count: int64(g.rows),
		Aggregated: true, Shares: map[string]float64{}}
	for role := 1; role < trace.RoleCount; role++ {
		if t := g.time[bin*trace.RoleCount+role]; t > 0 {
			out.Open += t
			out.Shares[trace.Role(role).String()] = g.share(bin, trace.Role(role))
		}
	}
	return out
}

// Table has one line per span: those drawn, or with --all one per interval. The location
// is its path; a row of many neighbours has its label.
func (r *result) Table() *view.Table {
	t := &view.Table{
		Columns: []view.Column{
			{Name: "location"}, {Name: "rank"}, {Name: "lane"}, {Name: "depth"}, {Name: "begin", Unit: "ns"},
			{Name: "end", Unit: "ns"},
			{Name: "region"}, {Name: "role"}, {Name: "open", Unit: "ns"}, {Name: "count", Unit: "count"},
			{Name: "aggregated"},
		},
		Rows: [][]any{}, Locations: []trace.LocationID{},
	}
	r.eachRow(func(row dataRow, spans []dataSpan) {
		id, name, rank := trace.NoLocation, row.Label, any(nil)
		if row.Location != nil {
			id, name = *row.Location, row.Path
		}
		if row.Rank != nil {
			rank = int64(*row.Rank)
		}
		for _, s := range spans {
			var region any
			if s.Region != nil {
				region = *s.Region
			}
			aggregated := "no"
			if s.Aggregated {
				aggregated = "yes"
			}
			t.Rows = append(t.Rows,
				[]any{name, rank, int64(s.Lane), int64(s.Depth), int64(s.Begin), int64(s.End), region, s.Role,
					int64(s.Open), s.Count, aggregated})
			t.Locations = append(t.Locations, id)
		}
	})
	return t
}
