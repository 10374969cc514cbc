package otf2

import (
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/spool"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A messenger notes the messages and collectives of MPI.
type messenger struct {
	caller

	process int32

	requests  map[uint64]trace.Time // receives that are under way, by request
	sent      match.Queue           // messages, of those channels that have queues
	channels  knownChannels
	collSeq   map[uint32]uint32
	collBegin trace.Time
}

// mpi takes records of messages and collective operations.
func (r *messenger) mpi(e *event, f *fields) {
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
func (r *messenger) request(id uint64) {
	if _, open := r.requests[id]; open || len(r.requests) >= mostOpen {
		r.tally.requests++
	}
	if len(r.requests) < mostOpen {
		r.requests[id] = r.now
	}
}

// A message record names the partner by its rank in the communicator.
func (r *messenger) message(f *fields, sent bool) {
	k, size := r.channel(f, sent)
	switch {
	case k == nil:
	case k.channel == nil:
		r.messageHalf(k, size, r.now)
	case sent:
		if !r.sent.Send(r.a.matcher.Channels.Slots, r.now, r.innermost(), k.id, size) {
			k.channel.Mixed.Store(true)
		}
	default:
		r.received(k, r.now)
	}
}

// receive takes the completion of a receive. Messages are matched in the order in
// which receives are posted, which the request tells.
func (r *messenger) receive(f *fields) {
	k, size := r.channel(f, false)
	request := f.uint64()
	posted := r.now
	if t, known := r.requests[request]; known {
		posted = t
		delete(r.requests, request)
	}
	switch {
	case k == nil:
	case k.channel == nil:
		r.messageHalf(k, size, posted)
	default:
		r.received(k, posted)
	}
}

// received puts a receive into the queue of its channel.
func (r *messenger) received(k *knownChannel, posted trace.Time) {
	if !k.channel.Received.Receive(r.a.matcher.Channels.Slots, r.now, posted, r.innermost()) {
		k.channel.Mixed.Store(true)
	}
}

// messageHalf passes an end of a message to the spools.
func (r *messenger) messageHalf(k *knownChannel, size int64, order trace.Time) {
	h := match.Half{Key: k.key, Hash: k.hash, Order: order, Size: size}
	h.Place(r.now, r.innermost())
	side := 1
	if k.sent {
		side = 0
	}
	r.keep(side, &h)
}

// channel reads the message of a record; nil if its fields are not enough to find the other half.
func (r *messenger) channel(f *fields, sent bool) (k *knownChannel, size int64) {
	rank, ref, tag, bytes := f.message()
	if size = int64(bytes); f.bad {
		return nil, 0
	}
	said := partner{rank: rank, ref: ref, tag: tag, sent: sent}
	if k = r.channels.find(said); k != nil {
		return k, size
	}
	k = &knownChannel{partner: said, key: match.Key{Kind: match.Message, D: uint64(tag)}}
	if !r.partners(&k.key, rank, ref, sent) {
		return nil, 0
	}
	side := 1
	if sent {
		side = 0
	}
	k.hash = k.key.Mixed()
	if k.channel = r.a.matcher.Channels.Find(&k.key, k.hash, side, r.at); k.channel != nil {
		k.id = k.channel.Id
	}
	r.channels.add(k)
	return k, size
}

// partners finds whom a message goes from and to.
func (r *messenger) partners(h *match.Key, rank, ref uint32, sent bool) bool {
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
	h.A, h.B, h.C = k, uint32(r.process), uint32(r.a.tree.places[partner].process)
	if !sent {
		h.B, h.C = h.C, h.B
	}
	return true
}

// endRequests counts the receives that were asked for and never completed.
func (r *messenger) endRequests() {
	r.tally.requests += int64(len(r.requests))
	clear(r.requests)
	if r.tally.requests > 0 {
		r.a.setIncomplete(r.process)
	}
}

// collective takes the end of a collective operation: facts of the call it is in, and its evidence about the clocks.
func (r *messenger) collective(f *fields) {
	ref, op, root := r.collectiveFacts(f)
	c, k := r.comm(ref)
	if c == nil || f.bad {
		r.tally.partners++
		return
	}
	seq := r.collSeq[k]
	r.collSeq[k] = seq + 1
	p := match.Participation{Comm: k, Seq: seq, Process: uint32(r.process), Root: undefined32, Begin: r.collBegin,
		End: r.now}
	if int(op) < len(match.Operations) {
		p.Flow = match.Operations[op].Flow
	}
	if c.self || c.between || p.Flow == trace.NoFlow {
		return
	}
	if m := c.partner(uint64(root), r.at); m >= 0 {
		p.Root = uint32(r.a.tree.places[m].process)
	}
	r.collect = append(r.collect, p)
	if len(r.collect) == spool.BlockRecords {
		r.collect = r.a.matcher.Attend(r.collect)
	}
}

// collectiveFacts reads the fields that collectives share.
func (r *messenger) collectiveFacts(f *fields) (comm uint32, op uint8, root uint32) {
	op, comm, root = f.uint8(), f.uint32(), f.uint32()
	sent, received := f.uint64(), f.uint64()
	n := &r.a.names
	if f.bad {
		return comm, op, root
	}
	if int(op) < len(match.Operations) {
		r.add(r.a.name(&n.operation), trace.Text(match.Operations[op].Name))
	}
	r.addComm(comm)
	if root < match.RootThisGroup {
		r.add(r.a.name(&n.root), trace.Integer(int64(root)))
	}
	r.add(r.a.name(&n.sent), bytesValue(sent))
	r.add(r.a.name(&n.received), bytesValue(received))
	return comm, op, root
}
