package calltree

import (
	"fmt"
	"math"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/analysis/pathtree"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	head  = 20
	pitch = 20
	pad   = 8
)

// A column of the table has a title and the text of each node.
type column struct {
	title string
	text  func(*pathtree.Node) string
}

// table draws the heaviest paths as rows, indented, with their numbers and a bar:
// the whole of it inclusive, the dark part exclusive.
func (r *drawing) table(s *scene.Scene) {
	w, h, head := float32(s.Width), float32(s.Height), r.tableY+head
	rows := max(int((h-head)/pitch), 0)
	if top := r.request.Values.Integer("top"); top > 0 {
		rows = min(rows, top)
	}
	shown := r.tree.Heaviest(rows)
	names := plot.NewRows(len(shown), head, pitch, func(i int, row *scene.Row) {
		n := &r.tree.Nodes[shown[i]]
		row.Label, row.Region, row.Level = r.label(n), uint32(n.Region), int(min(n.Depth, 16))
	})
	labels := min(names.LabelWidth(w*0.5), 460)
	columns := []column{
		{r.base.Head(), func(n *pathtree.Node) string { return view.FormatShare(r.base.Share(n.Inclusive)) }},
		{"inclusive", func(n *pathtree.Node) string { return r.format(n.Inclusive) }},
		{"exclusive", func(n *pathtree.Node) string { return r.format(n.Exclusive) }},
	}
	if r.tree.Alone {
		columns = slices.Delete(columns, 1, 2)
	}
	if r.counted {
		columns = append(columns, column{"calls", func(n *pathtree.Node) string { return view.FormatCount(n.Calls) }})
	}
	bands, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	at := labels
	for _, c := range columns {
		width := scene.TextWidth(c.title, scene.TextSize, false)
		for _, id := range shown {
			width = max(width, scene.TextWidth(c.text(&r.tree.Nodes[id]), scene.TextSize, false))
		}
		if at+width+2*pad > w*0.85 {
			break
		}
		at += width + 2*pad
		text.Add(at-pad, head-6, c.title, scene.UITextMuted, scene.End)
		for i, id := range shown {
			text.Add(at-pad, head+float32(i)*pitch+pitch/2+scene.TextAscent(scene.TextSize)/2,
				c.text(&r.tree.Nodes[id]), scene.UIText, scene.End)
		}
	}
	for i := 1; i < len(shown); i += 2 {
		bands.Add(0, head+float32(i)*pitch, w, pitch, scene.UIBand)
	}
	frame := s.AddFrame(names.Frame("bars", at, max(w-at-pad, 0),
		scene.Scale{Kind: "linear", Begin: 0, End: max(r.total, 1), Label: r.axisLabel()}))
	s.AimRows(frame, 0, w, func(i int) uint32 { return s.Item(ofNode, int(shown[i]), 1) })
	s.AddLayer("bands", -1, bands)
	s.AddLayer("numbers", -1, text)
	r.labels(s, shown, labels)
	if measure(r.request) != callgraph.Totals {
		r.boxPlots(s, frame, shown)
	} else {
		r.bars(s, frame, shown)
	}
	if left := len(r.tree.Nodes) - len(shown); left > 0 {
		s.Notes = append(s.Notes, fmt.Sprintf("%s lighter paths are in the table", view.Thousands(int64(left))))
	}
}

// labels writes names with an indent for each level.
func (r *drawing) labels(s *scene.Scene, shown []int32, room float32) {
	text := &scene.Text{Size: scene.TextSize}
	for i, id := range shown {
		n := &r.tree.Nodes[id]
		x := pad + float32(min(n.Depth, 16))*12
		fill := scene.UIText
		if n.Context {
			fill = scene.UITextMuted
		}
		if name := scene.Shorten(r.label(n), room-x-pad, scene.TextSize); name != "" {
			text.Add(x, r.tableY+head+float32(i)*pitch+pitch/2+scene.TextAscent(scene.TextSize)/2, name, fill,
				scene.Start)
		}
	}
	s.AddLayer("names", -1, text)
}

// boxPlots draws the distribution over calls of each row, on a common logarithmic axis.
func (r *drawing) boxPlots(s *scene.Scene, frame int, shown []int32) {
	f := &s.Frames[frame]
	low, high := math.Inf(1), 0.0
	for _, id := range shown {
		if q, ok := r.tree.Quantiles(&r.tree.Nodes[id]); ok {
			low, high = min(low, max(q[0], 1)), max(high, q[4])
		}
	}
	if f.W < 60 || high <= 0 {
		return
	}
	f.XScale = scene.Scale{Kind: "log", Begin: low, End: max(high, low*10), Label: "2, 25, 50, 75 and 98 % of calls"}
	left, right := f.XPixel(low), f.XPixel(max(high, low*10))
	at := func(v float64) float32 { return min(max(f.XPixel(max(v, low)), left), right) }
	plots := &scene.Rect{}
	for i, id := range shown {
		n := &r.tree.Nodes[id]
		q, ok := r.tree.Quantiles(n)
		if !ok {
			continue
		}
		y := f.Y + float32(i)*pitch
		plots.Add(at(q[0]), y+pitch/2-0.5, max(at(q[4])-at(q[0]), 1), 1, scene.UIData)
		plots.Add(at(q[1]), y+5, max(at(q[3])-at(q[1]), 1), pitch-10, r.colours.Of(&r.tree.Regions[n.Region]))
		plots.Add(at(q[2])-1, y+3, 2, pitch-6, scene.UIText)
	}
	s.AddLayer("box plots", frame, plots)
	s.AddLayer("scale", -1, r.ends(f, low, max(high, low*10)))
}

// ends labels the two ends of the axis of box plots.
func (r *drawing) ends(f *scene.Frame, low, high float64) *scene.Text {
	text := &scene.Text{Size: scene.TextSize}
	a, b := r.format(low), r.format(high)+" per call, log"
	if scene.TextWidth(a, scene.TextSize, false)+scene.TextWidth(b, scene.TextSize, false)+pad < f.W {
		text.Add(f.X, f.Y-6, a, scene.UITextMuted, scene.Start)
		text.Add(f.X+f.W, f.Y-6, b, scene.UITextMuted, scene.End)
	}
	return text
}

func (r *drawing) bars(s *scene.Scene, frame int, shown []int32) {
	f := &s.Frames[frame]
	bars := &scene.Rect{}
	for i, id := range shown {
		n := &r.tree.Nodes[id]
		g := &r.tree.Regions[n.Region]
		y := f.Y + float32(i)*pitch + 3
		whole, own := f.XPixel(max(n.Inclusive, 0))-f.X, f.XPixel(max(n.Exclusive, 0))-f.X
		if f.W <= 0 || whole <= 0 {
			continue
		}
		bars.Add(f.X, y, whole, pitch-6, scene.UIDataSoft)
		if own > 0 {
			bars.Add(f.X, y, min(own, whole), pitch-6, r.colours.Of(g))
		}
	}
	s.AddLayer("bars", frame, bars)
	s.Legend = append(s.Legend, plot.Key("exclusive: the colour of the region", scene.UIData),
		plot.Key("inclusive", scene.UIDataSoft))
}
