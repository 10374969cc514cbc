package profile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	head     = 20 // names of the columns
	pitch    = 22 // height of a row
	least    = 4  // of a row, where there are many and it is asked for
	pad      = 8
	whisker  = 5 // height of the spread over locations
	barLeast = 60
)

// Item kinds: a row, or a cell of a row's strip.
const (
	ofRow = iota + 1
	ofCell
)

// A drawing is where things are put.
type drawing struct {
	rows         int
	lines        []line // as many
	pitch        float32
	heatX, heatW float32
	width        float32
}

// A column is one of the numbers written next to a bar.
type column struct {
	title string
	text  func(*row) string
	width float32
}

// Scene draws the rows that fit: names, numbers, bars, strips.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	w, h := float32(size.Width), float32(size.Height)
	lines := r.lines()
	d := drawing{width: w, pitch: pitch, rows: int((h - head) / pitch)}
	if top := r.request.Values.Integer("top"); top > 0 {
		d.rows = min(top, int((h-head)/least))
		d.pitch = min(pitch, (h-head)/float32(max(min(d.rows, len(lines)), 1)))
	}
	d.rows = max(min(d.rows, len(lines)), 0)
	d.lines = lines[:d.rows]
	rows := plot.NewRows(d.rows, head, d.pitch, func(i int, row *scene.Row) {
		if row.Label = d.lines[i].name; d.lines[i].row != nil {
			row.Region = uint32(d.lines[i].row.region)
		}
	})
	labels := min(rows.LabelWidth(w*0.3), 320)
	columns := r.columns(d.lines, w-labels)
	left := labels
	for _, c := range columns {
		left += c.width
	}
	room := w - left - pad
	bars := room
	if len(r.locations) > 1 && room > 2*barLeast {
		bars = min(room*0.45, 360)
		d.heatX, d.heatW = left+bars+2*pad, room-bars-2*pad
	}
	s.AddFrame(rows.Frame("bars", left, max(bars, 0),
		scene.Scale{Kind: "linear", Begin: 0, End: r.most(d.lines), Label: r.metric.Name}))
	s.AimRows(0, 0, w, func(i int) uint32 {
		if d.lines[i].row == nil {
			return scene.NoItem
		}
		return s.Item(ofRow, d.lines[i].at)
	})
	r.bands(s, &d, labels)
	r.numbers(s, &d, columns, labels)
	r.bars(s, &d)
	if d.heatW > 0 {
		s.AddFrame(rows.Frame("locations", d.heatX, d.heatW, scene.Scale{}))
		r.heat(s, &d)
		r.Arrangement().DrawColumns(s, 1, r.locations)
		r.Arrangement().Explain(s)
	}
	s.Notes = append(s.Notes, r.notes...)
	if left := len(lines) - d.rows; left > 0 {
		s.Notes = append(s.Notes, view.Count(left, "more region")+" not drawn")
	}
	return s
}

func (r *result) describe() string {
	first := view.FormatShare(r.rows[0].share) + " of " + r.base.Name
	if r.base.Whole == 0 {
		first = r.metric.Format(r.rows[0].value)
	}
	return fmt.Sprintf("Profile of %s regions on %s locations by %s; the first is %s with %s.",
		view.Thousands(int64(len(r.rows))),
		view.Thousands(int64(len(r.locations))), r.metric.Name, r.regions[r.rows[0].region].Name, first)
}

// most is the greatest value of the rows drawn, never 0.
func (r *result) most(lines []line) float64 {
	most := r.full
	for _, x := range lines {
		if x.row != nil {
			most = max(most, x.row.value)
		}
	}
	if most <= 0 {
		return 1
	}
	return most
}

