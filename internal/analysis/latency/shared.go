package latency

import (
	"maps"
	"slices"

	"github.com/parallax-hpc/parallax/internal/analysis/contrast"
	"github.com/parallax-hpc/parallax/internal/analysis/request"
	"github.com/parallax-hpc/parallax/internal/analysis/runfacts"
	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	fewShared   = 3   // requests with a fault, fewer have nothing in common that chance does not explain
	leastShared = 0.8 // of the requests with a fault, that must have the common attribute
	leastEffect = 0.5 // by how much more of them have it than of the others
)

// share finds, for each fault of a part of the requests, the attribute that these have in common and the others have
// not.
func (c *look) share(source *runfacts.SpanSource, faults []Fault) error {
	var of []*Fault
	var choices [][]int32
	for i := range faults {
		x := &faults[i]
		if n := len(x.requests); n >= fewShared && n < len(c.chosen) {
			of = append(of, x)
			choices = append(choices, slices.Sorted(maps.Keys(x.requests)))
		}
		x.requests = nil
	}
	if len(of) == 0 {
		return nil
	}
	lists, err := c.Shared(source, c.chosen, choices)
	if err != nil {
		return err
	}
	for i, list := range lists {
		k := slices.IndexFunc(list, func(d request.Difference) bool {
			said := d.Attribute == request.OfLocation && of[i].At != trace.NoLocation || d.Attribute == "error" ||
				d.AndAttribute == "error"
			return d.Q <= contrast.Level && d.Unit == "share" && d.Inside >= leastShared && d.Effect >= leastEffect &&
				!said
		})
		if k >= 0 {
			of[i].Shared = &list[k]
		}
	}
	return nil
}
