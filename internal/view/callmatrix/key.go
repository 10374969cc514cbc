package callmatrix

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/view"
)

const (
	keySide = 120
	keyGap  = 40
	keyRoom = keyGap + keySide + 170 // with the names of rings
	// mostSpokes is how many slices the key draws one by one.
	mostSpokes = 32
)

// keyNames name the rings, from the centre outwards.
var keyNames = [5]string{"2 %, innermost", "25 %", "median", "75 %", "98 % of the calls"}

// stripeNames are those of stripes, from the bottom up.
var stripeNames = [5]string{"2 %", "25 %", "median", "75 %", "98 % of the calls"}

// direction describes how locations follow each other in a square.
func (r *result) direction() string {
	if r.striped() {
		return "from left to right"
	}
	return "clockwise from the top-left"
}

// rowScaleRoom is for the run of colours of each row, with its ends.
const rowScaleRoom = 190

// drawRowScales draws the run of colours of each row next to it.
func drawRowScales(s *scene.Scene, d *drawing, rows []*colours, format func(float64) string) {
	f := &s.Frames[0]
	x := f.X + f.W + 16
	if float32(s.Width)-f.X-f.W < rowScaleRoom || d.size < 13 {
		return
	}
	const width, steps = 48, 24
	ramps, text := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	for k, c := range rows {
		middle := d.y + (float32(k)+0.5)*d.size
		low, high := c.ends(format)
		text.Add(x+52, middle+4, low, scene.UITextMuted, scene.End)
		for i := range steps {
			ramps.Add(x+58+float32(i)*width/steps, middle-4, width/steps, 8, scene.Ramp(c.ramp, float64(i)/(steps-1)))
		}
		text.Add(x+58+width+6, middle+4, high, scene.UITextMuted, scene.Start)
	}
	s.AddLayer("row scales", -1, ramps, text)
}

// drawRim draws the groups of n slices around the key, in their colours.
func (r *result) drawRim(s *scene.Scene, n int, x, y float32) {
	const out, steps = 1.05, 64
	lines := &scene.Line{Width: 3}
	at := func(share float64) (float32, float32) {
		p := callgraph.Perimeter(4 * share).Shrink(out)
		return x + float32(p.X)*keySide, y + float32(p.Y)*keySide
	}
	for k := range steps {
		slice := k * n / steps
		x0, y0 := at(float64(k) / steps)
		x1, y1 := at(float64(k+1) / steps)
		lines.Add(x0, y0, x1, y1, view.GroupColour(r.Arrangement().Group(r.locations[slice])))
	}
	s.AddLayer("groups of the key", -1, lines)
}

// drawKey draws a square with its parts named, where the matrix leaves room next to it.
func (r *result) drawKey(s *scene.Scene, in *inside) {
	f := &s.Frames[0]
	x, y := f.X+f.W+keyGap, f.Y+20
	if float32(s.Width)-f.X-f.W < keyRoom || y+keySide+60 > float32(s.Height) {
		return
	}
	rings, lines, leaders, text := &scene.Rect{}, &scene.Line{Width: 1}, &scene.Line{Width: 1},
		&scene.Text{Size: scene.TextSize}
	text.Add(x, y-8, "a square", scene.UIText, scene.Start)
	for ring := 4; ring >= 0; ring-- {
		if r.striped() {
			from, to := callgraph.Stripe(ring)
			at, high := y+keySide*float32(1-to), keySide*float32(to-from)
			rings.Add(x, at, keySide, high, scene.Ramp(in.scale.ramp, 0.1+0.8*float64(ring)/4))
			line := y + keySide/2 + float32(2-ring)*18
			leaders.Add(x+keySide, at+high/2, x+keySide+14, line, scene.UIText)
			text.Add(x+keySide+18, line+4, stripeNames[ring], scene.UITextMuted, scene.Start)
			continue
		}
		side := float32(keySide * callgraph.RingScale(ring+1))
		at := (keySide - side) / 2
		rings.Add(x+at, y+at, side, side, scene.Ramp(in.scale.ramp, 0.1+0.8*float64(ring)/4))
		// From the middle of the ring, on the level of the centre, to its name.
		inner := float32(keySide * callgraph.RingScale(ring))
		from := x + keySide/2 + (side+inner)/4
		line := y + keySide/2 + float32(2-ring)*18
		leaders.Add(from, y+keySide/2, x+keySide+14, line, scene.UIText)
		text.Add(x+keySide+18, line+4, keyNames[ring], scene.UITextMuted, scene.Start)
	}
	if n := in.slices; n > 1 {
		for k := 1; k < n && n <= mostSpokes && r.striped(); k++ {
			at := x + keySide*float32(k)/float32(n)
			lines.Add(at, y, at, y+keySide, scene.UIBackground)
		}
		for k := 0; k < n && n <= mostSpokes && !r.striped(); k++ {
			p := callgraph.Perimeter(4 * float64(k) / float64(n))
			lines.Add(x+keySide/2, y+keySide/2, x+float32(p.X)*keySide, y+float32(p.Y)*keySide, scene.UIBackground)
		}
		if r.Arrangement() != nil && r.groupRows == nil && !r.striped() {
			r.drawRim(s, n, x, y)
		}
		what := "location"
		switch {
		case r.blocks != nil:
			what = "block"
		case r.groupRows != nil:
			what = "group"
		}
		text.Add(x, y+keySide+18, fmt.Sprintf("%s %s", view.Count(n, what), r.direction()), scene.UITextMuted,
			scene.Start)
	}
	s.AddLayer("key", -1, rings, lines, leaders, text)
}