// ShareScale implements view.Scaled. Regions of the second run come in the order of the first.
func (r *result) ShareScale(second view.Result) {
	other := second.(*result)
	for _, half := range []*result{r, other} {
		for i := range half.rows {
			r.full, r.fullOne = max(r.full, half.rows[i].value), max(r.fullOne, half.rows[i].max)
		}
	}
	other.full, other.fullOne = r.full, r.fullOne
	place := make(map[string]int, len(r.rows))
	for i := range r.rows {
		place[r.regions[r.rows[i].region].Name] = i - len(r.rows) // before those that the first does not have
	}
	slices.SortStableFunc(other.rows, func(a, b row) int {
		return cmp.Compare(place[other.regions[a.region].Name], place[other.regions[b.region].Name])
	})
	r.pair(other, func(name string) bool { return place[name] < 0 })
}

// A line of the picture is a row, number at, or the place of a region that the other run alone has.
type line struct {
	name string
	row  *row
	at   int
}

// lines lists those of the picture.
func (r *result) lines() []line {
	if r.paired != nil {
		return r.paired
	}
	out := make([]line, len(r.rows))
	for i := range r.rows {
		out[i] = line{r.regions[r.rows[i].region].Name, &r.rows[i], i}
	}
	return out
}

// pair gives each region one line in the pictures of both runs. Regions of the second run alone come where their value
// puts them, or last if values do not order the first; the first has those that are known.
func (r *result) pair(other *result, known func(string) bool) {
	first, shared := r.lines(), other.lines()
	n := slices.IndexFunc(shared, func(x line) bool { return !known(x.name) })
	var alone []line
	if n >= 0 {
		shared, alone = shared[:n], shared[n:]
	}
	add := func(a, b line) { r.paired, other.paired = append(r.paired, a), append(other.paired, b) }
	ordered := slices.IsSortedFunc(r.rows, func(a, b row) int { return cmp.Compare(b.value, a.value) })
	for _, x := range first {
		for ordered && len(alone) > 0 && alone[0].row.value > x.row.value {
			add(line{name: alone[0].name}, alone[0])
			alone = alone[1:]
		}
		partner := line{name: x.name}
		if len(shared) > 0 && shared[0].name == x.name {
			partner, shared = shared[0], shared[1:]
		}
		add(x, partner)
	}
	for _, x := range slices.Concat(shared, alone) {
		add(line{name: x.name}, x)
	}
}

// columns chooses the numbers that have room: the share first.
func (r *result) columns(lines []line, room float32) (out []column) {
	value := func(of func(*row) float64) func(*row) string {
		return func(x *row) string { return r.metric.Format(of(x)) }
	}
	time := value
	if r.metric.Number == runfacts.NumberCalls {
		time = func(of func(*row) float64) func(*row) string {
			return func(x *row) string { return view.FormatDuration(of(x)) }
		}
	}
	all := []column{
		{title: r.base.Head(), text: func(x *row) string { return view.FormatShare(x.share) }},
		{title: "calls", text: func(x *row) string { return view.FormatCount(x.calls) }},
		{title: "exclusive", text: time(func(x *row) float64 { return x.exclusive })},
		{title: "inclusive", text: time(func(x *row) float64 { return x.inclusive })},
	}
	all = slices.DeleteFunc(all, func(c column) bool {
		return c.title == "" || c.title == "calls" && !r.counted
	})
	used := float32(0)
	for _, c := range all {
		c.width = scene.TextWidth(c.title, scene.TextSize, false)
		for _, x := range lines {
			if x.row != nil {
				c.width = max(c.width, scene.TextWidth(c.text(x.row), scene.TextSize, false))
			}
		}
		c.width += 2 * pad
		if used+c.width > room*0.5 {
			break
		}
		used += c.width
		out = append(out, c)
	}
	return out
}

// bands shades every other row, so that the eye keeps to it, and writes the names.
func (r *result) bands(s *scene.Scene, d *drawing, labels float32) {
	bands, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	names := make([]string, d.rows)
	for i := range names {
		names[i] = d.lines[i].name
	}
	names = scene.Distinct(names, labels-2*pad, scene.TextSize)
	for i, name := range names {
		top := head + float32(i)*d.pitch
		if i%2 == 1 {
			bands.Add(0, top, d.width, d.pitch, scene.UIBand)
		}
		if name != "" && d.pitch >= 12 {
			colour := scene.UIText
			if d.lines[i].row == nil {
				colour = scene.UITextMuted
			}
			text.Add(pad, top+r.baseline(d), name, colour, scene.Start)
		}
	}
	s.AddLayer("bands", -1, bands)
	s.AddLayer("names", -1, text)
}

