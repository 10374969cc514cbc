package kaleidoscope

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/analysis/invocation"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// A light states which calls are selected where others are drawn too. A choice of
// regions always lights: without the calls between them the tree falls apart.
type light struct {
	on         bool
	begin, end trace.Time
	locations  []bool // nil: all
	regions    []bool // nil: all
}

func newLight(q *view.Request, whole bool) *light {
	l := &light{begin: math.MinInt64, end: math.MaxInt64}
	sel := q.Selection
	if sel.Regions != nil {
		l.on, l.regions = true, make([]bool, len(q.Store().Regions()))
		for _, id := range sel.Regions {
			l.regions[id] = true
		}
	}
	if !whole {
		return l
	}
	if sel.Begin > 0 || sel.End < q.Store().Info().End {
		l.on, l.begin, l.end = true, sel.Begin, sel.End
	}
	if sel.Locations != nil {
		t := q.Store().Locations()
		l.on, l.locations = true, make([]bool, t.Len())
		for _, id := range sel.Locations {
			for k := id; k <= t.Last[id]; k++ {
				l.locations[k] = true
			}
		}
	}
	return l
}

// has reports whether a call ran in the selected time, at a selected place, and is
// of a selected region.
func (l *light) has(n *invocation.Node) bool {
	if !l.on {
		return true
	}
	if n.Region == trace.NoRegion || n.Begin >= l.end || max(n.End, n.Begin+1) <= l.begin {
		return false
	}
	return (l.regions == nil || l.regions[n.Region]) && (l.locations == nil || l.locations[n.Location])
}

// A zoom is how much larger the picture is than one that fits, and the point in its
// middle: from the root, in halves of the picture's smaller side before the zoom.
type zoom struct{ factor, x, y float64 }

// mostZoom keeps coordinates in the range that renderers draw without error.
const mostZoom = 1e9

// String writes a zoom as parseZoom reads it.
func (z zoom) String() string {
	text := func(v float64) string { return strconv.FormatFloat(v, 'g', 12, 64) }
	return text(z.factor) + "," + text(z.x) + "," + text(z.y)
}

// parseZoom reads FACTOR or FACTOR,X,Y. The name of a call is found later, see
// zoomToCall.
func parseZoom(s string) (zoom, error) {
	z := zoom{factor: 1}
	if s == "" || namesCall(s) {
		return z, nil
	}
	wrong := fmt.Errorf("--zoom %q: want FACTOR from 0.1 to %g, FACTOR,X,Y, or a call: #ID, LOCATION/LANE/ROW or "+
		"region:PATTERN", s,
		float64(mostZoom))
	parts := strings.Split(s, ",")
	if len(parts) != 1 && len(parts) != 3 {
		return z, wrong
	}
	for i, to := range []*float64{&z.factor, &z.x, &z.y}[:len(parts)] {
		v, err := strconv.ParseFloat(strings.TrimSpace(parts[i]), 64)
		if err != nil || math.IsNaN(v) || math.Abs(v) > mostZoom {
			return z, wrong
		}
		*to = v
	}
	if z.factor < 0.1 {
		return z, wrong
	}
	return z, nil
}
