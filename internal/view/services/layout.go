package services

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/scene/plot"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// Item kinds: a service, several of them in a column, an edge, the edges between two boxes.
const (
	ofService = iota + 1
	ofServices
	ofEdge
	ofEdges
)

const (
	edge      = 6
	mostWires = 400 // more are too dense to follow
	manyFail  = 0.05
	steps     = 10 // of a curve
	stub      = 9  // straight into a box, with the arrow's head
	// fewRequests are counted, more have a rate.
	fewRequests = 20
)

// Scene draws the graph, callers on the left.
func (r *result) Scene(size scene.Size) *scene.Scene {
	s := scene.New(size, "", r.describe())
	w, h := float32(size.Width)-2*edge, float32(size.Height)-2*edge
	if w < 1 || h < 1 {
		return s
	}
	p := r.plan(w, h, r.request.Values.Integer("top"))
	p.toTop()
	for i := range p.boxes {
		p.boxes[i].x += edge
		p.boxes[i].y += edge
	}
	drawn := r.mostCalled(p)
	lines := [3]*scene.Line{{Width: 1}, {Width: 2}, {Width: 3.5}}
	behind, words := &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	taken := &space{}
	for i := range p.boxes {
		if b := &p.boxes[i]; len(b.services) > 0 {
			taken.take(b.x, b.y, b.w, b.h)
		}
	}
	ports := p.ports(drawn)
	most := int64(1)
	for _, k := range drawn {
		most = max(most, r.sum(p.wires[k].edges).calls)
	}
	for _, k := range drawn {
		r.drawWire(s, p, k, ports[k], lines[r.wideness(r.sum(p.wires[k].edges).calls, most)], behind, words, taken)
	}
	boxes, strips, names := &scene.Rect{}, &scene.Rect{}, &scene.Text{Size: scene.TextSize}
	for i := range p.boxes {
		if len(p.boxes[i].services) > 0 {
			r.drawBox(s, p, i, boxes, strips, names)
		}
	}
	s.AddLayer("arrows", -1, lines[0], lines[1], lines[2])
	s.AddLayer("numbers", -1, behind, words)
	s.AddLayer("boxes", -1, boxes, strips)
	s.AddLayer("names", -1, names)
	s.Notes = append(r.Notes(), r.left(p, drawn)...)
	r.legend(s)
	return s
}

// toTop leaves no more room above the boxes than arrows need that go back.
func (p *plan) toTop() {
	const back = 70
	if len(p.boxes) == 0 {
		return
	}
	top := p.boxes[0].y
	for i := range p.boxes {
		top = min(top, p.boxes[i].y)
	}
	for i := range p.boxes {
		p.boxes[i].y -= max(top-back, 0)
	}
}

func (r *result) describe() string {
	return fmt.Sprintf("%s and %s between them, in %s.", view.Count(len(r.services), "service"),
		view.Count(r.between(), "edge"), view.Count(r.graph.Requests, "request"))
}

// between counts edges that do not come from outside.
func (r *result) between() (n int) {
	for i := range r.edges {
		if r.edges[i].by != trace.NoLocation {
			n++
		}
	}
	return n
}

// left lists the services and edges that the picture does not show one by one.
func (r *result) left(p *plan, drawn []int) (out []string) {
	if p.folded > 0 {
		out = append(out,
			fmt.Sprintf("%s of %s are drawn with others of their column", view.Thousands(int64(p.folded)),
				view.Count(len(r.services), "service")))
	}
	if n := len(p.wires) - len(drawn); n > 0 {
		out = append(out, fmt.Sprintf("%s with the fewest calls are left out of the picture", view.Count(n, "arrow")))
	}
	return out
}

// mostCalled are the wires that are drawn, in their order.
func (r *result) mostCalled(p *plan) []int {
	order := make([]int, len(p.wires))
	for i := range order {
		order[i] = i
	}
	if len(order) > mostWires {
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(r.sum(p.wires[b].edges).calls, r.sum(p.wires[a].edges).calls)
		})
		order = order[:mostWires]
		slices.Sort(order)
	}
	return order
}

type sums struct{ calls, errors, apart int64 }

func (r *result) sum(edges []int) (t sums) {
	for _, i := range edges {
		x := &r.edges[i]
		t.calls += x.Calls
		t.errors += x.Errors
		t.apart += x.Apart
	}
	return t
}

// failing is the colour of calls of which some fail.
func failing(errors, calls int64, none scene.Colour) scene.Colour {
	switch {
	case errors == 0:
		return none
	case float64(errors) >= manyFail*float64(calls):
		return scene.UIError
	}
	return scene.UIWarning
}