// baseline is that of a row's text, from its top.
func (r *result) baseline(d *drawing) float32 {
	return d.pitch/2 + scene.TextAscent(scene.TextSize)/2
}

func (r *result) numbers(s *scene.Scene, d *drawing, columns []column, left float32) {
	text := &scene.Text{Size: scene.TextSize}
	at := left
	for _, c := range columns {
		at += c.width
		text.Add(at-pad, head-6, c.title, scene.UITextMuted, scene.End)
		for i, x := range d.lines {
			if x.row != nil && d.pitch >= 12 {
				text.Add(at-pad, head+float32(i)*d.pitch+r.baseline(d), c.text(x.row), scene.UIText, scene.End)
			}
		}
	}
	s.AddLayer("numbers", -1, text)
}

// bars draws values, and below each the spread over locations.
func (r *result) bars(s *scene.Scene, d *drawing) {
	f := &s.Frames[0]
	short, _, _ := strings.Cut(r.metric.Name, " ") // "exclusive", of time or another metric
	s.AddLayer("head", -1, plot.Head(f, scene.Longest(f.W, r.metric.Name, short), scene.UITextMuted))
	if f.W <= 0 {
		return
	}
	most := r.fullOne // of one location
	for _, x := range d.lines {
		if x.row != nil {
			most = max(most, x.row.max)
		}
	}
	bars, thin, dots := &scene.Rect{}, &scene.Line{Width: 1}, &scene.Point{}
	spread := len(r.locations) > 1 && d.pitch >= 16 && most > 0
	for i := range d.lines {
		x := d.lines[i].row
		if x == nil {
			continue
		}
		g := &r.regions[x.region]
		top, height := head+float32(i)*d.pitch+2, d.pitch-4
		if spread {
			height -= whisker + 2
		}
		if width := f.XPixel(max(x.value, 0)) - f.X; width > 0 {
			bars.Add(f.X, top, width, height, r.colours.Of(g))
		}
		if spread {
			place := func(v float64) float32 { return f.X + float32(min(max(v/most, 0), 1))*f.W }
			y := top + height + 2 + whisker/2
			thin.Add(place(x.min), y, place(x.max), y, scene.UIAxis)
			if lo, hi := place(x.mean-x.sd), place(x.mean+x.sd); hi > lo {
				bars.Add(lo, y-1, hi-lo, 2, scene.UIAxis)
			}
			dots.Add(place(x.mean), y, 2, scene.UIText)
		}
	}
	s.AddLayer("bars", 0, bars)
	s.AddLayer("spread", 0, thin, dots)
	if spread {
		s.Legend = append(s.Legend, plot.Key("spread over locations", scene.UIAxis))
		s.Notes = append(s.Notes,
			fmt.Sprintf("the line below a bar runs from the least to the most of one location, the dot is the mean, "+
				"the thick part one standard deviation; the full width is %s", r.metric.Format(most)))
	}
}

// heat draws the strips, each against the highest of its row.
func (r *result) heat(s *scene.Scene, d *drawing) {
	palette := r.request.Values.Text("palette")
	columns := max(min(r.bins, int(d.heatW)), 1)
	words := fmt.Sprintf("%s locations", view.Thousands(int64(len(r.locations))))
	s.AddLayer("head", -1, plot.Head(&s.Frames[1], words, scene.UITextMuted))
	var marks []scene.Mark
	for i := range d.lines {
		x := d.lines[i].row
		if x == nil {
			continue
		}
		cells := make([]scene.Colour, columns)
		values := make([]float64, columns)
		most := 0.0
		for k := range cells {
			values[k] = r.odd(x, k, columns)
			most = max(most, values[k])
		}
		for k := range cells {
			cells[k] = scene.UIEmpty
			if most > 0 {
				cells[k] = scene.Ramp(palette, values[k]/most)
			}
		}
		marks = append(marks,
			&scene.Image{X: d.heatX, Y: head + float32(i)*d.pitch + 1, W: d.heatW, H: max(d.pitch-2, 1),
				Columns: columns, Rows: 1, Cells: cells, Of: ofCell,
				At: [2]int32{int32(d.lines[i].at), int32(columns)}})
	}
	s.AddLayer("strips", 1, marks...)
	s.Legend = append(s.Legend, plot.RampKey("one location", palette, "0", "most of the row"))
}

