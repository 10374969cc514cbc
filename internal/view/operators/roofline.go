package operators

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/view"
)

// roofline draws operators by intensity and rate, under the limits of the device.
func (r *result) roofline(s *scene.Scene) {
	w, h := float32(s.Width), float32(s.Height)
	var rows []int
	low, high, least, most := math.Inf(1), 0.0, math.Inf(1), 0.0
	for i := range r.table.Rows {
		x := &r.table.Rows[i]
		if a, b := x.Intensity(), x.Rate(); a > 0 && b > 0 {
			rows = append(rows, i)
			low, high, least, most = min(low, a), max(high, a), min(least, b), max(most, b)
		}
	}
	if len(rows) == 0 {
		text := &scene.Text{Size: scene.TextSize}
		text.Add(w/2, h/2,
			scene.Shorten("of no operator are shapes, types and GPU time known", w-2*edge, scene.TextSize),
			scene.UITextMuted, scene.Middle)
		s.AddLayer("empty", -1, text)
		return
	}
	if p := r.peak; p != nil {
		most, high, low = max(most, p.Half), max(high, p.Half/p.Memory*2), min(low, 1)
	}
	f := scene.Frame{Name: "roofline", Y: topRoom,
		XScale: scene.Scale{Kind: "log", Begin: low / 2, End: high * 2, Label: "FLOP / byte"},
		YScale: scene.Scale{Kind: "log", Begin: least / 2, End: most * 2, Label: "FLOP/s"}}
	f.H = max(h-topRoom-scene.AxisHeight-4, 1)
	f.X = scene.YAxisWidth(f.YScale, f.H, scene.Axis{})
	f.W = max(w-f.X-edge, 1)
	frame := s.AddFrame(f)
	s.YAxis(frame, scene.Axis{})
	s.XAxis(frame, scene.Axis{})
	if p := r.peak; p != nil {
		lines, text := &scene.Line{Width: 1.5}, &scene.Text{Size: scene.TextSize}
		roof := func(peak float64, name string) {
			ridge := peak / p.Memory
			begin := max(low/2, least/2/p.Memory)
			if peak > most*2 || peak < least/2 || ridge <= begin || ridge >= high*2 {
				return
			}
			y := f.YPixel(peak)
			lines.Add(f.XPixel(ridge), y, f.X+f.W, y, scene.UIAxis)
			lines.Add(f.XPixel(begin), f.YPixel(begin*p.Memory), f.XPixel(ridge), y, scene.UIAxis)
			text.Add(f.X+f.W-4, y-4, scene.Shorten(name+" "+rate(peak, "FLOP/s"), f.W/2, scene.TextSize),
				scene.UITextMuted, scene.End)
		}
		roof(p.Half, "half precision")
		if p.Half/p.Single > 3 {
			roof(p.Single, "single precision")
		}
		s.AddLayer("roof", frame, lines, text)
	}
	longest := 1.0
	for _, i := range rows {
		longest = max(longest, float64(r.table.Rows[i].Device))
	}
	told := map[string]bool{}
	marks, names := &scene.Point{}, &scene.Text{Size: scene.TextSize}
	for _, i := range rows {
		x := &r.table.Rows[i]
		marks.Add(f.XPixel(x.Intensity()), f.YPixel(x.Rate()), float32(3+9*math.Sqrt(float64(x.Device)/longest)),
			r.colours.Of(&r.regions[x.Region]))
		marks.SetItem(s.Item(ofOperator, i))
		if !told[x.Name] && len(told) < 8 {
			told[x.Name] = true
			s.Legend = append(s.Legend, plot.RegionKey(x.Name, r.colours.Of(&r.regions[x.Region]), uint32(x.Region)))
		}
	}
	s.AddLayer("operators", frame, marks)
	head := fmt.Sprintf("%s with shapes; the larger, the more GPU time", view.Count(len(rows), "operator"))
	names.Add(f.X, f.Y-7, scene.Shorten(head, f.W, scene.TextSize), scene.UITextMuted, scene.Start)
	s.AddLayer("names", -1, names)
}
