package chrometrace

import (
	"bytes"
	"cmp"

	"github.com/parallax-hpc/parallax/internal/parallel"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A flowPoint is one flow record.
type flowPoint struct {
	key   uint64
	at    trace.Time
	place *place
	size  int64  // in bytes, -1 if unknown
	order uint32 // in the file
	kind  byte   // 's', 't' or 'f'
	// launch: of a host to a GPU. message: its name or category says that it is a message.
	launch, message bool
}

// order of the records of a flow at one time: a start before its end.
var flowOrder = [256]int8{'s': 0, 't': 1, 'f': 2}

// flow takes a record of phase s, t or f.
func (c *reader) flow(r *record, at trace.Time) {
	cat := c.categoryOf(r)
	c.points++
	point := flowPoint{at: at, place: c.place(r), order: c.points, kind: r.phase, size: -1, launch: cat.launchFlow}
	if id, ok := r.id.integer(); ok && cat.launchFlow {
		point.key = uint64(id)
		c.launchFlows = append(c.launchFlows, point)
		return
	}
	if r.phase == 'f' && r.bind != 'e' {
		c.tally.Add(nextBinding, r.offset)
	}
	h := newHash().add(r.category.raw()).add(r.name.raw()).add(r.idScope.raw())
	switch {
	case r.localID.present():
		h = h.add(r.localID.raw()).add(r.pid.raw())
	case r.globalID.present():
		h = h.add(r.globalID.raw())
	default:
		h = h.add(r.id.raw())
	}
	point.key = uint64(h)
	point.message = isMessage(r)
	for _, key := range sizeKeys {
		if size, ok := r.argument(key).integer(); ok {
			point.size = size
			break
		}
	}
	c.flows = append(c.flows, point)
	c.oddParts(r)
}

// bindID takes the newer way of saying the same, fields of any record.
func (c *reader) bindID(r *record, at trace.Time) {
	if !r.bindID.present() || !r.flowIn && !r.flowOut {
		return
	}
	kind := byte('s')
	switch {
	case r.flowIn && r.flowOut:
		kind = 't'
	case r.flowIn:
		kind = 'f'
	}
	key := uint64(newHash().add([]byte("bind_id")).add(r.bindID.raw()))
	c.points++
	c.flows = append(c.flows, flowPoint{key: key, at: at, place: c.place(r), order: c.points, kind: kind, size: -1})
}

// sizeKeys are the arguments that tell how large a message is.
var sizeKeys = []string{"bytes", "size", "message_size"}

// isMessage reports whether a flow record calls itself a message.
func isMessage(r *record) bool {
	name := r.name.raw()
	return bytes.EqualFold(r.category.raw(), []byte("mpi")) || bytes.HasPrefix(name, []byte("MPI")) ||
		bytes.EqualFold(name, []byte("message"))
}

// linkFlows turns the flow records of the file into links, key by key.
func (c *reader) linkFlows() {
	parallel.Sort(c.flows, func(a, b flowPoint) int {
		switch {
		case a.key != b.key:
			return cmp.Compare(a.key, b.key)
		case a.at != b.at:
			return cmp.Compare(a.at, b.at)
		}
		return cmp.Or(cmp.Compare(flowOrder[a.kind], flowOrder[b.kind]), cmp.Compare(a.order, b.order))
	})
	for begin := 0; begin < len(c.flows); {
		end := begin + 1
		for end < len(c.flows) && c.flows[end].key == c.flows[begin].key {
			end++
		}
		c.linkFlow(c.flows[begin:end])
		begin = end
	}
	c.flows = c.flows[:0]
}

// linkFlow links the records of one key in order of time: a step or end follows
// the start or step that waits for longest. Ids are used again, even before
// their end has come (two tasks posted, then both run); such pairs are counted
// as guessed. Records without another half are counted too.
func (c *reader) linkFlow(points []flowPoint) {
	var waiting []*flowPoint
	for i := range points {
		p := &points[i]
		if p.kind != 's' && len(waiting) == 0 {
			c.tally.Add(flowEnds, nowhere)
		} else if p.kind != 's' {
			if len(waiting) > 1 {
				c.tally.Add(sharedFlows, nowhere)
			}
			c.linkPoints(waiting[0], p)
			waiting = waiting[1:]
		}
		if p.kind != 'f' {
			waiting = append(waiting, p)
		}
	}
	for _, p := range waiting {
		if p.kind == 's' {
			c.tally.Add(flowStarts, nowhere)
		}
	}
}

// linkPoints links two records of a flow. One from process to process is a message, and so is one that says it is.
func (c *reader) linkPoints(from, to *flowPoint) {
	kind := trace.LinkFlow
	onGPU := from.place.gpu != nil && from.place.cpu == nil || to.place.gpu != nil && to.place.cpu == nil
	if from.message || !from.launch && !onGPU && from.place.pid != to.place.pid {
		kind = trace.LinkMessage
	}
	c.w.Link(trace.Link{
		Kind: kind,
		From: trace.End{Location: c.flowLocation(from.place), Time: from.at, Region: trace.NoRegion},
		To:   trace.End{Location: c.flowLocation(to.place), Time: to.at, Region: trace.NoRegion},
		Size: max(from.size, to.size), Communicator: trace.NoCommunicator,
	})
}

// flowLocation is the location of a flow record's place: the thread there, else
// the stream.
func (c *rowTree) flowLocation(p *place) trace.LocationID {
	if p.cpu == nil && p.gpu != nil {
		return p.gpu.location
	}
	return c.thread(p).location
}
