package kaleidoscope

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A sunburst is the picture of call paths: the sector of a path is as wide as its share of the metric, and is on
// the ring of its depth.
type sunburst struct {
	request *view.Request
	colours *view.Colours
	paint   string // region, depth, duration, children or change
	names   [2]string
	whole   *pathTree // with all paths, whose places are their ids
	shown   *pathTree // of the subtree, without paths that only pass on
	origin  []int32   // id of each path that is shown
	own     []float64 // share of each that no callee has
	root    int32
	outline *invocation.Outline
	zoom    zoom
	extra   []string // notes
	scale   scale    // of the painted value

	size   scene.Size
	sight  invocation.Sight
	items  []invocation.Item
	cx, cy float64
	d      float64 // distance of rings
	chosen []bool  // regions that are lit; nil: all
}

// showsPaths reports whether the picture is of call paths.
func showsPaths(q *view.Request) bool {
	switch q.Values.Text("tree") {
	case "paths":
		return true
	case "calls":
		return false
	}
	for _, run := range q.Runs {
		if !run.Store.Info().Timed() && run.Store.Info().Profile > 0 {
			return true
		}
	}
	return false
}

// sunburstOf computes the picture of the call paths of a run, or of two runs with their difference.
func sunburstOf(ctx context.Context, q *view.Request) (*sunburst, error) {
	r := &sunburst{request: q, root: -1}
	var err error
	if r.zoom, err = parseZoom(q.Values.Text("zoom")); err != nil {
		return nil, err
	}
	if r.colours, err = q.Colours(ctx); err != nil {
		return nil, err
	}
	order := q.Values.Text("order")
	switch order {
	case "auto", bySize, byNames:
	default:
		return nil, fmt.Errorf("--order %s: call paths have no begin; want size or name", order)
	}
	if r.whole, err = r.read(ctx, order); err != nil {
		return nil, err
	}
	if len(r.whole.paths) < 2 {
		hint := "choose other locations"
		if q.Store().Info().Timed() {
			hint += " or a longer time"
		}
		return nil, view.Empty(hint, "no call path has a value")
	}
	if err := r.choosePaint(); err != nil {
		return nil, err
	}
	if err := r.cut(); err != nil {
		return nil, err
	}
	if sel := q.Selection.Regions; sel != nil {
		r.chosen = make([]bool, len(r.whole.regions))
		for _, id := range sel {
			r.chosen[id] = true
		}
	}
	return r, r.zoomToPath()
}

// read returns the paths of the run, or of both runs together.
func (r *sunburst) read(ctx context.Context, order string) (*pathTree, error) {
	trees := [2]*pathTree{}
	for k, run := range r.request.Runs {
		one := r.request
		if len(r.request.Runs) > 1 {
			r.names[k] = run.Name
			if one = r.request.First(); k == 1 {
				one = r.request.Second()
			}
		}
		s := run.Store
		if !s.Info().Timed() && s.Info().Profile == 0 {
			return nil, view.Empty("choose another source", "%s has neither calls nor a profile", run.Name)
		}
		metric, err := runfacts.ChooseMetric(s, "")
		if err != nil {
			return nil, err
		}
		metric.Name = strings.TrimPrefix(metric.Name, "exclusive ")
		if trees[k], err = pathsOf(ctx, one.Runs[0], one.Window(), metric); err != nil {
			return nil, err
		}
	}
	if trees[1] == nil {
		return trees[0].finish(order), nil
	}
	if a, b := trees[0].metric, trees[1].metric; a.Unit != b.Unit {
		return nil, fmt.Errorf("the runs have no value in one unit: %s has %s in %q, %s has %s in %q", r.names[0],
			a.Name,
			a.Unit, r.names[1], b.Name, b.Unit)
	}
	return joined(trees[0], trees[1]).finish(order), nil
}

func (r *sunburst) two() bool { return len(r.request.Runs) > 1 }

func (r *sunburst) choosePaint() error {
	r.paint = r.request.Values.Text("paint")
	given := r.request.Values.Set("paint")
	switch r.paint {
	case "region", "depth", "duration", "children":
		if given {
			break
		}
		fallthrough
	default:
		if given && (r.paint == "time" || r.paint == "both") {
			return fmt.Errorf("--paint %s: call paths have no begin; want region, depth, duration or children", r.paint)
		}
		r.paint = "region"
		if r.two() {
			r.paint = "change"
		}
	}
	return nil
}

