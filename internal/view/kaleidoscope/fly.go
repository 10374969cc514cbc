package kaleidoscope

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/scene"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// callWidth is how wide a call is drawn that a zoom names, in pixels.
const callWidth = 40

// namesCall tells whether a zoom is a call: #ID, or LOCATION/LANE/ROW as a search finds it.
func namesCall(s string) bool { return strings.HasPrefix(s, "#") || strings.Count(s, "/") == 2 }

// zoomToCall turns a zoom that names a call into the one that draws it in the middle.
func (r *result) zoomToCall() error {
	text := r.request.Values.Text("zoom")
	if !namesCall(text) {
		return nil
	}
	node, err := r.callNamed(text)
	if err != nil {
		return err
	}
	if r.detail == nil {
		return fmt.Errorf("--zoom %s: not with --paper or --all", text)
	}
	place := r.detail.placeOf(node)
	if place < 0 {
		return fmt.Errorf("--zoom %s: this call is not below --root", text)
	}
	start, alloc := r.detail.outline.Sector(place)
	r.zoom = r.zoomTo(start, alloc, r.detail.outline.Level(place), callWidth)
	return nil
}

// callNamed returns the node of a call.
func (r *result) callNamed(text string) (int32, error) {
	calls := r.forest.calls
	if id, ok := strings.CutPrefix(text, "#"); ok {
		n, err := strconv.Atoi(id)
		if err != nil || n < 0 || n >= calls.Len() {
			return 0, fmt.Errorf("--zoom %q: want the id of a node, #0 to #%d", text, calls.Len()-1)
		}
		return int32(n), nil
	}
	var at [3]int
	for k, part := range strings.Split(text, "/") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return 0, fmt.Errorf("--zoom %q: want three numbers, LOCATION/LANE/ROW", text)
		}
		at[k] = n
	}
	if node := calls.Find(trace.LocationID(at[0]), int32(at[1]), int32(at[2])); node >= 0 {
		return node, nil
	}
	return 0, fmt.Errorf("--zoom %s: no such call is in the tree", text)
}

// terms resolves names for the page: the ways up, and the zoom if it names a call.
func (r *result) terms() []scene.Term {
	out := r.trail()
	if namesCall(r.request.Values.Text("zoom")) {
		out = append(out, scene.Term{Name: "zoom", Text: r.zoom.String(), Label: "zoom"})
	}
	return out
}
