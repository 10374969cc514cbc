package histogram

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	topRoom   = 24 // for the label of the vertical axis
	rightRoom = 16
	gap       = 12 // between the two parts
	leastBars = 60 // height of the lower part; with less it is left out
	leastRow  = 2  // pixels of a location in the lower part
	mostRow   = 18
)

// Item kinds: a bin, or the locations from one place in the order up to another.
const (
	ofBin = iota + 1
	ofLocations
)

// A drawing is where things are put.
type drawing struct {
	counts, bars scene.Frame
	rows         int // of the lower part
	pitch        float32
}

// Scene draws the counts, and the bars of locations below on the same axis.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	w, h := float32(size.Width), float32(size.Height)
	most := max(r.mostCount, r.highest())
	counts := scene.Frame{Name: "counts", Y: topRoom, XScale: r.scale(),
		YScale: scene.Scale{Kind: "linear", End: float64(max(most, 1)) * 1.05, Label: "locations"}}
	room := h - topRoom - scene.AxisHeight - 4
	lower := float32(0)
	if room*0.55 >= leastBars && len(r.locations) > 1 {
		lower = min(room*0.55, float32(len(r.locations))*mostRow)
	}
	counts.H = max(room-lower, 1)
	if lower > 0 {
		counts.H -= gap
	}
	d := drawing{rows: min(len(r.locations), max(int(lower/leastRow), 1))}
	if d.rows > 0 {
		d.rows = up(len(r.locations), up(len(r.locations), d.rows)) // as many locations in every row
	}
	var rows []scene.Row
	if lower > 0 {
		top := counts.Y + counts.H + gap
		d.pitch = lower / float32(d.rows)
		rows = r.rowsFrom(top, &d)
	}
	axis := scene.Axis{Unit: "count"}
	left := scene.YAxisWidth(counts.YScale, counts.H, axis)
	if lower > 0 {
		left = max(left, scene.RowLabelWidth(rows, w*0.25)+4+r.Arrangement().Gutter())
	}
	counts.X, counts.W = left, max(w-left-rightRoom, 1)
	bars := counts
	bars.Name, bars.Y, bars.H = "locations", counts.Y+counts.H+gap, lower
	bars.YScale = scene.Scale{Kind: "rows", Rows: rows}
	s.AddFrame(counts)
	s.YAxis(0, axis)
	if lower > 0 {
		s.AddFrame(bars)
		s.XAxis(0, scene.Axis{Unit: r.unit(), NoLabels: true})
		s.XAxis(1, scene.Axis{Unit: r.unit()})
	} else {
		s.XAxis(0, scene.Axis{Unit: r.unit()})
	}
	d.counts, d.bars = counts, bars
	r.spread(s, 0)
	r.paintCounts(s, &d)
	if lower > 0 {
		s.AimRows(1, 0, bars.X+bars.W,
			func(k int) uint32 { lo, hi := r.members(k, d.rows); return s.Item(ofLocations, lo, hi) })
		r.paintBars(s, &d)
		s.RowLabels(1, r.Arrangement().Gutter())
		r.Arrangement().DrawRows(s, 1, r.ordered())
	}
	r.lines(s, &d)
	r.explain(s, &d)
	if lower > 0 {
		r.Arrangement().Explain(s)
	}
	return s
}

// highest is the most locations that one bin has.
func (r *result) highest() (most int) {
	for _, b := range r.bins {
		most = max(most, b.count)
	}
	return most
}

// ordered returns the locations as they are drawn.
func (r *result) ordered() []trace.LocationID {
	ids := make([]trace.LocationID, len(r.order))
	for k, i := range r.order {
		ids[k] = r.locations[i]
	}
	return ids
}

func (r *result) unit() string {
	if r.measure.Unit == "count" {
		return ""
	}
	return r.measure.Unit
}

func (r *result) describe() string {
	return fmt.Sprintf("Histogram of %s over %s: mean %s, from %s to %s.", r.measure.Label,
		view.Count(r.have, "location"), r.measure.Format(r.mean), r.measure.Format(r.min), r.measure.Format(r.max))
}

// scale begins at 0 if that leaves space for the differences.
func (r *result) scale() scene.Scale {
	s := scene.Scale{Kind: "linear", Begin: r.low, End: r.high, Label: r.measure.Label}
	if r.log {
		s.Kind = "log"
		if s.End <= s.Begin {
			s.End = s.Begin * 10
		}
		return s
	}
	if r.low >= 0 && r.low <= r.high/3 {
		s.Begin = 0
	}
	if s.End <= s.Begin {
		s.Begin, s.End = s.Begin-math.Max(math.Abs(s.Begin)*0.1, 0.5), s.End+math.Max(math.Abs(s.End)*0.1, 0.5)
	}
	return s
}

