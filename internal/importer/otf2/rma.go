package otf2

import (
	"github.com/parallax-hpc/parallax/internal/match"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// An observer follows counters and accesses: metrics, files, windows of memory.
type observer struct {
	threader

	rma     map[uint64]rmaOperation
	metrics map[uint64][]series
}

// An rmaOperation is a put, get or atomic that is under way. Only its origin is
// recorded, so the link ends when the origin knows of its completion.
type rmaOperation struct {
	link   trace.Link
	from   trace.Time
	remote int32
	get    bool
	region trace.RegionID
}

var (
	atomicNames = []string{"accumulate", "increment", "test and set", "compare and swap", "swap", "fetch and add",
		"fetch and increment", "fetch and accumulate"}
	syncNames     = []string{"memory", "notify in", "notify out"}
	lockTypeNames = []string{"exclusive", "shared"}
)

func wordOf(list []string, i uint8) trace.Value {
	if int(i) < len(list) {
		return trace.Text(list[i])
	}
	return trace.Integer(int64(i))
}

// oneSided takes records of remote memory access.
func (r *observer) oneSided(id uint8, f *fields) {
	n := &r.a.names
	switch id {
	case evRmaCollectiveBegin:
		return
	case evRmaCollectiveEnd:
		r.rmaCollective(f)
		return
	case evRmaGroupSync:
		f.uint32() // level
		r.addWindow(f.uint32())
		f.uint32() // group
		return
	}
	ref := f.uint32()
	switch id {
	case evRmaPut, evRmaGet, evRmaAtomic:
		r.rmaBegin(id, ref, f)
	case evRmaOpCompleteBlocking, evRmaOpCompleteNonBlocking, evRmaOpCompleteRemote:
		r.rmaEnd(f.uint64())
	case evRmaOpTest:
		f.uint64()
		r.tally.tests++
	default: // windows, locks and synchronization
		r.addWindow(ref)
		r.rmaFacts(id, f, n)
	}
}

func (r *observer) rmaFacts(id uint8, f *fields, n *names) {
	switch id {
	case evRmaRequestLock, evRmaAcquireLock, evRmaTryLock, evRmaReleaseLock:
		r.add(r.a.name(&n.remote), bytesValue(uint64(f.uint32())))
		r.add(r.a.name(&n.lock), bytesValue(f.uint64()))
		if id != evRmaReleaseLock {
			r.add(r.a.name(&n.lockType), wordOf(lockTypeNames, f.uint8()))
		}
	case evRmaSync:
		r.add(r.a.name(&n.remote), bytesValue(uint64(f.uint32())))
		r.add(r.a.name(&n.sync), wordOf(syncNames, f.uint8()))
	}
	if f.bad {
		r.facts = r.facts[:0]
	}
}

func (r *observer) rmaCollective(f *fields) {
	n := &r.a.names
	op := f.uint8()
	f.uint32() // level
	r.addWindow(f.uint32())
	root, sent, received := f.uint32(), f.uint64(), f.uint64()
	if f.bad {
		r.facts = r.facts[:0]
		return
	}
	if int(op) < len(match.Operations) {
		r.add(r.a.name(&n.operation), trace.Text(match.Operations[op].Name))
	}
	if root < match.RootThisGroup {
		r.add(r.a.name(&n.root), trace.Integer(int64(root)))
	}
	r.add(r.a.name(&n.sent), bytesValue(sent))
	r.add(r.a.name(&n.received), bytesValue(received))
}

func (r *observer) window(ref uint32) (rmaWin, bool) {
	return r.a.defs.windows.get(r.local.global(mapRmaWin, uint64(ref)))
}

func (r *observer) addWindow(ref uint32) {
	if w, ok := r.window(ref); ok {
		name := r.a.defs.text(w.name)
		if name == "" {
			name = "window " + decimal(uint64(ref))
		}
		r.add(r.a.name(&r.a.names.window), trace.Text(name))
	}
}

// rmaBegin begins a transfer. A get goes from the remote to here.
func (r *observer) rmaBegin(id uint8, ref uint32, f *fields) {
	rank := f.uint32()
	o := rmaOperation{from: r.now, get: id == evRmaGet, region: r.innermost().Region}
	if id == evRmaAtomic {
		r.add(r.a.name(&r.a.names.operation), wordOf(atomicNames, f.uint8()))
	}
	bytes := f.uint64()
	if id == evRmaAtomic {
		f.uint64() // received
	}
	matching := f.uint64()
	w, ok := r.window(ref)
	if f.bad || !ok {
		r.tally.partners++
		return
	}
	i, ok := r.a.defs.commIndex.get(uint64(w.comm))
	if !ok {
		r.tally.partners++
		return
	}
	c := &r.a.comms[i]
	if o.remote = c.partner(uint64(rank), r.at); o.remote < 0 {
		r.tally.partners++
		return
	}
	o.link = trace.Link{Kind: trace.LinkMessage, Size: int64(bytes), Communicator: c.id}
	if len(r.rma) < mostOpen {
		r.rma[matching] = o
	} else {
		r.tally.rma++
	}
}

// rmaEnd ends all transfers of a matching number.
func (r *observer) rmaEnd(matching uint64) {
	o, ok := r.rma[matching]
	if !ok {
		return
	}
	delete(r.rma, matching)
	r.rmaLink(&o)
}

func (r *observer) rmaLink(o *rmaOperation) {
	origin := trace.End{Location: r.a.tree.places[r.at].id, Time: o.from, Region: o.region}
	remote := trace.End{Location: r.a.tree.places[o.remote].id, Time: r.now, Region: trace.NoRegion}
	l := o.link
	l.From, l.To = origin, remote
	if o.get {
		origin.Time, remote.Time = r.now, o.from
		origin.Region = trace.NoRegion
		l.From, l.To = remote, origin
	}
	r.a.w.Link(l)
}

// endRMA counts the transfers whose completion is not recorded.
func (r *observer) endRMA() {
	r.tally.rma += int64(len(r.rma))
	for _, k := range sortedKeys(r.rma) {
		o := r.rma[k]
		r.now = o.from
		r.rmaLink(&o)
	}
	clear(r.rma)
}
