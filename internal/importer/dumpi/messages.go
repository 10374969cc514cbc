package dumpi

import "github.com/parallax-hpc/parallax/internal/trace"

// messages takes the messages and communicators of a call. A send is at the begin of its call, a receive at the end
// of the one that completes it.
func (p *process) messages(r *record, x transfer, end trace.Time) {
	n := r.ints
	switch r.call {
	case callSend, callBsend, callSsend, callRsend, callIsend, callIbsend, callIssend, callIrsend:
		p.send(p.fill(x, n[0], n[1], n[2], n[3], n[4]))
	case callRecv:
		x.time = end
		p.receive(p.fill(x, n[0], n[1], n[2], n[3], n[4]), r, 0)
	case callIrecv:
		p.pending[n[5]] = p.fill(x, n[0], n[1], n[2], n[3], n[4])
	case callSendInit, callSendInit + 1, callSendInit + 2, callRsendInit, callRecvInit:
		x = p.fill(x, n[0], n[1], n[2], n[3], n[4])
		x.receives = r.call == callRecvInit
		p.prepared[n[5]] = x
	case callStart:
		p.start(n[0], x)
	case callStartall:
		for _, request := range r.list {
			p.start(request, x)
		}
	case callSendrecv:
		p.send(p.fill(x, n[0], n[1], n[2], n[3], n[8]))
		x.time = end
		p.receive(p.fill(x, n[4], n[5], n[6], n[7], n[8]), r, 0)
	case callSendrecvReplace:
		p.send(p.fill(x, n[0], n[1], n[2], n[3], n[6]))
		x.time = end
		p.receive(p.fill(x, n[0], n[1], n[4], n[5], n[6]), r, 0)
	default:
		x.time = end
		p.completions(r, x)
		p.comms.take(r)
	}
}

// completions takes the requests that waits and tests complete.
func (p *process) completions(r *record, x transfer) {
	n := r.ints
	switch r.call {
	case callWait:
		p.complete(n[0], x, r, 0)
	case callTest:
		if n[1] != 0 {
			p.complete(n[0], x, r, 0)
		}
	case callRequestFree:
		delete(p.pending, n[0])
		delete(p.prepared, n[0])
	case callWaitany, callTestany:
		if i := n[1]; i >= 0 && int(i) < len(r.list) && (r.call == callWaitany || n[2] != 0) {
			p.complete(r.list[i], x, r, 0)
		}
	case callWaitall, callTestall:
		if r.call == callTestall && n[1] == 0 {
			return
		}
		for i, request := range r.list {
			p.complete(request, x, r, i)
		}
	case callWaitsome, callTestsome:
		for i, which := range r.second {
			if which >= 0 && int(which) < len(r.list) {
				p.complete(r.list[which], x, r, i)
			}
		}
	}
}

// fill puts the arguments of a send or receive together.
func (p *process) fill(x transfer, count, kind, peer, tag, comm int32) transfer {
	x.size, x.peer, x.tag, x.comm = p.sizeOf(count, kind), peer, tag, p.comms.of(comm)
	return x
}

func (p *process) send(x transfer) {
	switch {
	case x.peer < 0: // MPI_PROC_NULL
	case x.comm < 0:
		p.lost++
	default:
		p.sent = append(p.sent, x)
	}
}

// receive takes a finished one. The status says who sent it, where the call did not.
func (p *process) receive(x transfer, r *record, which int) {
	x.size = -1 // of the buffer, not of the message
	if which < len(r.statuses) {
		s := r.statuses[which]
		x.size = int64(s.bytes)
		if x.peer < 0 {
			x.peer = s.source
		}
		if x.tag < 0 {
			x.tag = s.tag
		}
	}
	switch {
	case x.peer < 0 || x.tag < 0:
		p.unsure++
	case x.comm < 0:
		p.lost++
	default:
		p.received = append(p.received, x)
	}
}

func (p *process) start(request int32, x transfer) {
	t, ok := p.prepared[request]
	if !ok {
		return
	}
	t.at, t.time, t.region = x.at, x.time, x.region
	if t.receives {
		p.pending[request] = t
	} else {
		p.send(t)
	}
}

// complete ends a request; those of sends are none that is pending.
func (p *process) complete(request int32, x transfer, r *record, which int) {
	t, ok := p.pending[request]
	if !ok {
		return
	}
	delete(p.pending, request)
	t.at, t.time, t.region = x.at, x.time, x.region
	p.receive(t, r, which)
}