func (r *result) wideness(calls, most int64) int {
	switch {
	case 10*calls >= 3*most:
		return 2
	case 100*calls >= 3*most:
		return 1
	}
	return 0
}

// ports are where wires leave and reach their boxes: spread over the side, in the order of the other ends.
func (p *plan) ports(drawn []int) map[int][2]float32 {
	out := map[int][2]float32{}
	for end := range 2 {
		at := map[int][]int{}
		for _, k := range drawn {
			way := p.wires[k].way
			b := way[0]
			if end == 1 {
				b = way[len(way)-1]
			}
			at[b] = append(at[b], k)
		}
		for b, list := range at {
			other := func(k int) float32 {
				way := p.wires[k].way
				o := way[1]
				if end == 1 {
					o = way[len(way)-2]
				}
				return p.boxes[o].y + p.boxes[o].h/2
			}
			slices.SortStableFunc(list, func(x, y int) int { return cmp.Compare(other(x), other(y)) })
			for i, k := range list {
				y := out[k]
				y[end] = p.boxes[b].y + p.boxes[b].h*(float32(i)+0.5)/float32(len(list))
				out[k] = y
			}
		}
	}
	return out
}

// drawWire draws one arrow: curves from box to box, and a straight end.
func (r *result) drawWire(s *scene.Scene, p *plan, k int, ports [2]float32, lines *scene.Line, behind *scene.Rect,
	words *scene.Text, taken *space) {
	x := &p.wires[k]
	t := r.sum(x.edges)
	colour := failing(t.errors, t.calls, scene.UILink)
	item := s.Item(ofEdge, x.edges[0])
	if n := len(x.edges); n > 1 {
		item = s.Item(ofEdges, x.edges[0], x.edges[n-1], n)
	}
	flags := scene.Flag(0)
	if 2*t.apart > t.calls {
		flags = scene.Dashed
	}
	add := func(x0, y0, x1, y1 float32, f scene.Flag) {
		lines.Add(x0, y0, x1, y1, colour)
		lines.SetFlags(flags | f)
		lines.SetItem(item)
	}
	atX, atY := float32(0), float32(0)
	var track [][2]float32
	curve := func(x1, y1, x2, y2, x3, y3 float32) {
		x0, y0 := atX, atY
		track = track[:0]
		for i := 1; i <= steps; i++ {
			u := float32(i) / steps
			v := 1 - u
			a, b, c, d := v*v*v, 3*u*v*v, 3*u*u*v, u*u*u
			nx, ny := a*x0+b*x1+c*x2+d*x3, a*y0+b*y1+c*y2+d*y3
			add(atX, atY, nx, ny, 0)
			atX, atY = nx, ny
			track = append(track, [2]float32{nx, ny})
		}
	}
	a, b := &p.boxes[x.way[0]], &p.boxes[x.way[len(x.way)-1]]
	switch {
	case x.back: // over the top, from right to left
		atX, atY = a.x+a.w*0.3, a.y
		toX := b.x + b.w*0.7
		lift := max(min(18+(atX-toX)*0.1, min(a.y, b.y)-3), stub+1)
		curve(atX, atY-lift, toX, b.y-lift, toX, b.y-stub)
		add(atX, atY, toX, b.y, scene.Arrow)
	case x.beside: // round the right
		atX, atY = a.x+a.w, ports[0]
		out := min(max(a.w*0.25, 16), 40)
		curve(atX+out, atY, b.x+b.w+out+stub, ports[1], b.x+b.w+stub, ports[1])
		add(atX, atY, b.x+b.w, ports[1], scene.Arrow)
	default:
		atX, atY = a.x+a.w, ports[0]
		for _, via := range x.way[1 : len(x.way)-1] {
			o := &p.boxes[via]
			y, half := o.y+o.h/2, (o.x-atX)/2
			curve(atX+half, atY, o.x-half, y, o.x, y)
			add(atX, atY, o.x+o.w, y, 0)
			atX, atY = o.x+o.w, y
		}
		half := (b.x - stub - atX) / 2
		curve(atX+half, atY, b.x-stub-half, ports[1], b.x-stub, ports[1])
		add(atX, atY, b.x, ports[1], scene.Arrow)
	}
	r.drawWords(s, track, r.onArrow(x.edges, t), behind, words, taken)
}

