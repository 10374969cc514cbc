package report

import (
	"cmp"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/render/svg"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

// OneView is a view that was computed and drawn.
type OneView struct {
	View    *view.View
	Runs    []view.Run
	Result  view.Result
	Scene   *scene.Scene
	Theme   scene.Theme // its hues count: light or dark is the reader's choice
	Command string      // that writes the same file
	Version string
}

// Size is how large the picture of a page is.
const Size = "1080x720"

// mostCells bounds the table below the picture.
const mostCells = 20_000

// Write writes the view as a file of HTML: its picture, its notes and the numbers behind them.
func (o *OneView) Write(w io.Writer) error {
	r := &reporter{palette: svg.Palette{Hues: o.Theme}}
	names := make([]string, len(o.Runs))
	for i := range o.Runs {
		names[i] = o.Runs[i].Source
	}
	r.doc = document{Title: clean(o.View.Title), Source: clean(strings.Join(names, ", ")), Version: o.Version}
	text, err := r.picture(o.Scene)
	if err != nil {
		return err
	}
	p := picture{Summary: o.View.Summary, HowToRead: o.View.HowToRead, Paper: o.View.Paper, SVG: template.HTML(text),
		Command: clean(o.Command)}
	for _, n := range o.Result.Notes() {
		p.Notes = append(p.Notes, clean(n))
	}
	r.doc.Pictures = []picture{p}
	if t := o.Result.Table(); t != nil && len(t.Rows) > 0 {
		r.doc.Tables = []table{tableOf(t)}
	}
	r.doc.Style = template.CSS(r.palette.CSS())
	return page.Execute(w, &r.doc)
}

// tableOf writes the cells of a table for people. A column that is the unit of its row goes into the numbers.
func tableOf(t *view.Table) table {
	out := table{Title: "Numbers"}
	units := slices.IndexFunc(t.Columns, func(c view.Column) bool { return c.Name == "unit" })
	for i, c := range t.Columns {
		if i == units {
			continue
		}
		class := ""
		if c.Unit != "" || len(t.Rows) > 0 && isNumber(t.Rows[0][i]) {
			class = "n"
		}
		name := cmp.Or(c.Title, strings.ReplaceAll(c.Name, "_", " "))
		out.Head, out.Class = append(out.Head, clean(name)), append(out.Class, class)
	}
	most := max(1, mostCells/max(1, len(t.Columns)))
	for i, row := range t.Rows {
		if i == most {
			out.Note = view.Thousands(int64(len(t.Rows)-i)) +
				" more rows are left out: a file that ends in .csv has all."
			break
		}
		unit := ""
		if units >= 0 {
			unit, _ = row[units].(string)
		}
		cells := make([]string, 0, len(row))
		for k, x := range row {
			if k != units {
				cells = append(cells, cell(x, cmp.Or(t.Columns[k].Unit, unit)))
			}
		}
		out.Rows = append(out.Rows, cells)
	}
	return out
}

func isNumber(x any) bool {
	switch x.(type) {
	case int64, float64:
		return true
	}
	return false
}

// cell writes a number in its unit, and all else as it is.
func cell(x any, unit string) string {
	switch x := x.(type) {
	case float64:
		return format(x, unit)
	case int64:
		if unit != "" {
			return format(float64(x), unit)
		}
	}
	return clean(view.Cell(x))
}
