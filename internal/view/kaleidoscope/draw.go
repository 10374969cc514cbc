package kaleidoscope

import (
	"context"
	"fmt"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A place is where a node was drawn.
type place struct {
	x, y float64
	node int32
}

// A drawing is the content of the scene drawn last.
type drawing struct {
	size     scene.Size
	places   []place
	families []family
	cx, cy   float64 // of the root
	d        float64 // distance of rings
	band     float64 // width of the children's part of a family
	lit      int
	left     int // nodes that a closer look leaves out for others
	near     *nearest
}

// Scene draws families: a call and its calls as one filled shape, a line where
// there is only one. The shape has the colour of the call; its outer band has
// those of the calls that it made, else a fan of a thousand leaves would hide
// them all.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", "")
	s.AddFrame(scene.Frame{Name: "calls", W: float32(size.Width), H: float32(size.Height)})
	r.lookAgain(size)
	scale := r.zoom.factor * float64(min(size.Width,
		size.Height)) / float64(max(min(r.request.Size.Width, r.request.Size.Height), 1))
	r.drawing = drawing{size: size, d: r.ring * scale}
	r.cx, r.cy = r.zoom.rootAt(size)
	if r.detail != nil {
		r.d = r.sight.Ring
	}
	if !r.paper {
		r.band = bandWidth(r.d)
	}
	r.put(size)
	if r.brush == nil { // of calls in memory, which are never given up
		r.brush, _ = r.painter(context.Background())
	}
	p := r.brush.clean()
	marks := r.draw(p)
	count := 0
	for _, m := range marks {
		count += m.Len()
	}
	if r.isClose() {
		s.AddLayer("grounds", 0, r.drawGrounds())
	}
	s.AddLayer("families", 0, marks...)
	s.Terms = r.terms()
	switch {
	case r.lone():
		s.AddLayer("labels", 0, r.loneLabel())
	case r.isBeyond():
		s.AddLayer("labels", 0, beyondCalls(size))
	case !r.paper:
		s.AddLayer("labels", 0, r.labels()...)
	}
	whole := &scene.Rect{}
	whole.AddAim(0, 0, float32(size.Width), float32(size.Height), s.Place(ofPicture, size.Width, size.Height))
	s.AddLayer("calls", 0, whole)
	s.Legend = p.legend()
	s.Notes = r.Notes()
	s.Description = fmt.Sprintf("Kaleidoscope of %s calls on %d levels, painted by %s; %s of them are drawn, in %s "+
		"marks.",
		view.Thousands(int64(r.forest.calls.Len())), r.height, p.paint, view.Thousands(int64(r.drawnCalls())),
		view.Thousands(int64(count)))
	return s
}

// regionName is the name of a node's region, "" for the root of several trees.
func (r *result) regionName(node int32) string {
	region := r.forest.node(r.node(int(node))).Region
	if region == trace.NoRegion {
		return ""
	}
	return r.request.Store().Regions()[region].Name
}

// drawnCalls counts the calls that are drawn each by itself.
func (r *result) drawnCalls() (n int) {
	for _, p := range r.places {
		if !r.isMerged(int(p.node)) {
			n++
		}
	}
	return n
}

// put finds the places of the nodes that are drawn: those of the arrangement, or
// of a closer look those that it shows.
func (r *result) put(size scene.Size) {
	shown := r.shown
	if r.detail == nil && r.zoom != (zoom{factor: 1}) {
		shown, r.left = choose(r.layout, r.d, newSight(r.cx, r.cy, size))
	}
	for _, i := range shown {
		if r.until < r.forest.end && r.nodeOf(int(i)).Begin > r.until {
			continue
		}
		x, y := r.layout.At(int(i), r.d)
		r.places = append(r.places, place{r.cx + x, r.cy + y, i})
	}
}
