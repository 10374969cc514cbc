package scenetest

import (
	"fmt"
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
)

// Gallery is a picture with title and legend, as views draw them: a timeline with a tree of rows, a
// histogram on a logarithmic axis, curves, a heat map, a legend of all families and notes.
func Gallery() *scene.Scene { return GalleryAt(scene.Size{Width: 960, Height: 640}) }

// GalleryAt is the gallery at any size.
func GalleryAt(size scene.Size) *scene.Scene {
	return scene.AddTitleAndLegend(size, func(size scene.Size) *scene.Scene {
		s := scene.New(size, "Gallery: 64 ranks on 4 hosts, 2.01–2.05 s of 8.52 s",
			"A timeline of 64 ranks above a histogram, three counters and a heat map.")
		s.Legend = legend()
		s.Notes = []string{"Aggregated: 1,024 intervals, loss 0.3 %", "Links: 2,048 of 9,120 drawn",
			"Clock offsets fitted by messages, residual 1.2 µs"}
		lower := float32(size.Height) * 0.52
		timeline(s, 0, 12, float32(size.Width)-16, lower-36)
		third := float32(size.Width-48) / 3
		bottom := float32(size.Height)
		histogram(s, 12, lower+24, third, bottom-lower-24-24)
		curves(s, 24+third, lower+24, third, bottom-lower-24-24)
		heatmap(s, 36+2*third, lower+24, third, bottom-lower-24-24)
		return s
	})
}

func legend() (entries []scene.LegendEntry) {
	for i, n := range []string{"compute", "communication", "synchronization", "idle", "I/O", "copy", "overhead",
		"annotation"} {
		entries = append(entries,
			scene.LegendEntry{Label: n, Colour: scene.RoleColour(uint8(i + 1)), Region: scene.NoID, Parent: scene.NoID})
	}
	entries = append(entries,
		scene.LegendEntry{Label: "aggregated", Colour: scene.UIAggregate, Flags: scene.Aggregated})
	ramp, diverging := scene.RampSection("viridis"), scene.RampSection("diverging")
	return append(entries,
		scene.LegendEntry{Label: "busy share", Colour: ramp.At(0), RampEnd: ramp.At(255), RampLow: "0 %",
			RampHigh: "100 %"},
		scene.LegendEntry{Label: "run B − run A", Colour: diverging.At(0), RampEnd: diverging.At(255),
			RampLow: "B faster", RampHigh: "B slower"},
	)
}

// noise is a number from 0 to 1 that depends on its arguments alone.
func noise(a, b int) float64 {
	h := uint32(a)*2654435761 ^ uint32(b)*2246822519
	h ^= h >> 15
	h *= 2246822519
	h ^= h >> 13
	return float64(h&0xFFFF) / 0xFFFF
}

func timelineRows(y, h float32) (rows []scene.Row) {
	add := func(r scene.Row) { rows = append(rows, r) }
	for host := range 4 {
		open := host == 0
		add(scene.Row{Label: fmt.Sprintf("graphene-%d.nancy.grid5000.fr", host+1), Level: 0, Open: open, Folded: !open,
			Count: 16})
		for rank := range 8 {
			if open {
				add(scene.Row{Label: fmt.Sprintf("rank %d", rank), Level: 1, Count: 1})
			}
		}
	}
	each := h / float32(len(rows))
	for i := range rows {
		rows[i].From, rows[i].To = y+float32(i)*each, y+float32(i+1)*each
	}
	return rows
}

func timeline(s *scene.Scene, left, y, w, h float32) {
	rows := timelineRows(y, h)
	labels := scene.RowLabelWidth(rows, min(180, w/3))
	frame := scene.Frame{Name: "timeline", X: left + labels + 8, Y: y, W: w - labels - 8, H: h}
	frame.XScale = scene.Scale{Kind: "time", Begin: 2.01230e9, End: 2.01272e9}
	frame.YScale = scene.Scale{Kind: "rows", Rows: rows}
	f := s.AddFrame(frame)
	s.XAxis(f, scene.Axis{})
	s.RowLabels(f, left+8)
	m, text := &scene.Rect{}, &scene.Text{Size: 11}
	var colours scene.Giver
	for i, r := range rows {
		x := frame.X
		for k := 0; x < frame.X+frame.W; k++ {
			names := []string{"solve", "MPI_Send", "MPI_Recv", "MPI_Wait", "exchange_halo", "idle", "MPI_Allreduce",
				"write_netcdf", "cudaMemcpy", "lock"}
			roles := []uint8{1, 2, 2, 2, 1, 4, 2, 5, 6, 3}
			n := int(noise(i, k) * 9.99)
			width := float32(4 + 60*noise(k, i+7))
			fill := colours.Give(names[n], roles[n], nil)
			m.Add(x, r.From+1, width, r.To-r.From-2, fill)
			if r.Folded {
				m.SetFlags(scene.Aggregated)
				m.SetCount(16)
			}
			flags := scene.Flag(0)
			if k%11 == 7 && !r.Folded {
				flags = scene.Dimmed
				m.SetFlags(flags)
			}
			if label := scene.Shorten(names[n], width-8, 11); label != "" && !r.Folded && r.To-r.From >= 14 {
				text.Add(x+4, (r.From+r.To)/2+4, label, scene.InkFor(fill, flags), scene.Start)
			}
			x += width
		}
	}
	s.AddLayer("intervals", f, m, text)
	s.AddLayer("links", f, links(frame, rows))
	selection(s, f, frame.X+260, frame.Y, 96, frame.H)
}