// drawWords puts the numbers of an arrow on it, near the callee, where nothing else is.
func (r *result) drawWords(s *scene.Scene, track [][2]float32, text string, behind *scene.Rect, words *scene.Text,
	taken *space) {
	const high = scene.TextSize + 2
	wide := scene.TextWidth(text, scene.TextSize, false) + 6
	if first, last := track[0][0], track[len(track)-1][0]; wide > max(first-last, last-first)*1.1 {
		return // it would hide the arrow
	}
	for _, k := range []int{steps * 6 / 10, steps / 2, steps * 7 / 10, steps * 4 / 10, steps * 3 / 10} {
		x, y := track[k][0]-wide/2, track[k][1]-high/2
		if x < 0 || x+wide > float32(s.Width) || y < 0 || y+high > float32(s.Height) || !taken.free(x, y, wide, high) {
			continue
		}
		taken.take(x, y, wide, high)
		behind.Add(x, y, wide, high, scene.UIBackground)
		words.Add(track[k][0], track[k][1]+scene.TextSize*0.36, text, scene.UITextMuted, scene.Middle)
		return
	}
}

// onArrow returns the text on an arrow: for several edges only how often.
func (r *result) onArrow(edges []int, t sums) string {
	if len(edges) > 1 {
		return r.often(t.calls)
	}
	text := r.often(t.calls)
	if long := r.edges[edges[0]].long(); long != "" {
		text += ", " + long
	}
	return text
}

// percentiles are those of durations.
var percentiles = []struct {
	q    float64
	name string
}{{0.5, "p50"}, {0.95, "p95"}, {0.99, "p99"}}

// long describes how long calls take: by the highest percentile up to p95 that so many can tell, of fewer from
// the shortest to the longest.
func (x *Row) long() string {
	least, most := view.FormatTime(x.Min), view.FormatTime(x.Max)
	switch n := int(x.Calls); {
	case request.Enough(n, 0.95):
		return "p95 " + view.FormatDuration(x.P95)
	case request.Enough(n, 0.5):
		return "p50 " + view.FormatDuration(x.P50)
	case n == 0 || x.Max == 0 && x.P99 > 0: // unknown in data that an earlier version kept
		return ""
	case least == most:
		return most
	}
	number, unit, _ := strings.Cut(least, " ")
	if strings.HasSuffix(most, " "+unit) {
		least = number
	}
	return least + "–" + most
}

// often describes how often: of a few requests by counting, since a rate over their time means little.
func (r *result) often(calls int64) string {
	if r.graph.Requests < fewRequests {
		return view.Count(int(calls), "call")
	}
	x := float64(calls) / r.seconds()
	switch {
	case x >= 0.995:
		return view.FormatCount(x) + "/s"
	case x*60 >= 0.995:
		return view.FormatCount(x*60) + "/min"
	}
	return view.FormatCount(x*3600) + "/h"
}

// drawBox draws a service: its colour, its name and as many numbers as there is room for.
func (r *result) drawBox(s *scene.Scene, p *plan, i int, boxes, strips *scene.Rect, names *scene.Text) {
	b := &p.boxes[i]
	x := &r.services[b.services[0]]
	many := len(b.services)
	colour, item := r.colours.Service(x.At), s.Item(ofService, b.services[0])
	name, second := x.Service, []string{r.often(x.Calls)}
	if long := x.long(); long != "" {
		second = append(second, long)
	}
	errors, calls := x.Errors, x.Calls
	if many > 1 {
		colour, item = scene.UIAggregate, s.Item(ofServices, b.services[0], b.services[many-1], many)
		name, calls, errors = fmt.Sprintf("%s services", view.Thousands(int64(many))), 0, 0
		for _, k := range b.services {
			calls += r.services[k].Calls
			errors += r.services[k].Errors
		}
		second = second[:1]
		second[0] = r.often(calls)
	}
	boxes.Add(b.x, b.y, b.w, b.h, scene.UISurface)
	boxes.SetItem(item)
	boxes.SetFlags(scene.Outlined)
	if many > 1 {
		boxes.SetFlags(scene.Outlined | scene.Aggregated)
		boxes.SetCount(uint32(many))
	}
	strips.Add(b.x, b.y, min(5, b.w/4), b.h, colour)
	if errors > 0 {
		strips.Add(b.x+b.w-min(4, b.w/4), b.y, min(4, b.w/4), b.h, failing(errors, calls, scene.UIError))
	}
	left, room := b.x+min(5, b.w/4)+4, b.w-12
	if t := strings.Join(second, ", "); scene.TextWidth(t, scene.TextSize, false) <= room {
		second = []string{t}
	}
	if many == 1 {
		name = r.short(name, room)
	}
	lines := []string{name, second[0]}
	switch {
	case errors == 0:
	case errors == calls:
		lines = append(lines, "all fail")
	default:
		lines = append(lines, view.FormatShare(float64(errors)/float64(max(calls, 1)))+" fail")
	}
	lines = append(lines, second[1:]...)
	const pitch = scene.TextSize + 2
	n := min(len(lines), int((b.h-2)/pitch))
	if n == 0 && b.h >= scene.TextSize-2 {
		n = 1
	}
	y := b.y + (b.h-float32(n)*pitch)/2 + scene.TextSize - 1
	for k, text := range lines[:n] {
		fill := scene.UIText
		if k > 0 {
			fill = scene.UITextMuted
		}
		if text = scene.Shorten(text, room, scene.TextSize); text != "" &&
			(k == 0 || scene.TextWidth(lines[k], scene.TextSize, false) <= room) {
			names.Add(left, y+float32(k)*pitch, text, fill, scene.Start)
		}
	}
}