// binsOf returns the bins that a column of the picture shows.
func (r *result) binsOf(k, columns int) (lo, hi int) {
	return k * r.bins / columns, max((k+1)*r.bins/columns, k*r.bins/columns+1)
}

// odd returns the value of a column: that of its location farthest from the mean.
func (r *result) odd(x *row, k, columns int) float64 {
	lo, hi := r.binsOf(k, columns)
	v := x.heat[lo]
	for b := lo + 1; b < hi; b++ {
		v = x.farther(v, x.heat[b])
	}
	return float64(v)
}

// Fact returns the numbers of a row, in a strip those of the locations there.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	w := &r.rows[it.A]
	f := r.fact(w)
	if it.Of == ofCell {
		r.locate(&f, w, int(it.C), int(it.B))
	}
	return f, true
}

func (r *result) fact(w *row) view.Fact {
	g := &r.regions[w.region]
	f := view.Fact{Title: g.Name, Regions: []trace.RegionID{w.region}}
	if r.base.Whole != 0 {
		f.SayNumber("of "+r.base.Name, w.share, view.FormatShare)
	}
	if r.counted {
		f.SayNumber("calls", w.calls, view.FormatCount)
	}
	time := r.metric.Format
	if r.metric.Number == runfacts.NumberCalls {
		time = view.FormatDuration
	}
	f.SayNumber("exclusive", w.exclusive, time)
	f.SayNumber("inclusive", w.inclusive, time)
	if w.call != nil {
		f.SayNumber("mean of a call, exclusive", *w.call, time)
	}
	if len(r.locations) > 1 {
		f.SayNumber("mean per location", w.mean, r.metric.Format)
		f.SayNumber("standard deviation", w.sd, r.metric.Format)
		f.SayNumber("least", w.min, r.metric.Format)
		f.SayNumber("most", w.max, r.metric.Format)
		f.Say("locations",
			fmt.Sprintf("%s of %s", view.Thousands(int64(w.seen)), view.Thousands(int64(len(r.locations)))), "")
	}
	f.Say("role", g.Role.String(), "")
	if g.Category != "" {
		f.Say("category", g.Category, "")
	}
	if g.File != "" {
		f.Say("source", fmt.Sprintf("%s:%d", g.File, g.Line), "")
	}
	return f
}

// locate narrows a fact to the locations of a column of the strips.
func (r *result) locate(f *view.Fact, w *row, k, columns int) {
	lo, hi := r.binsOf(k, columns)
	n := len(r.locations)
	first, last := (lo*n+r.bins-1)/r.bins, (hi*n+r.bins-1)/r.bins
	f.Locations = append([]trace.LocationID{}, r.locations[first:max(last, first+1)]...)
	tree := r.request.Store().Locations()
	name, here := tree.Path(f.Locations[0]), "here"
	if len(f.Locations) > 1 {
		f.Count = int64(len(f.Locations))
		name = fmt.Sprintf("%s … (%s locations)", name, view.Thousands(f.Count))
		here = "farthest from the mean"
	}
	v := r.odd(w, k, columns)
	lines := []view.FactLine{{Label: "location", Value: name},
		{Label: here, Value: r.metric.Format(v), Exact: view.Cell(v)}}
	f.Lines = append(lines, f.Lines...)
	if len(f.Locations) == 1 {
		f.Lines = append(f.Lines, view.AttributeLines(tree, f.Locations[0])...)
	}
}