// passes is the least share of its value that a path passes on to its only callee to be drawn with it as one.
const passes = 0.995

// cut takes the subtree that is shown, and paths with a single callee as one with it.
func (r *sunburst) cut() error {
	sub, root := r.whole, int32(0)
	if text := r.request.Values.Text("root"); text != "" {
		id, err := strconv.Atoi(text)
		if err != nil || id < 0 || id >= len(r.whole.paths) {
			return fmt.Errorf("--root %q: want the id of a call path, 0 to %d", text, len(r.whole.paths)-1)
		}
		root, r.root = int32(id), int32(id)
		sub = r.whole.below(root)
	}
	r.shown = &pathTree{regions: sub.regions, metric: sub.metric, counted: sub.counted}
	place := make([]int32, len(sub.paths)) // of the path that is drawn for each
	children := make([]int32, len(sub.paths))
	for i := 1; i < len(sub.paths); i++ {
		children[sub.paths[i].parent]++
	}
	for i, p := range sub.paths {
		if p.parent >= 0 {
			up := p.parent
			p.parent = place[up]
			if children[up] == 1 && p.share >= passes*sub.paths[up].share && !r.request.Values.Switch("all") {
				place[i] = place[up]
				r.shown.paths[place[i]].region, r.origin[place[i]] = p.region, root+int32(i)
				continue
			}
		}
		place[i] = int32(len(r.shown.paths))
		r.shown.paths, r.origin = append(r.shown.paths, p), append(r.origin, root+int32(i))
	}
	r.weigh()
	return nil
}

// weights is the sum of all weights: as large as leaves room for sums and products.
const weights = 1 << 50

// weigh makes the outline of the paths that are shown.
func (r *sunburst) weigh() {
	paths := r.shown.paths
	level, own := make([]int32, len(paths)), make([]int64, len(paths))
	r.own = make([]float64, len(paths))
	for i := len(paths) - 1; i >= 0; i-- {
		if r.own[i] += paths[i].share; i > 0 {
			r.own[paths[i].parent] -= paths[i].share
		}
	}
	leaf := make([]bool, len(paths))
	for i := range paths {
		leaf[i] = true
	}
	for i, p := range paths {
		if p.parent >= 0 {
			level[i] = level[p.parent] + 1
			leaf[p.parent] = false
		}
	}
	for i := range paths {
		r.own[i] = max(r.own[i], 0)
		own[i] = int64(r.own[i] / paths[0].share * weights)
		if leaf[i] {
			own[i] = max(own[i], 1)
		}
	}
	r.outline = invocation.NewWeighed(level, own)
}

// look finds the content of a picture of a size.
func (r *sunburst) look(size scene.Size) {
	if r.items != nil && r.size == size {
		return
	}
	r.size = size
	r.d = r.ringAt(size) * r.zoom.factor
	r.cx, r.cy = r.zoom.rootAt(size)
	r.sight = invocation.NewSight(float64(size.Width), float64(size.Height), r.d, r.cx, r.cy)
	r.items, _, _ = lookAt(context.Background(), r.outline, r.sight)
}

func (r *sunburst) ringAt(size scene.Size) float64 {
	side := float64(min(size.Width, size.Height))
	if given := r.request.Values.Integer("ring"); given > 0 {
		return float64(given) * side / float64(max(min(r.request.Size.Width, r.request.Size.Height), 1))
	}
	return side / 2 / float64(max(r.outline.Height, 1))
}

// zoomToPath turns a zoom that names a path into the one that draws it in the middle.
func (r *sunburst) zoomToPath() error {
	text := r.request.Values.Text("zoom")
	if !namesCall(text) {
		return nil
	}
	id, err := r.pathNamed(text)
	if err != nil {
		return err
	}
	for i, of := range r.origin {
		if of >= id { // it, or the callee that it is drawn with
			start, alloc := r.outline.Sector(int32(i))
			r.zoom = zoomOn(r.request.Size, r.ringAt(r.request.Size), start, alloc, r.outline.Level(int32(i)),
				callWidth)
			return nil
		}
	}
	return fmt.Errorf("--zoom %s: this path is not below --root", text)
}