// short leaves out the last word of a name that has no room, where most services share it: of "user-service" and
// "media-service" the first halves tell which is which.
func (r *result) short(name string, room float32) string {
	if scene.TextWidth(name, scene.TextSize, false) <= room {
		return name
	}
	at := strings.LastIndexAny(name, "-_. ")
	if at <= 0 {
		return name
	}
	sharing := 0
	for i := range r.services {
		if strings.HasSuffix(r.services[i].Service, name[at:]) {
			sharing++
		}
	}
	if 2*sharing < len(r.services) || sharing < 2 {
		return name
	}
	return name[:at]
}

func (r *result) legend(s *scene.Scene) {
	add := func(label string, c scene.Colour) {
		s.Legend = append(s.Legend, plot.Key(label, c))
	}
	some, many, apart := false, false, false
	for i := range r.edges {
		x := &r.edges[i]
		c := failing(x.Errors, x.Calls, scene.UILink)
		some, many, apart = some || c == scene.UIWarning, many || c == scene.UIError, apart ||
			x.by != trace.NoLocation && 2*x.Apart > x.Calls
	}
	add("→ from caller to callee", scene.UILink)
	if some {
		add("some fail", scene.UIWarning)
	}
	if many {
		add(fmt.Sprintf("%s or more fail", view.FormatShare(manyFail)), scene.UIError)
	}
	if apart {
		add("dashed: no caller waits", scene.UILink)
	}
}

// A space records where something is drawn.
type space struct{ taken [][4]float32 }

func (t *space) take(x, y, w, h float32) { t.taken = append(t.taken, [4]float32{x, y, x + w, y + h}) }

func (t *space) free(x, y, w, h float32) bool {
	return !slices.ContainsFunc(t.taken,
		func(o [4]float32) bool { return x < o[2] && o[0] < x+w && y < o[3] && o[1] < y+h })
}

// Fact returns the facts of services and edges.
func (r *result) Fact(it scene.Item) (view.Fact, bool) {
	a, b, n := int(it.A), int(it.B), int(it.C)
	switch {
	case it.Of == ofService && a < len(r.services):
		x := &r.services[a]
		f := view.Fact{Title: x.Service, Locations: []trace.LocationID{x.At}}
		r.say(&f, x)
		f.SayCount("calls, its own too", *x.Spans)
		f.SayTime("self", *x.Self)
		return f, true
	case it.Of == ofEdge && a < len(r.edges):
		x := &r.edges[a]
		f := view.Fact{Title: r.caller(x) + " → " + x.Service, Locations: []trace.LocationID{x.At}}
		if x.by != trace.NoLocation {
			f.Locations = []trace.LocationID{min(x.by, x.At), max(x.by, x.At)}
		}
		r.say(&f, x)
		return f, true
	case it.Of == ofServices && a < len(r.services) && b < len(r.services):
		f := view.Fact{Title: fmt.Sprintf("%s services", view.Thousands(int64(n))), Count: int64(n)}
		f.Say("most called", r.services[a].Service, "")
		f.Say("least called", r.services[b].Service, "")
		return f, true
	case it.Of == ofEdges && a < len(r.edges) && b < len(r.edges):
		f := view.Fact{Title: fmt.Sprintf("%s edges", view.Thousands(int64(n))), Count: int64(n)}
		for _, k := range []int{a, b} {
			f.Say("such as", r.caller(&r.edges[k])+" → "+r.edges[k].Service, "")
		}
		return f, true
	}
	return view.Fact{}, false
}

func (r *result) say(f *view.Fact, x *Row) {
	f.SayCount("calls", x.Calls)
	f.Say("calls per second", strconv.FormatFloat(x.Rate, 'g', 3, 64), "")
	f.SayCount("errors", x.Errors)
	if x.Errors > 0 {
		f.Say("of the calls", view.FormatShare(x.ErrorShare), "")
	}
	for i, p := range percentiles {
		if request.Enough(int(x.Calls), p.q) {
			f.Say(p.name, view.FormatDuration([]float64{x.P50, x.P95, x.P99}[i]), "")
		}
	}
	f.SayTime("shortest", x.Min)
	f.SayTime("longest", x.Max)
	f.SaySome("no caller waits for", int64(x.Apart))
}