// base is where the bars of locations begin: at the axis's 0, else at the mean.
func (r *result) base() float64 {
	s := r.scale()
	if r.log || s.Begin <= 0 && s.End >= 0 {
		return max(s.Begin, 0)
	}
	return r.mean
}

// rowsFrom names the rows of the lower part.
func (r *result) rowsFrom(top float32, d *drawing) []scene.Row {
	tree := r.request.Store().Locations()
	rows := make([]scene.Row, d.rows)
	first := make([]trace.LocationID, d.rows)
	for k := range rows {
		lo, hi := r.members(k, d.rows)
		first[k] = r.locations[r.order[lo]]
		rows[k] = scene.Row{From: top + float32(k)*d.pitch, To: top + float32(k+1)*d.pitch, Location: scene.NoID,
			Region: scene.NoID, Count: hi - lo}
		if hi-lo == 1 {
			rows[k].Location = uint32(first[k])
		}
	}
	for k, name := range runfacts.ShortNames(tree, first) {
		rows[k].Label = name
	}
	return rows
}

// members returns the places in order that a row of the lower part stands for.
func (r *result) members(k, rows int) (lo, hi int) {
	each := up(len(r.order), rows)
	return k * each, min((k+1)*each, len(r.order))
}

// up divides, rounding up.
func up(a, b int) int { return (a + b - 1) / b }

// spread draws one standard deviation to both sides of the mean, as a bar along the top.
func (r *result) spread(s *scene.Scene, frame int) {
	f := &s.Frames[frame]
	lo, hi := r.mean-r.sd, r.mean+r.sd
	if r.log {
		lo = max(lo, r.min)
	}
	a, b := max(f.XPixel(lo), f.X), min(f.XPixel(hi), f.X+f.W)
	band := &scene.Rect{}
	if b > a {
		band.Add(a, f.Y+2, b-a, 4, scene.UIAxis)
	}
	s.AddLayer("deviation", frame, band)
}

func (r *result) colour() scene.Colour {
	if len(r.measure.Regions) == 1 {
		g := &r.request.Store().Regions()[r.measure.Regions[0]]
		return r.colours.Of(g)
	}
	return scene.UIData
}

func (r *result) paintCounts(s *scene.Scene, d *drawing) {
	f := &d.counts
	bars, aims := &scene.Rect{}, &scene.Rect{}
	for k, b := range r.bins {
		if b.count == 0 {
			continue
		}
		x0, x1 := r.span(f, b)
		y := f.YPixel(float64(b.count))
		bars.Add(x0, y, max(x1-x0-1, 1), f.Y+f.H-y, r.colour())
		bars.SetCount(uint32(b.count))
		aims.AddAim(x0, f.Y, x1-x0, f.H, s.Item(ofBin, k)) // also over a low bar
	}
	s.AddLayer("items", 0, aims)
	s.AddLayer("counts", 0, bars)
}

// span returns the pixels of a bin; the only bin of equal values has some width.
func (r *result) span(f *scene.Frame, b bin) (x0, x1 float32) {
	x0, x1 = f.XPixel(b.low), f.XPixel(b.high)
	if x1-x0 < 1 {
		x0, x1 = x0-min(12, f.W/4), x1+min(12, f.W/4)
	}
	return x0, x1
}

// paintBars draws a bar for each location. If rows stand for several locations, all of
// them run from the least to the most.
func (r *result) paintBars(s *scene.Scene, d *drawing) {
	f := &d.bars
	from := f.XPixel(r.base())
	bars := &scene.Rect{}
	for k := range d.rows {
		lo, hi := r.members(k, d.rows)
		least, most, n := r.extent(lo, hi)
		if n == 0 {
			continue
		}
		y, height := f.Y+float32(k)*d.pitch, d.pitch
		if height >= 5 {
			y, height = y+1, height-2
		}
		a, b := f.XPixel(least), f.XPixel(most)
		if d.rows == len(r.locations) {
			a, b = min(from, b), max(from, b)
		}
		bars.Add(a, y, max(b-a, 2), height, r.colour())
		if n > 1 {
			bars.SetFlags(scene.Aggregated)
			bars.SetCount(uint32(n))
		}
	}
	s.AddLayer("locations", 1, bars)
}

