package otf2

import (
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mpi takes records of messages and collective operations.
func (r *row) mpi(e *event, f *fields) {
	switch e.id {
	case evMpiSend:
		r.message(f, true)
	case evMpiIsend:
		r.message(f, true)
		f.uint64() // request
	case evMpiRecv:
		r.message(f, false)
	case evMpiIrecv:
		r.receive(f)
	case evMpiIrecvRequest:
		r.request(e.value)
	case evMpiRequestCancelled:
		delete(r.requests, e.value)
		r.tally.cancelled++
	case evMpiIsendComplete, evMpiRequestTest:
		r.tally.tests++
	case evMpiCollectiveBegin:
		r.collBegin = r.now
	case evMpiCollectiveEnd:
		r.collective(f)
	}
}

// request remembers when a receive was posted. A number that is used again says
// that the receive before was never seen to complete.
func (r *row) request(id uint64) {
	if _, open := r.requests[id]; open || len(r.requests) >= mostOpen {
		r.tally.requests++
	}
	if len(r.requests) < mostOpen {
		r.requests[id] = r.now
	}
}

// A message record names the partner by its rank in the communicator.
func (r *row) message(f *fields, sent bool) {
	h := &r.ends
	if !r.messageHalf(h, f, sent) {
		return
	}
	h.order = r.now
	r.place(h, r.now, r.innermost())
	if sent {
		r.keep(0, h)
	} else {
		r.keep(1, h)
	}
}

// receive takes the completion of a receive. Messages are matched in the order in
// which receives are posted, which the request tells.
func (r *row) receive(f *fields) {
	h := &r.ends
	ok := r.messageHalf(h, f, false)
	request := f.uint64()
	h.order = r.now
	if t, known := r.requests[request]; known {
		h.order = t
		delete(r.requests, request)
	}
	if ok {
		r.place(h, r.now, r.innermost())
		r.keep(1, h)
	}
}

// messageHalf reads what a record says of a message into h; false where that is not
// enough to find the other half.
func (r *row) messageHalf(h *half, f *fields, sent bool) bool {
	rank, ref, tag := f.uint32(), f.uint32(), f.uint32()
	h.size = int64(f.uint64())
	if f.bad {
		return false
	}
	known := &r.channels[(rank*4+tag*2+ref)%uint32(len(r.channels))]
	if !sent {
		known = &r.channels[^(rank*4+tag*2+ref)%uint32(len(r.channels))]
	}
	if known.set && known.rank == rank && known.ref == ref && known.tag == tag && known.sent == sent {
		h.key, h.digest = known.key, known.digest
		return true
	}
	h.key = key{kind: matchMessage, d: uint64(tag)}
	if !r.partners(&h.key, rank, ref, sent) {
		return false
	}
	h.setDigest()
	*known = knownChannel{set: true, sent: sent, rank: rank, ref: ref, tag: tag, key: h.key, digest: h.digest}
	return true
}

// A knownChannel is what records of messages say of their partner, and what halves of
// such messages have in common. Few are in use at a time.
type knownChannel struct {
	set, sent      bool
	rank, ref, tag uint32
	key            key
	digest         uint64
}

// partners finds whom a message goes from and to.
func (r *row) partners(h *key, rank, ref uint32, sent bool) bool {
	c, k := r.comm(ref)
	if c == nil {
		r.tally.partners++
		return false
	}
	partner := c.partner(uint64(rank), r.at)
	if partner < 0 {
		r.tally.partners++
		return false
	}
	h.a, h.b, h.c = k, uint32(r.process), uint32(r.a.tree.places[partner].process)
	if !sent {
		h.b, h.c = h.c, h.b
	}
	return true
}

// endRequests counts the receives that were asked for and never completed.
func (r *row) endRequests() {
	r.tally.requests += int64(len(r.requests))
	clear(r.requests)
	if r.tally.requests > 0 {
		r.a.setIncomplete(r.process)
	}
}

// collective takes the end of a collective operation: facts of the call it lies
// in, and what it says of the clocks.
func (r *row) collective(f *fields) {
	ref, op, root := r.collectiveFacts(f)
	c, k := r.comm(ref)
	if c == nil || f.bad {
		r.tally.partners++
		return
	}
	seq := r.collSeq[k]
	r.collSeq[k] = seq + 1
	p := participation{comm: k, seq: seq, process: uint32(r.process), root: undefined32, begin: r.collBegin, end: r.now}
	if int(op) < len(operations) {
		p.flow = operations[op].flow
	}
	if c.self || c.between || p.flow == noFlow {
		return
	}
	if m := c.partner(uint64(root), r.at); m >= 0 {
		p.root = uint32(r.a.tree.places[m].process)
	}
	r.collect = append(r.collect, p)
	if len(r.collect) == blockRecords {
		r.collect = r.a.matcher.collectives.add(r.collect)
	}
}

// collectiveFacts reads what collectives have in common.
func (r *row) collectiveFacts(f *fields) (comm uint32, op uint8, root uint32) {
	op, comm, root = f.uint8(), f.uint32(), f.uint32()
	sent, received := f.uint64(), f.uint64()
	n := &r.a.names
	if f.bad || r.stream == nil {
		return comm, op, root
	}
	if int(op) < len(operations) {
		r.add(r.a.name(&n.operation), trace.Text(operations[op].name))
	}
	r.addComm(comm)
	if root < rootThisGroup {
		r.add(r.a.name(&n.root), trace.Integer(int64(root)))
	}
	r.add(r.a.name(&n.sent), bytesValue(sent))
	r.add(r.a.name(&n.received), bytesValue(received))
	return comm, op, root
}