// pathNamed returns a path by its id, or the widest of a region below the root that is shown.
func (r *sunburst) pathNamed(text string) (int32, error) {
	if !strings.HasPrefix(text, ofRegion) {
		id, err := strconv.Atoi(strings.TrimPrefix(text, "#"))
		if err != nil || id < 0 || id >= len(r.whole.paths) {
			return 0, fmt.Errorf("--zoom %q: want the id of a call path, #0 to #%d", text, len(r.whole.paths)-1)
		}
		return int32(id), nil
	}
	is, err := regionsNamed(text, r.whole.regions)
	if err != nil {
		return 0, err
	}
	first := max(r.root, 0)
	best, most := int32(-1), 0.0
	for i := first; i <= r.origin[len(r.origin)-1]; i++ {
		if p := &r.whole.paths[i]; is(p.region) && p.share > most {
			best, most = i, p.share
		}
	}
	if best < 0 {
		return 0, fmt.Errorf("--zoom %s: no call path that is shown ends in such a region", text)
	}
	return best, nil
}

// name of a path that is shown.
func (r *sunburst) name(i int32) string { return r.nameOf(r.origin[i]) }

func (r *sunburst) nameOf(id int32) string {
	p := &r.whole.paths[id]
	if p.region < 0 {
		return "all"
	}
	return r.whole.regions[p.region].Name
}

// change is how much more of a path the second run has, as a share of the larger of both.
func (p *path) change() float64 {
	if most := max(p.inclusive, p.other); most > 0 {
		return (p.other - p.inclusive) / most
	}
	return 0
}

func (r *sunburst) format(v float64) string { return r.whole.metric.Format(v) }

// Notes lists the paths not drawn.
func (r *sunburst) Notes() []string {
	out := []string{"the width of a sector is its share of " + r.whole.metric.Name}
	if r.two() {
		out[0] = fmt.Sprintf("the width of a sector is its share of %s, of the run that has more; colours are the "+
			"change from %s to %s", r.whole.metric.Name, r.names[0], r.names[1])
	}
	if n := len(r.whole.paths) - len(r.shown.paths); n > 0 && r.root < 0 {
		out = append(out, plural(n, "call path hands on", "call paths hand on")+
			" all they have to a single callee and are drawn with it")
	}
	sectors, paths := 0, 0
	for _, it := range r.items {
		if it.Merged {
			sectors++
			paths += int(it.End - it.First)
		}
	}
	if sectors > 0 {
		out = append(out, plural(paths, "call path is", "call paths are")+" in "+
			plural(sectors, "sector", "sectors")+" of less than a pixel each, which a closer look opens")
	}
	return append(out, r.whole.notes...)
}

// trail names the callers of the root of a subtree, outermost first, and itself; and the zoom where it names a path.
func (r *sunburst) trail() (out []scene.Term) {
	for id := r.root; id > 0; id = r.whole.paths[id].parent {
		out = append([]scene.Term{{Name: "root", Text: strconv.Itoa(int(id)), Label: r.nameOf(id)}}, out...)
	}
	if n := len(out); n > mostTrail {
		out = append(append(out[:mostTrail/3:mostTrail/3], scene.Term{Name: "root", Label: "…"}),
			out[n-2*mostTrail/3:]...)
	}
	out = append(out, r.within()...)
	if namesCall(r.request.Values.Text("zoom")) {
		out = append(out, scene.Term{Name: "zoom", Text: r.zoom.String(), Label: "zoom"})
	}
	return out
}

// pathText is the callers of a path and itself, outermost first; the middle of a long one is left out.
func (r *sunburst) pathText(id int32) string {
	var names []string
	for ; id > 0; id = r.whole.paths[id].parent {
		names = append([]string{r.nameOf(id)}, names...)
	}
	if len(names) > 12 {
		names = append(append(names[:6:6], "…"), names[len(names)-5:]...)
	}
	return strings.Join(names, " → ")
}

