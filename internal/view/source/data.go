package source

import (
	"cmp"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Data is the JSON output.
type Data struct {
	// File is the recorded path; Found is the file whose text is shown, from the name of its directory on, or empty.
	File  string `json:"file"`
	Found string `json:"found"`
	// Editor is a link that opens the file at the line in the middle, or empty.
	Editor string `json:"editor"`
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	// ByLine: values are of lines. Otherwise each region has its values at its first line.
	ByLine bool `json:"byLine"`
	// Line is the line in the middle of the picture: that of --line, else the one with the largest value.
	Line  int       `json:"line"`
	Lines []LineRow `json:"lines"`
	Files []FileRow `json:"files"`
	// Columns are the ranks, or locations, of the lists in LineRow.Ranks.
	Columns []string `json:"columns"`
	// Context is the text around the line in the middle.
	Context []TextRow `json:"context"`
}

// PairData is the JSON output for two runs.
type PairData struct {
	Data
	With Data `json:"with"`
	// Differences are the lines of both, largest difference of the exclusive value first.
	Differences []Difference `json:"differences"`
}

// A Difference is a line in two runs.
type Difference struct {
	Line       int     `json:"line"`
	First      float64 `json:"first"` // exclusive
	Second     float64 `json:"second"`
	Difference float64 `json:"difference"` // second − first
	Text       string  `json:"text"`
}

func pair(a, b Data) any {
	d := PairData{Data: a, With: b, Differences: []Difference{}}
	at := map[int]int{}
	find := func(l *LineRow) *Difference {
		i, ok := at[l.Line]
		if !ok {
			i = len(d.Differences)
			at[l.Line] = i
			d.Differences = append(d.Differences, Difference{Line: l.Line, Text: l.Text})
		}
		return &d.Differences[i]
	}
	for i := range a.Lines {
		find(&a.Lines[i]).First = a.Lines[i].Exclusive
	}
	for i := range b.Lines {
		find(&b.Lines[i]).Second = b.Lines[i].Exclusive
	}
	for i := range d.Differences {
		x := &d.Differences[i]
		x.Difference = x.Second - x.First
	}
	slices.SortStableFunc(d.Differences, func(x, y Difference) int {
		return cmp.Compare(math.Abs(y.Difference), math.Abs(x.Difference))
	})
	return d
}

// A LineRow is a line with a value.
type LineRow struct {
	Line      int     `json:"line" unit:""`
	Exclusive float64 `json:"exclusive" unit:"metric" write:"whole"`
	Inclusive float64 `json:"inclusive" unit:"metric" write:"whole"`
	// Calls that the line makes, or of the region that begins there; null if they are not counted.
	Calls   *float64  `json:"calls" unit:"count" write:"whole"`
	Region  string    `json:"region" unit:""`
	Text    string    `json:"text" unit:""`
	Callees []Callee  `json:"callees"`
	Ranks   []float64 `json:"ranks"`
	Editor  string    `json:"editor,omitempty"`

	ID trace.RegionID `json:"-" about:"region"`
}

// A Callee is a function that a line calls.
type Callee struct {
	Region    string   `json:"region"`
	Calls     *float64 `json:"calls"`
	Inclusive float64  `json:"inclusive"`
}

// A FileRow is a file with its exclusive value.
type FileRow struct {
	File      string  `json:"file"`
	Exclusive float64 `json:"exclusive"`
}

// A TextRow is a line of text.
type TextRow struct {
	Line int    `json:"line"`
	Text string `json:"text"`
}

// around is how many lines of text are given before and after the one in the middle.
const around = 24

// Data implements view.Result.
func (r *result) Data() any { return r.data() }

func (r *result) data() Data {
	d := Data{File: r.File, Metric: r.metric.Name, Unit: r.metric.Unit, ByLine: r.byLine, Line: r.centre,
		Lines: r.rows(), Files: []FileRow{}, Columns: r.Columns, Context: []TextRow{}}
	for _, f := range r.Files {
		d.Files = append(d.Files, FileRow{f.Name, f.Exclusive})
	}
	if r.text != nil {
		d.Found, d.Editor = r.text.Shown, r.link(r.centre)
		for n := max(1, r.centre-around); n <= min(len(r.text.Lines), r.centre+around); n++ {
			d.Context = append(d.Context, TextRow{n, r.text.Lines[n-1]})
		}
	}
	return d
}

func (r *result) rows() []LineRow {
	out := make([]LineRow, 0, len(r.Lines))
	for i := range r.Lines {
		l := &r.Lines[i]
		row := LineRow{Line: l.Number, Exclusive: l.Exclusive, Inclusive: l.Inclusive, Text: r.textOf(l.Number),
			Callees: []Callee{}, Ranks: l.Columns, ID: trace.NoRegion}
		if r.Counted {
			row.Calls = &l.Calls
		}
		if len(l.Regions) > 0 {
			row.ID = l.Regions[0]
			row.Region = r.regions[row.ID].Name
		}
		for k := range l.Callees {
			c := &l.Callees[k]
			x := Callee{Region: r.regions[c.Region].Name, Inclusive: c.Inclusive}
			if r.Counted {
				x.Calls = &c.Calls
			}
			row.Callees = append(row.Callees, x)
		}
		if r.text != nil && l.Number > 0 {
			row.Editor = r.link(l.Number)
		}
		out = append(out, row)
	}
	return out
}

// textOf returns a line of the file; "" without it.
func (r *result) textOf(number int) string {
	if r.text == nil || number < 1 || number > len(r.text.Lines) {
		return ""
	}
	return r.text.Lines[number-1]
}

func (r *result) link(number int) string { return r.request.Runs[0].Sources.Link(r.text, number) }

// Table implements view.Result.
func (r *result) Table() *view.Table {
	return view.TableOf(r.rows(), map[string]string{"metric": r.metric.ColumnUnit()}, nil)
}

// Notes implements view.Result.
func (r *result) Notes() []string { return r.notes }
