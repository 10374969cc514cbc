package source

import (
	"fmt"
	"path"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/sourceline"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	head  = 20 // names of the columns
	pitch = 17 // height of a row
	pad   = 8
	tab   = 4 // spaces of a tabulator
)

// Item kinds.
const (
	ofLine = 1 + iota // A: its index in lines
	ofFile            // A: its index in files
)

// A drawing is where the parts of the picture are.
type drawing struct {
	numbers []int // of the lines drawn; 0 is the value without a line
	at      map[int]int
	left    float32 // of the lines, right of the files
	width   float32
	text    float32 // where line numbers begin
}

// Scene draws the files and the lines that fit.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	s.Notes = append(s.Notes, r.notes...)
	d := &drawing{width: float32(size.Width), at: map[int]int{}}
	for i := range r.Lines {
		d.at[r.Lines[i].Number] = i
	}
	d.numbers = r.around(max(int((float32(size.Height)-head)/pitch), 1))
	if d.width >= 760 && len(r.Files) > 1 {
		d.left = min(d.width*0.2, 260)
		r.drawFiles(s, d, float32(size.Height))
	}
	r.drawLines(s, d)
	return s
}

func (r *result) describe() string {
	for i := range r.Lines {
		if l := &r.Lines[i]; l.Number == r.hottest(1) {
			return fmt.Sprintf("Lines of %s by %s; the first is line %d with %s.", path.Base(r.File), r.metric.Name,
				l.Number, r.metric.Format(r.value(l)))
		}
	}
	return "Lines of " + r.File
}

// around returns the numbers of n lines about the one in the middle: all lines of the text, or those with values.
func (r *result) around(n int) []int {
	var all []int
	if r.text != nil {
		all = make([]int, len(r.text.Lines))
		for i := range all {
			all[i] = i + 1
		}
	}
	for i := range r.Lines {
		if number := r.Lines[i].Number; number > len(all) || r.text == nil {
			all = append(all, number)
		}
	}
	middle := 0
	for i, number := range all {
		if number <= r.centre {
			middle = i
		}
	}
	from := max(0, min(middle-n/2, len(all)-n))
	return all[from:min(from+n, len(all))]
}