// fact describes an item.
func (r *sunburst) fact(k int) view.Fact {
	it := &r.items[k]
	if it.Merged {
		return r.mergedFact(it)
	}
	p, id := &r.shown.paths[it.First], r.origin[it.First]
	f := view.Fact{Title: r.name(it.First), Open: map[string]string{"root": strconv.Itoa(int(id)), "zoom": ""}}
	if it.First == 0 {
		f.Open["root"] = ""
		if r.root > 0 && r.whole.paths[r.root].parent > 0 {
			f.Open["root"] = strconv.Itoa(int(r.whole.paths[r.root].parent))
		}
	}
	if p.region >= 0 && int(p.region) < len(r.request.Store().Regions()) {
		f.Regions = []trace.RegionID{trace.RegionID(p.region)}
	}
	exact := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	name, all := r.whole.metric.Name, &r.whole.paths[0]
	in := func(run string, inclusive, exclusive, of float64) {
		f.Say(name+run, r.format(inclusive)+", "+percent(inclusive/max(of, 1e-300))+" of all", exact(inclusive))
		f.Say("by itself"+run, r.format(exclusive), exact(exclusive))
	}
	whole := &r.whole.paths[id] // its callers may have a little more
	if r.two() {
		in(" in "+r.names[0], whole.inclusive, whole.exclusive, all.inclusive)
		in(" in "+r.names[1], whole.other, whole.otherOwn, all.other)
		f.Say("change", changeText(whole), "")
	} else {
		in("", whole.inclusive, whole.exclusive, all.inclusive)
	}
	if r.whole.counted && whole.calls > 0 {
		f.Say("calls", view.Thousands(int64(whole.calls)), exact(whole.calls))
	}
	f.Say("path", r.pathText(id), "")
	if p.region >= 0 {
		if g := &r.whole.regions[p.region]; g.File != "" && g.Line > 0 {
			f.Say("source", g.File+":"+strconv.Itoa(g.Line), "")
		} else if g.File != "" {
			f.Say("source", g.File, "")
		}
	}
	f.Say("node", strconv.Itoa(int(id)), "")
	return f
}

// changeText describes how much a path grew or shrank.
func changeText(p *path) string {
	switch {
	case p.inclusive == 0 && p.other > 0:
		return "new"
	case p.other == 0 && p.inclusive > 0:
		return "gone"
	case p.inclusive == 0:
		return "none"
	}
	change := 100 * (p.other/p.inclusive - 1)
	if math.Abs(change) >= 1000 {
		return strconv.FormatFloat(p.other/p.inclusive, 'f', 0, 64) + " times"
	}
	return fmt.Sprintf("%+.1f %%", change)
}

func (r *sunburst) mergedFact(it *invocation.Item) view.Fact {
	s := r.sector(it)
	f := view.Fact{Title: plural(s.Paths, "call path", "call paths"), Count: int64(s.Paths),
		Text: "Each narrower than a pixel: double click to open."}
	f.Say(r.whole.metric.Name, r.format(s.Value), "")
	for _, m := range s.Mix[:min(len(s.Mix), mostListed)] {
		f.Say(m.Region, percent(m.Share), "")
	}
	z := zoomOn(r.request.Size, r.ringAt(r.request.Size), it.Start, it.Alloc/float64(max(s.Paths, 1)), it.Level, 3)
	z.factor = max(z.factor, 2*r.zoom.factor)
	z.x, z.y = s.X, s.Y
	f.Open = map[string]string{"zoom": z.String()}
	return f
}

// Fact returns the path that is drawn at a place.
func (r *sunburst) Fact(it scene.Item) (view.Fact, bool) {
	if it.Of != ofPicture {
		return view.Fact{}, false
	}
	r.look(scene.Size{Width: int(it.A), Height: int(it.B)})
	x, y := it.Place()
	p := point{x * float64(it.A), y * float64(it.B)}
	radius := distance(point{r.cx, r.cy}, p)
	angle := math.Mod(math.Atan2(p.y-r.cy, p.x-r.cx)*180/math.Pi+360, 360)
	best, near := -1, 90/math.Pi/max(radius, 1) // half a pixel
	for k := range r.items {
		it := &r.items[k]
		if radius < r.d*float64(it.Level) || radius >= r.d*float64(r.lastLevel(it)+1) {
			continue
		}
		if far := max(it.Start-angle, angle-it.Start-it.Alloc, 0); far < near {
			best, near = k, far
		}
	}
	if best < 0 {
		return view.Fact{}, false
	}
	return r.fact(best), true
}
