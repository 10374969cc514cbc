package alignment

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/analysis/stackalign"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	edge       = 4
	right      = 14
	bandGap    = 4
	leastLevel = 4 // of a level of the stack in pixels
	mostLevel  = 40
	leastSlot  = 0.7
	// mostRatio is the power of two at which the colours of differences end.
	mostRatio = 2
)

// ofCall is the item kind of a call: a slot, by its number from the outermost on, and a
// row.
const ofCall = 1

// A drawing is where things are put.
type drawing struct {
	frame  scene.Frame
	band   float32 // height of a row with the gap under it
	level  float32 // of one call
	levels int
}

// Scene draws a band of stacks for each row.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	d := r.layout(size)
	f := s.AddFrame(d.frame)
	small := size.Height < 80 || size.Width < 200
	if !small {
		s.XAxis(f, scene.Axis{Unit: "ns"})
	}
	p := &painter{r: r, s: s, d: &d, number: r.numbers(), boxes: &scene.Rect{}, gaps: &scene.Rect{},
		text: &scene.Text{Size: 11}}
	p.draw(r.aligned.Slots, 0, 0, make([]bool, len(r.rows)))
	s.AddLayer("gaps", f, p.gaps)
	s.AddLayer("calls", f, p.boxes)
	s.AddLayer("names", f, p.text)
	if !small {
		s.RowLabels(f, 4+r.Arrangement().Gutter())
		r.Arrangement().DrawScaleRows(s, f)
	}
	r.legend(s, p)
	r.Arrangement().Explain(s)
	s.Notes = append(r.Notes(), r.fitNote())
	if p.narrowed > 0 {
		s.Notes = append(s.Notes,
			fmt.Sprintf("%s narrower than a pixel: the longest of those in a pixel is drawn",
				view.Count(p.narrowed, "call")))
	}
	if d.levels < r.levels {
		s.Notes = append(s.Notes, fmt.Sprintf("%d of %d levels of the stack are drawn", d.levels, r.levels))
	}
	return s
}

func (r *result) describe() string {
	return fmt.Sprintf("Aligned call stacks of %s: %s on an axis of %s.", view.Count(len(r.rows), "location"),
		view.Count(r.aligned.Count, "call"), view.FormatDuration(float64(r.width)))
}

// fitNote names the row that fits the first one least, of those of its kind if there are some.
func (r *result) fitNote() string {
	worst, kind := 0, r.kinds()
	alone := !slices.Contains(kind[1:], kind[0])
	for i := range r.rows {
		if kind[i] != kind[0] && !alone {
			continue
		}
		if r.aligned.Pairs[i].Structure()+r.aligned.Pairs[i].Time < r.aligned.Pairs[worst].Structure()+
			r.aligned.Pairs[worst].Time {
			worst = i
		}
	}
	if worst == 0 {
		if slices.ContainsFunc(kind, func(k int32) bool { return k != kind[0] }) && !alone {
			return fmt.Sprintf("all of the kind of %s make the same calls for the same time", r.rows[0].name)
		}
		return "all make the same calls for the same time"
	}
	p := &r.aligned.Pairs[worst]
	return fmt.Sprintf("least like %s is %s: %s of calls and %s of time in common", r.rows[0].name, r.rows[worst].name,
		view.FormatShare(p.Structure()), view.FormatShare(p.Time))
}

// kinds distinguishes GPUs from hosts among the rows.
func (r *result) kinds() []int32 {
	out := make([]int32, len(r.rows))
	for i, x := range r.rows {
		tree := r.request.Runs[x.run].Store.Locations()
		out[i] = runfacts.Kinds(tree, []trace.LocationID{x.location})[0]
	}
	return out
}