// drawFiles lists the files by value on the left.
func (r *result) drawFiles(s *scene.Scene, d *drawing, height float32) {
	n := min(len(r.Files), max(int((height-head)/pitch), 1))
	rows := plot.NewRows(n, head, pitch, func(int, *scene.Row) {})
	f := rows.Frame("files", 0, d.left-2*pad, scene.Scale{Kind: "linear", End: max(r.Files[0].Exclusive, 1e-300)})
	frame := s.AddFrame(f)
	s.AimRows(frame, 0, d.left-pad, func(i int) uint32 { return s.Item(ofFile, i) })
	s.AddLayer("file bars", frame, rows.Bars(&f, 0.9, func(i int) float64 { return max(r.Files[i].Exclusive, 0) },
		func(i int) scene.Colour { return scene.UIDataSoft }))
	text := plot.Head(&f, view.Count(len(r.Files), "file")+", by exclusive", scene.UITextMuted)
	names := make([]string, n)
	for i := range names {
		names[i] = path.Base(strings.ReplaceAll(r.Files[i].Name, `\`, "/"))
	}
	names = scene.Distinct(names, d.left-4*pad, scene.TextSize)
	for i, name := range names {
		fill := scene.UITextMuted
		if r.Files[i].Name == r.File {
			fill = scene.UIText
		}
		text.Add(pad/2, rows.Middle(i)+4, name, fill, scene.Start)
	}
	s.AddLayer("files", -1, text)
	if more := len(r.Files) - n; more > 0 {
		s.Notes = append(s.Notes, view.Count(more, "more file")+" not drawn")
	}
}

// A column is one of the numbers next to a line.
type column struct {
	title string
	text  func(*sourceline.Line) string
}

func (r *result) numberColumns() []column {
	all := []column{
		{"exclusive", func(l *sourceline.Line) string { return r.format(l.Exclusive) }},
		{"inclusive", func(l *sourceline.Line) string { return r.format(l.Inclusive) }},
	}
	if r.Counted {
		all = append(all, column{"calls", func(l *sourceline.Line) string { return view.FormatCount(l.Calls) }})
	}
	return all
}

func (r *result) format(v float64) string {
	if r.metric.Number == runfacts.NumberCalls {
		return view.FormatIn(v, runfacts.ColumnUnit(view.MainMetric(r.request.Store()).Unit))
	}
	return r.metric.Format(v)
}

// drawLines draws numbers, strips, line numbers and text.
func (r *result) drawLines(s *scene.Scene, d *drawing) {
	rows := plot.NewRows(len(d.numbers), head, pitch, func(i int, row *scene.Row) {
		if k, ok := d.at[d.numbers[i]]; ok && len(r.Lines[k].Regions) > 0 {
			row.Region = uint32(r.Lines[k].Regions[0])
		}
	})
	frame := s.AddFrame(rows.Frame("lines", d.left, max(d.width-d.left, 1), scene.Scale{}))
	s.AimRows(frame, d.left, d.width, func(i int) uint32 {
		if k, ok := d.at[d.numbers[i]]; ok {
			return s.Item(ofLine, k)
		}
		return scene.NoID
	})
	marked, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	for i, number := range d.numbers {
		if number == r.centre {
			marked.Add(d.left, rows.List[i].From, d.width-d.left, pitch, scene.UIBand)
		}
	}
	s.AddLayer("middle", -1, marked)
	x := d.left
	for _, c := range r.numberColumns() {
		x = r.drawColumn(rows, text, d, x, c)
	}
	x += pad
	if len(r.Columns) > 1 && r.Full > 0 {
		x = r.drawStrips(s, rows, d, x) + pad
	}
	d.text = x
	r.drawText(rows, text, d)
	s.AddLayer("numbers", -1, text)
}

// drawColumn writes one number of each line, and returns its right edge.
func (r *result) drawColumn(rows plot.Rows, text *scene.Text, d *drawing, x float32, c column) float32 {
	width := scene.TextWidth(c.title, scene.TextSize, false)
	for _, number := range d.numbers {
		if k, ok := d.at[number]; ok {
			width = max(width, scene.TextWidth(c.text(&r.Lines[k]), scene.TextSize, false))
		}
	}
	right := x + width + pad
	if right > d.width*0.7 {
		return x
	}
	text.Add(right, head-6, c.title, scene.UITextMuted, scene.End)
	for i, number := range d.numbers {
		if k, ok := d.at[number]; ok {
			text.Add(right, rows.Middle(i)+4, c.text(&r.Lines[k]), scene.UIText, scene.End)
		}
	}
	return right
}

// drawStrips draws one cell per rank for each line, on one scale, and returns their right edge.
func (r *result) drawStrips(s *scene.Scene, rows plot.Rows, d *drawing, x float32) float32 {
	width := min(float32(len(r.Columns))*10, (d.width-d.left)*0.2)
	if width < 20 {
		return x
	}
	palette := r.request.Values.Text("palette")
	f := rows.Frame("ranks", x, width, scene.Scale{})
	frame := s.AddFrame(f)
	s.AddLayer("head", -1, plot.Head(&f, "ranks", scene.UITextMuted))
	var marks []scene.Mark
	for i, number := range d.numbers {
		k, ok := d.at[number]
		if !ok {
			continue
		}
		cells := make([]scene.Colour, len(r.Columns))
		for c, v := range r.Lines[k].Columns {
			cells[c] = scene.Ramp(palette, max(v, 0)/r.Full)
		}
		marks = append(marks, &scene.Image{X: x, Y: rows.List[i].From + 1, W: width, H: pitch - 2,
			Columns: len(cells), Rows: 1, Cells: cells})
	}
	s.AddLayer("strips", frame, marks...)
	s.Legend = append(s.Legend, plot.RampKey(r.metric.Name+" of one column", palette, "0", r.metric.Format(r.Full)))
	return x + width
}

// drawText writes line numbers, the text and the callees.
func (r *result) drawText(rows plot.Rows, text *scene.Text, d *drawing) {
	digits := scene.TextWidth("000000", scene.TextSize, false)
	space := scene.TextWidth("n", scene.TextSize, false)
	right := d.text + digits
	if right+4*pad > d.width {
		return
	}
	name := r.File
	if r.text != nil {
		name = r.text.Shown
	}
	text.Add(right+pad, head-6, scene.Shorten(name, d.width-right-2*pad, scene.TextSize), scene.UITextMuted,
		scene.Start)
	for i, number := range d.numbers {
		y := rows.Middle(i) + 4
		label := fmt.Sprint(number)
		if number == 0 {
			label = "no line"
		}
		text.Add(right, y, label, scene.UITextMuted, scene.End)
		words := strings.ReplaceAll(r.textOf(number), "\t", strings.Repeat(" ", tab))
		code := strings.TrimLeft(words, " ")
		x := right + pad + float32(len(words)-len(code))*space
		fill := scene.UIText
		k, valued := d.at[number]
		if !valued {
			fill = scene.UITextMuted
		}
		if code == "" && valued && r.text == nil && len(r.Lines[k].Regions) > 0 {
			code = r.regions[r.Lines[k].Regions[0]].Name
		}
		code = scene.Shorten(code, d.width-x-pad, scene.TextSize)
		text.Add(x, y, code, fill, scene.Start)
		if !valued || len(r.Lines[k].Callees) == 0 {
			continue
		}
		x += scene.TextWidth(code, scene.TextSize, false) + 2*pad
		if room := d.width - x - pad; room > 60 {
			text.Add(x, y, scene.Shorten("→ "+r.calleeWords(&r.Lines[k]), room, scene.TextSize), scene.UIAccent,
				scene.Start)
		}
	}
}

// Fact returns the numbers of a line or a file.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	if it.Of == ofFile {
		x := &r.Files[it.A]
		f := view.Fact{Title: x.Name, Open: map[string]string{"file": x.Name, "line": "hot:1"}}
		f.SayNumber("exclusive of the file", x.Exclusive, r.format)
		return f, true
	}
	l := &r.Lines[it.A]
	f := view.Fact{Title: fmt.Sprintf("%s:%d", r.File, l.Number), Regions: l.Regions,
		Open: map[string]string{"file": r.File, "line": fmt.Sprint(max(l.Number, 1))}}
	f.SayNumber("exclusive", l.Exclusive, r.format)
	f.SayNumber("inclusive", l.Inclusive, r.format)
	if r.Counted {
		f.SayNumber("calls", l.Calls, view.FormatCount)
	}
	for i, id := range l.Regions {
		if i == 4 {
			f.Say("regions", fmt.Sprintf("%d more", len(l.Regions)-i), "")
			break
		}
		f.Say("region", r.regions[id].Name, "")
	}
	for i, c := range l.Callees {
		if i == 6 {
			f.Say("calls", fmt.Sprintf("%d more functions", len(l.Callees)-i), "")
			break
		}
		f.SayNumber("calls "+r.regions[c.Region].Name, c.Inclusive, r.format)
	}
	if least, most, ok := spread(l.Columns); ok {
		f.Say("least", r.Columns[least]+": "+r.metric.Format(l.Columns[least]), "")
		f.Say("most", r.Columns[most]+": "+r.metric.Format(l.Columns[most]), "")
	}
	if r.text != nil && l.Number > 0 {
		f.Link = r.link(l.Number)
	}
	return f, true
}

// spread returns the columns with the least and the most.
func spread(columns []float64) (least, most int, ok bool) {
	for i, v := range columns {
		if v < columns[least] {
			least = i
		}
		if v > columns[most] {
			most = i
		}
	}
	return least, most, len(columns) > 1
}

// calleeWords lists the callees of a line.
func (r *result) calleeWords(l *sourceline.Line) string {
	var words []string
	for i, c := range l.Callees {
		if i == 3 {
			words = append(words, fmt.Sprintf("%d more", len(l.Callees)-i))
			break
		}
		w := r.regions[c.Region].Name
		if c.Calls > 0 {
			w += " (" + view.FormatCount(c.Calls) + "×)"
		}
		words = append(words, w)
	}
	return strings.Join(words, ", ")
}