func (r *result) extent(lo, hi int) (least, most float64, n int) {
	least, most = math.Inf(1), math.Inf(-1)
	for _, i := range r.order[lo:hi] {
		if v := r.values[i]; r.binOf[i] >= 0 {
			least, most, n = min(least, v), max(most, v), n+1
		}
	}
	return least, most, n
}

// lines draws mean and median over both parts.
func (r *result) lines(s *scene.Scene, d *drawing) {
	mean, median := &scene.Line{Width: 2}, &scene.Line{Width: 1}
	for _, f := range s.Frames {
		if x := f.XPixel(r.mean); x == x {
			mean.Add(x, f.Y, x, f.Y+f.H, scene.UIText)
		}
		if x := f.XPixel(r.quartile[1]); x == x {
			median.Add(x, f.Y, x, f.Y+f.H, scene.UITextMuted)
			median.SetFlags(scene.Dashed)
		}
	}
	s.AddLayer("mean", -1, median, mean)
}

func (r *result) explain(s *scene.Scene, d *drawing) {
	entry := func(label string, c scene.Colour) {
		s.Legend = append(s.Legend, plot.Key(label, c))
	}
	entry(r.name, r.colour())
	entry("mean "+r.measure.Format(r.mean), scene.UIText)
	entry("median "+r.measure.Format(r.quartile[1]), scene.UITextMuted)
	entry("one standard deviation, "+r.measure.Format(r.sd), scene.UIAxis)
	s.Notes = append(s.Notes, r.notes...)
	if d.pitch > 0 && d.rows < len(r.locations) {
		s.Notes = append(s.Notes,
			fmt.Sprintf("a row of the lower part stands for up to %s of %s locations and runs from their least to "+
				"their most", view.Thousands(int64((len(r.locations)+d.rows-1)/d.rows)),
				view.Thousands(int64(len(r.locations)))))
	} else if d.pitch > 0 && r.base() == r.mean && r.mean != 0 {
		s.Notes = append(s.Notes, "the axis does not begin at 0: bars of locations begin at the mean")
	}
}

// Fact returns a bin with its locations, or a location with its value.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	if it.Of == ofBin {
		return r.binFact(int(it.A)), true
	}
	return r.rowFact(int(it.A), int(it.B)), true
}

func (r *result) binFact(k int) view.Fact {
	b := r.bins[k]
	f := view.Fact{Title: fmt.Sprintf("%s to %s", r.measure.Format(b.low), r.measure.Format(b.high)),
		Regions: r.measure.Regions, Count: int64(b.count)}
	var inBin []trace.LocationID
	for i, at := range r.binOf {
		if int(at) == k {
			inBin = append(inBin, r.locations[i])
		}
	}
	tree := r.request.Store().Locations()
	f.SetLocations(tree, r.holds, inBin)
	names := runfacts.ShortNames(tree, inBin[:min(len(inBin), 1000)])
	members := make([]int32, len(names))
	for i := range members {
		members[i] = int32(i)
	}
	f.Say("locations",
		fmt.Sprintf("%s, %s of all", view.Thousands(f.Count), view.FormatShare(float64(b.count)/float64(r.have))), "")
	f.Say("which", view.NameList(names, members, 6), "")
	f.SayNumber("from", b.low, r.measure.Format)
	f.SayNumber("to", b.high, r.measure.Format)
	return f
}

func (r *result) rowFact(lo, hi int) view.Fact {
	tree := r.request.Store().Locations()
	first := r.locations[r.order[lo]]
	f := view.Fact{Title: tree.Path(first), Regions: r.measure.Regions}
	var ids []trace.LocationID
	for _, i := range r.order[lo:hi] {
		ids = append(ids, r.locations[i])
	}
	least, most, n := r.extent(lo, hi)
	line := func(label string, v float64) { f.SayNumber(label, v, r.measure.Format) }
	switch {
	case n == 0:
		f.Say(r.measure.Label, "none", "")
	case hi-lo == 1:
		line(r.measure.Label, most)
		if r.sd > 0 {
			f.Say("from the mean", view.FormatSigned("%+.2f standard deviations", (most-r.mean)/r.sd), "")
		}
	default:
		f.Count = int64(hi - lo)
		f.Title = fmt.Sprintf("%s … (%s locations)", tree.Path(first), view.Thousands(f.Count))
		line("least "+r.measure.Label, least)
		line("most", most)
	}
	line("mean of all", r.mean)
	if hi-lo == 1 {
		f.Lines = append(f.Lines, view.AttributeLines(tree, first)...)
	}
	slices.Sort(ids)
	f.SetLocations(tree, r.holds, ids)
	return f
}