func (r *result) layout(size scene.Size) drawing {
	w, h := float32(max(size.Width, 1)), float32(max(size.Height, 1))
	d := drawing{}
	f := scene.Frame{Name: "main", W: w, H: h}
	f.XScale = scene.Scale{Kind: "linear", End: float64(r.width), Label: "longest times of the calls, added up"}
	rows := make([]scene.Row, len(r.rows))
	for i, k := range r.order {
		x := r.rows[k]
		rows[i] = scene.Row{Location: scene.NoID, Region: scene.NoID, Label: x.name, Count: 1}
		if x.run == 0 {
			rows[i].Location = uint32(x.location)
		}
	}
	if size.Height >= 80 && size.Width >= 200 {
		f.X, f.Y = min(scene.RowLabelWidth(rows, 200)+r.Arrangement().Gutter(), w/3), edge
		f.W, f.H = max(w-f.X-right, 1), max(h-edge-scene.AxisHeight-4, 1)
	}
	n := float32(len(r.rows))
	d.band = f.H / n
	gap := min(bandGap, d.band/4)
	d.levels = max(1, min(r.levels, int((d.band-gap)/leastLevel)))
	d.level = min((d.band-gap)/float32(d.levels), mostLevel)
	d.band = d.level*float32(d.levels) + gap
	f.H = d.band*n - gap
	for i := range rows {
		rows[i].From = f.Y + float32(i)*d.band
		rows[i].To = rows[i].From + d.band - gap
	}
	f.YScale = scene.Scale{Kind: "rows", Rows: rows}
	d.frame = f
	return d
}

type painter struct {
	r      *result
	s      *scene.Scene
	d      *drawing
	number map[*stackalign.Slot]int
	boxes  *scene.Rect
	gaps   *scene.Rect
	text   *scene.Text
	used   map[int32]bool
	gapped bool
	// narrowed counts outermost slots that share their pixel with others.
	narrowed int
}

// draw paints slots from at on, at a level; missing says which rows have a gap already.
// Calls narrower than a pixel are left to the call around them; outermost calls have
// none, so those that share a pixel are drawn as the longest of them.
func (p *painter) draw(slots []*stackalign.Slot, at trace.Time, level int, missing []bool) {
	if level >= p.d.levels {
		return
	}
	first, from := 0, at // of the narrow ones that wait
	for i, x := range slots {
		a, b := p.d.frame.XPixel(float64(at)), p.d.frame.XPixel(float64(at+x.Width))
		wide := b-a >= leastSlot
		if level == 0 && (wide || b-p.d.frame.XPixel(float64(from)) >= leastSlot) {
			end, to := i, a
			if !wide {
				end, to = i+1, b
			}
			p.narrow(slots[first:end], p.d.frame.XPixel(float64(from)), to)
			first, from = i+1, at+x.Width
		}
		if wide {
			below := make([]bool, len(missing))
			for s, c := range x.Calls {
				if below[s] = missing[s] || c < 0; !missing[s] {
					p.box(x, s, c, a, b, level)
				}
			}
			p.draw(x.Inner, at+x.Self/2, level+1, below)
		}
		at += x.Width
	}
	if level == 0 {
		p.narrow(slots[first:], p.d.frame.XPixel(float64(from)), p.d.frame.XPixel(float64(at)))
	}
}

// narrow paints slots that share a pixel: in each row the longest call of them.
func (p *painter) narrow(slots []*stackalign.Slot, a, b float32) {
	if len(slots) == 0 {
		return
	}
	p.narrowed += len(slots)
	for s := range p.r.rows {
		longest, width := slots[0], trace.Time(-1)
		for _, x := range slots {
			if c := x.Calls[s]; c >= 0 && p.r.duration(s, c) > width {
				longest, width = x, p.r.duration(s, c)
			}
		}
		p.box(longest, s, longest.Calls[s], a, b, 0)
	}
}

