package timeline

import (
	"math"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// drawLinks draws arrows, cut at the window's edges, and bursts.
func drawLinks(s *scene.Scene, d *drawing, links *linkSet) {
	lines := &scene.Line{Width: 1}
	for i := range links.arrows {
		l := &links.arrows[i]
		x0, y0, x1, y1, head, ok := d.clipLink(l)
		if !ok {
			continue
		}
		lines.Add(x0, y0, x1, y1, scene.UILink)
		if head {
			lines.SetFlags(scene.Arrow)
		}
		lines.SetItem(s.Item(ofLink, i))
	}
	points, aims := &scene.Point{}, &scene.Rect{}
	for i := range links.bursts {
		b := &links.bursts[i]
		at := d.rows[b.peak.row]
		x, y := d.x(min(max(b.peak.time, d.begin), d.end)), middle(at)
		radius := burstRadius(b.count, at)
		points.Add(x, y, radius, scene.UILink)
		points.SetShape(scene.Burst)
		points.SetCount(uint32(min(b.count, math.MaxUint32)))
		reach := radius + near
		aims.AddAim(x-reach, y-reach, 2*reach, 2*reach, s.Item(ofBurst, i))
	}
	s.AddLayer("links", 0, lines, points, aims)
}

// burstRadius grows with the logarithm of the count, as far as the row allows.
func burstRadius(count int64, b band) float32 {
	radius := 2.5 + float32(math.Log10(float64(count)))
	return max(1.5, min(radius, (b.to-b.from)/2))
}

// clipLink cuts an arrow to the window; its head goes where its end is outside.
func (d *drawing) clipLink(l *link) (x0, y0, x1, y1 float32, head, ok bool) {
	from, to := middle(d.rows[l.fromRow]), middle(d.rows[l.toRow])
	begin, end := d.begin, d.end
	if max(l.fromTime, l.toTime) < begin || min(l.fromTime, l.toTime) > end {
		return 0, 0, 0, 0, false, false
	}
	y := func(t trace.Time) float32 {
		return from + (to-from)*float32(float64(t-l.fromTime)/float64(l.toTime-l.fromTime))
	}
	t0, t1 := min(max(l.fromTime, begin), end), min(max(l.toTime, begin), end)
	x0, x1 = d.x(t0), d.x(t1)
	y0, y1 = from, to
	if t0 != l.fromTime {
		y0 = y(t0)
	}
	if t1 != l.toTime {
		y1 = y(t1)
	}
	return x0, y0, x1, y1, t1 == l.toTime, true
}

func middle(b band) float32 { return (b.from + b.to) / 2 }
