package perfetto

import (
	"cmp"
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// A linker joins the points of flows to links.
type linker struct {
	pairer

	flows []flowPoint
}

// A flowPoint is an event that a flow goes through.
type flowPoint struct {
	id     uint64
	at     trace.Time
	track  *track
	region trace.RegionID // of the interval; NoRegion for an instant
	ends   bool           // the flow ends here
	// For the older form, whose ids are numbered apart: the flow begins anew here,
	// or comes in and goes on from where it was.
	legacy, starts, aside bool
}

// flowPoints notes the flows that an event belongs to.
func (c *linker) flowPoints(e *event, t *track, at trace.Time, region trace.RegionID) {
	c.addFlowPoints(e.oldFlows, flowPoint{at: at, track: t, region: region})
	c.addFlowPoints(e.flows, flowPoint{at: at, track: t, region: region})
	c.addFlowPoints(e.oldEnding, flowPoint{at: at, track: t, region: region, ends: true})
	c.addFlowPoints(e.ending, flowPoint{at: at, track: t, region: region, ends: true})
}

func (c *linker) addFlowPoints(ids []uint64, p flowPoint) {
	for _, p.id = range ids {
		c.flows = append(c.flows, p)
	}
}

// linkFlows links the events of each flow in order of time: each with the one
// before it, until one ends the flow. O(n log n) in the points.
func (c *linker) linkFlows() {
	slices.SortStableFunc(c.flows, func(a, b flowPoint) int {
		return cmp.Or(cmp.Compare(a.id, b.id), cmpBool(a.legacy, b.legacy), cmp.Compare(a.at, b.at))
	})
	var from *flowPoint
	linked := false
	end := func() {
		if from != nil && !linked {
			c.tally.Add(loneFlows, nowhere)
		}
		from, linked = nil, false
	}
	for i := range c.flows {
		p := &c.flows[i]
		if from != nil && (from.id != p.id || from.legacy != p.legacy || p.starts) {
			end()
		}
		if from != nil {
			c.link(from, p)
			linked = true
		}
		switch {
		case from == nil && (p.ends || p.aside):
			c.tally.Add(loneFlows, nowhere)
		case p.aside:
		case p.ends:
			from, linked = nil, false
		default:
			from = p
		}
	}
	end()
	c.flows = nil
}

func cmpBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

// link joins two events. From a thread to a queue of a GPU it is a launch.
func (c *linker) link(from, to *flowPoint) {
	a, b := c.place(from.track), c.place(to.track)
	if a == nil || b == nil {
		c.tally.Add(loneFlows, nowhere)
		return
	}
	kind := trace.LinkFlow
	if to.track.kind == ofProgram && isQueue(to.track.name) && from.track.kind == ofThread {
		kind = trace.LinkSpawn
	}
	c.w.Link(trace.Link{Kind: kind, Size: -1, Communicator: trace.NoCommunicator,
		From: trace.End{Location: a.At, Time: from.at, Region: from.region},
		To:   trace.End{Location: b.At, Time: to.at, Region: to.region}})
}