func links(f scene.Frame, rows []scene.Row) *scene.Line {
	m := &scene.Line{Width: 1}
	for k := range 14 {
		from, to := rows[1+k%8], rows[1+(k*3+2)%8]
		x := f.X + f.W*float32(noise(k, 3))
		m.Add(x, (from.From+from.To)/2, x+30+40*float32(noise(k, 5)), (to.From+to.To)/2, scene.UILink)
		m.SetFlags(scene.Arrow)
	}
	return m
}

func selection(s *scene.Scene, f int, x, y, w, h float32) {
	area, edges := &scene.Rect{}, &scene.Line{Width: 1}
	area.Add(x, y, w, h, scene.UISelection)
	edges.Add(x, y, x, y+h, scene.UISelectionEdge)
	edges.Add(x+w, y, x+w, y+h, scene.UISelectionEdge)
	s.AddLayer("selection", f, area, edges)
}

func histogram(s *scene.Scene, x, y, w, h float32) {
	axis := scene.Axis{Unit: "ns"}
	frame := scene.Frame{
		Name: "histogram", Y: y, H: h,
		XScale: scene.Scale{Kind: "log", Begin: 300, End: 4e8, Label: "duration"},
		YScale: scene.Scale{Kind: "linear", Begin: 0, End: 46000, Label: "calls of MPI_Wait"},
	}
	left := scene.YAxisWidth(frame.YScale, h, scene.Axis{Unit: "count"})
	frame.X, frame.W = x+left, w-left
	f := s.AddFrame(frame)
	s.XAxis(f, scene.Axis{Unit: axis.Unit, NoGrid: true})
	s.YAxis(f, scene.Axis{Unit: "count"})
	m := &scene.Rect{}
	for i := range 30 {
		u := (float64(i) - 11) / 5
		v := 43000*math.Exp(-u*u) + 9000*math.Exp(-(u-2.4)*(u-2.4)*4)
		x0, x1 := frame.X+frame.W*float32(i)/30, frame.X+frame.W*float32(i+1)/30
		m.Add(x0+1, frame.YPixel(v), x1-x0-1, frame.Y+frame.H-frame.YPixel(v), scene.UIData)
	}
	s.AddLayer("bars", f, m)
}

func curves(s *scene.Scene, x, y, w, h float32) {
	frame := scene.Frame{
		Name: "curves", Y: y, H: h,
		XScale: scene.Scale{Kind: "time", Begin: 0, End: 8.52e9},
		YScale: scene.Scale{Kind: "linear", Begin: 0, End: 3.2 * (1 << 30), Label: "resident memory"},
	}
	axis := scene.Axis{Unit: "bytes"}
	left := scene.YAxisWidth(frame.YScale, h, axis)
	frame.X, frame.W = x+left, w-left
	f := s.AddFrame(frame)
	s.XAxis(f, scene.Axis{})
	s.YAxis(f, axis)
	m, ends := &scene.Path{Width: 1.5}, &scene.Point{}
	for k := range 3 {
		var xs, ys []float32
		for i := range 121 {
			u := float64(i) / 120
			xs = append(xs, frame.X+frame.W*float32(u))
			ys = append(ys, frame.YPixel((0.4+float64(k)*0.8+0.5*u+0.3*math.Sin(u*12+float64(k)))*(1<<30)))
		}
		m.Add(xs, ys, scene.LocationColour(k))
		ends.Add(xs[100], ys[100], 3, scene.LocationColour(k))
		ends.SetShape(scene.Shape(k))
	}
	s.AddLayer("curves", f, m, ends)
}

func heatmap(s *scene.Scene, x, y, w, h float32) {
	axis := scene.Axis{}
	frame := scene.Frame{
		Name: "heat", Y: y, H: h,
		XScale: scene.Scale{Kind: "time", Begin: 0, End: 8.52e9},
		YScale: scene.Scale{Kind: "linear", Begin: 0, End: 64, Label: "busy share by rank"},
	}
	left := scene.YAxisWidth(frame.YScale, h, axis)
	frame.X, frame.W = x+left, w-left
	f := s.AddFrame(frame)
	s.XAxis(f, scene.Axis{NoGrid: true})
	s.YAxis(f, scene.Axis{NoGrid: true})
	m := &scene.Image{X: frame.X, Y: frame.Y, W: frame.W, H: frame.H, Columns: 80, Rows: 64}
	for r := range m.Rows {
		for c := range m.Columns {
			u := 0.5 + 0.4*math.Sin(float64(c)/9+float64(r)/20)*math.Cos(float64(r)/7) + 0.1*noise(r, c)
			m.Cells = append(m.Cells, scene.Ramp("viridis", u))
		}
	}
	s.AddLayer("cells", f, m)
}
