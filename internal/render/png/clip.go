package png

import "image"

// within cuts an outline that reaches far beyond a box to the box and a margin; its filling inside the box stays the
// same. The rasteriser visits pixels outside as well, and corners may be a million pixels away.
func (o outline) within(box image.Rectangle) outline {
	if bounds := o.bounds(); bounds.In(box.Inset(-256)) {
		return o
	}
	x0, y0 := float32(box.Min.X-8), float32(box.Min.Y-8)
	x1, y1 := float32(box.Max.X+8), float32(box.Max.Y+8)
	o = o.cut(0, x0, 1)
	o = o.cut(0, x1, -1)
	o = o.cut(1, y0, 1)
	return o.cut(1, y1, -1)
}

// cut keeps the part on one side of an axis-parallel line (Sutherland and Hodgman).
func (o outline) cut(axis int, at, side float32) outline {
	var out outline
	for i, p := range o {
		q := o[(i+1)%len(o)]
		inP, inQ := (p[axis]-at)*side >= 0, (q[axis]-at)*side >= 0
		if inP {
			out = append(out, p)
		}
		if inP != inQ {
			t := (at - p[axis]) / (q[axis] - p[axis])
			cross := [2]float32{p[0] + (q[0]-p[0])*t, p[1] + (q[1]-p[1])*t}
			cross[axis] = at
			out = append(out, cross)
		}
	}
	return out
}