// box paints the call of one row, or the gap where it makes none.
func (p *painter) box(x *stackalign.Slot, s int, c int32, a, b float32, level int) {
	d := p.d
	y := d.frame.Y + float32(p.r.place[s])*d.band + float32(level)*d.level
	if c < 0 {
		p.gaps.Add(a, y, b-a, d.level*float32(d.levels-level), scene.UIEmpty)
		p.gaps.SetFlags(scene.Hatched)
		p.gaps.SetItem(p.s.Item(ofCall, p.number[x], s))
		p.gapped = true
		return
	}
	n := &p.r.nodes[x.Node]
	colour := p.r.colours.Named(n.name, n.role)
	if p.r.different {
		colour = p.r.difference(x, s, c)
	} else {
		if p.used == nil {
			p.used = map[int32]bool{}
		}
		p.used[x.Node] = true
	}
	gap := float32(0)
	if b-a > 3 {
		gap = 0.5
	}
	p.boxes.Add(a, y, b-a-gap, max(d.level-0.5, 0.5), colour)
	p.boxes.SetItem(p.s.Item(ofCall, p.number[x], s))
	if d.level >= 12 && b-a > 30 {
		if t := scene.Shorten(n.name, b-a-8, 11); t != "" {
			p.text.Add(a+4, y+d.level/2+4, t, scene.Ink(colour), scene.Start)
		}
	}
}

// difference is the colour of a call by how much longer it is than on the first row.
func (r *result) difference(x *stackalign.Slot, s int, c int32) scene.Colour {
	if x.Calls[0] < 0 {
		return scene.Ramp("diverging", 1)
	}
	own, first := float64(r.duration(s, c)), float64(r.duration(0, x.Calls[0]))
	if own == first {
		return scene.Ramp("diverging", 0.5)
	}
	return scene.Ramp("diverging", 0.5+math.Log2(max(own, 1)/max(first, 1))/(2*mostRatio))
}

// mostEntries bounds the legend.
const mostEntries = 12

func (r *result) legend(s *scene.Scene, p *painter) {
	if r.different {
		against := "duration against " + r.rows[0].name
		s.Legend = append(s.Legend, plot.RampKey(against, "diverging", "≤ 1/4", "≥ 4 ×"))
	}
	n := 0
	for k := range r.nodes {
		if x := &r.nodes[k]; p.used[int32(k)] && n < mostEntries {
			n++
			s.Legend = append(s.Legend, plot.RegionKey(x.name, r.colours.Named(x.name, x.role), uint32(x.region)))
		}
	}
	if p.gapped {
		s.Legend = append(s.Legend, plot.FlaggedKey("not called there", scene.UIEmpty, scene.Hatched))
	}
}

// numbers are those of the slots, from the outermost on.
func (r *result) numbers() map[*stackalign.Slot]int {
	out := map[*stackalign.Slot]int{}
	r.each(r.aligned.Slots, 0, func(x *stackalign.Slot, _ int) { out[x] = len(out) })
	return out
}

// Fact returns a call with the same call of the other rows.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	if r.inOrder == nil {
		r.each(r.aligned.Slots, 0, func(x *stackalign.Slot, _ int) { r.inOrder = append(r.inOrder, x) })
	}
	return r.fact(r.inOrder[it.A], int(it.B)), true
}

func (r *result) fact(x *stackalign.Slot, s int) view.Fact {
	n := &r.nodes[x.Node]
	f := view.Fact{Title: n.name}
	f.Say("location", r.rows[s].name, "")
	if n.region != trace.NoRegion {
		f.Regions = []trace.RegionID{n.region}
	}
	if r.rows[s].run == 0 {
		f.Locations = []trace.LocationID{r.rows[s].location}
	}
	if c := x.Calls[s]; c >= 0 {
		begin, end := r.list[s].Begin[c], r.list[s].End[c]
		f.Say("begins at", view.FormatTime(begin), fmt.Sprint(begin))
		if r.rows[s].run == 0 {
			f.Begin, f.End = &begin, &end
		}
		if first := x.Calls[0]; first >= 0 && s > 0 {
			later := begin - r.list[0].Begin[first]
			f.Say("later than "+r.rows[0].name, view.FormatDuration(float64(later)), fmt.Sprint(later))
		}
	} else {
		f.Text = "Not called there."
	}
	for k, c := range x.Calls {
		value, exact := "not called", ""
		if c >= 0 {
			value, exact = view.FormatDuration(float64(r.duration(k, c))), fmt.Sprint(r.duration(k, c))
		}
		name := r.rows[k].name
		if k == s {
			name = "▸ " + name
		}
		f.Say(name, value, exact)
	}
	return f
}
