package kaleidoscope

import (
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// callWidth is how wide a call is drawn that a zoom names, in pixels.
const callWidth = 40

// ofRegion begins a zoom that names the widest sector of the regions of a pattern.
const ofRegion = "region:"

// namesCall reports whether a zoom is a call: #ID, LOCATION/LANE/ROW as a search finds it, or region:PATTERN.
func namesCall(s string) bool {
	return strings.HasPrefix(s, "#") || strings.HasPrefix(s, ofRegion) || strings.Count(s, "/") == 2
}

// regionsNamed returns the regions that a zoom names by a pattern.
func regionsNamed(text string, regions []trace.Region) (func(id int32) bool, error) {
	match, err := view.RegionPattern(strings.TrimPrefix(text, ofRegion))
	if err != nil {
		return nil, fmt.Errorf("--zoom %s: %w", text, err)
	}
	return func(id int32) bool { return id >= 0 && match(trace.RegionID(id), &regions[id]) }, nil
}

// zoomToCall turns a zoom that names a call into the one that draws it in the middle.
func (r *result) zoomToCall() error {
	text := r.request.Values.Text("zoom")
	if !namesCall(text) {
		return nil
	}
	if r.detail == nil {
		return fmt.Errorf("--zoom %s: not with --paper or --all", text)
	}
	place, err := r.placeNamed(text)
	if err != nil {
		return err
	}
	start, alloc := r.detail.outline.Sector(place)
	r.zoom = r.zoomTo(start, alloc, r.detail.outline.Level(place), callWidth)
	return nil
}

// placeNamed returns the place of a call in the outline.
func (r *result) placeNamed(text string) (int32, error) {
	if !strings.HasPrefix(text, ofRegion) {
		node, err := r.callNamed(text)
		if err != nil {
			return 0, err
		}
		if place := r.detail.placeOf(node); place >= 0 {
			return place, nil
		}
		return 0, fmt.Errorf("--zoom %s: this call is not below --root", text)
	}
	is, err := regionsNamed(text, r.forest.regions)
	if err != nil {
		return 0, err
	}
	best := r.widestOf(func(region trace.RegionID) bool { return region != trace.NoRegion && is(int32(region)) })
	if best.place < 0 {
		return 0, fmt.Errorf("--zoom %s: no call in the tree is of such a region", text)
	}
	return best.place, nil
}

// A heavy is a place with its weight.
type heavy struct {
	place  int32
	weight int64
}

// add takes a place that is heavier, or as heavy and before.
func (h *heavy) add(place int32, weight int64) {
	if weight > h.weight || weight == h.weight && place < h.place {
		h.place, h.weight = place, weight
	}
}

// widestOf returns the heaviest place of some regions; below 0: there is none.
func (r *result) widestOf(is func(trace.RegionID) bool) heavy {
	o, best := r.detail.outline, heavy{place: -1}
	if !r.forest.calls.OfRows() {
		for i := range int32(o.Len()) {
			if is(r.forest.calls.Region[r.detail.node(i)]) {
				best.add(i, o.Weight(i))
			}
		}
		return best
	}
	var mu sync.Mutex
	r.forest.calls.EachPart(invocation.OfRegion, func(nodes []invocation.Node) {
		most := heavy{place: -1}
		for i := range nodes {
			if place := r.detail.placeOf(nodes[i].Number); place >= 0 && is(nodes[i].Region) {
				most.add(place, o.Weight(place))
			}
		}
		mu.Lock()
		defer mu.Unlock()
		best.add(most.place, most.weight)
	})
	return best
}

// callNamed returns the node of a call.
func (r *result) callNamed(text string) (int32, error) {
	calls := r.forest.calls
	if id, ok := strings.CutPrefix(text, "#"); ok {
		n, err := strconv.Atoi(id)
		if err != nil || n < 0 || n >= calls.Len() {
			return 0, fmt.Errorf("--zoom %q: want the id of a node, #0 to #%d", text, calls.Len()-1)
		}
		return calls.FindNumbered(int32(n))
	}
	return r.rowNamed("zoom", text)
}

// rowNamed returns the node of LOCATION/LANE/ROW.
func (r *result) rowNamed(option, text string) (int32, error) {
	var at [3]int
	for k, part := range strings.Split(text, "/") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return 0, fmt.Errorf("--%s %q: want three numbers, LOCATION/LANE/ROW", option, text)
		}
		at[k] = n
	}
	if node := r.forest.calls.Find(trace.LocationID(at[0]), int32(at[1]), int32(at[2])); node >= 0 {
		return node, nil
	}
	return 0, fmt.Errorf("--%s %s: no such call is in the tree", option, text)
}

// isRow reports whether a text names a call by its row.
func isRow(text string) bool { return strings.Count(text, "/") == 2 }

// rootText names the root of a subtree: by its row where its number is not known without reading all calls.
func (r *result) rootText(node int32) string {
	if !r.forest.calls.OfRows() {
		return strconv.Itoa(int(r.forest.calls.Number(node)))
	}
	c := r.forest.pick([]int32{node}, 0, nil)[0]
	return fmt.Sprintf("%d/%d/%d", c.Location, c.Lane, c.Row)
}

// terms resolves names for the page: the ways up, and the zoom if it names a call.
func (r *result) terms() []scene.Term {
	out := append(r.trail(), r.within()...)
	if namesCall(r.request.Values.Text("zoom")) {
		out = append(out, scene.Term{Name: "zoom", Text: r.zoom.String(), Label: "zoom"})
	}
	return out
}
