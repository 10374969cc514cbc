package recorder

import (
	"bytes"
	"math"
)

// A program is the part that version 2 adds to a record: the process's place in the job, and the names of its calls.
type program struct {
	size    int32 // processes of the job, -1 for none
	host    string
	pid     int64 // -1: it is not known
	drift   int64 // how much the clock went off against that of rank 0, ns
	aborted bool
	outside string // state outside of named regions; "" if unknown
	running bool   // it was when this was written
	names   *names
}

// names of calls and regions by number; 0 stands for none.
type names struct {
	list []string
	raw  []byte // as they are in the file
}

// calls are the fields that version 2 adds to a worker.
type calls struct {
	begin    int64 // first time stamp, ns since the start
	nodes    []node
	cells    []cell
	messages []class
	partners []partner
	others   partner // all that found no room among the partners
	// What the system says of the thread: ns on a core, and ns that it could have run and had none; or untold.
	ran, waited uint64
	thread      int64 // its number in the operating system; -1: it is not known
}

const untold = math.MaxUint64

// A node is a region as it was entered from another; node 0 is the program.
type node struct {
	parent, name uint32
	count, time  uint64
}

const noParent = math.MaxUint32

// A cell is all calls of one name from one node.
type cell struct {
	node, name               uint32
	count, time, least, most uint64
	squares                  float64
	bytes                    uint64
	joint                    uint64  // calls that the whole job made together
	entries                  float64 // sum of their times of entry, ns since the start
}

// A class is the messages of one size to one kind of place.
type class struct {
	place, size  uint8
	count, bytes uint64
}

// Kinds of places.
const (
	placeSelf = iota
	placeHost
	placeAway
	placeCount
)

type partner struct {
	rank         int32
	count, bytes uint64
}

// Least bytes of each, to check counts before memory is asked for.
const (
	nameBytes    = 2
	nodeBytes    = 4 + 4 + 8 + 8
	cellBytes    = 4 + 4 + 4*8 + 8 + 8 + 8 + 8
	classBytes   = 1 + 1 + 8 + 8
	partnerBytes = 4 + 8 + 8
)

// outsides are the possible states outside of named regions.
var outsides = [4]string{"", "idle", "busy", "not recorded"}

// count reads a number of records of at least so many bytes each; more than fit is short.
func (c *cursor) count(bytes int) int {
	n := int(c.u32())
	if n > (len(c.b)-c.at)/bytes {
		c.short = true
		return 0
	}
	return n
}

// parseProgram reads a record of version 2 to 4 behind its length.
func parseProgram(c *cursor, r *record, version byte) *fault {
	if r.program == nil {
		r.program = &program{}
	}
	p := r.program
	p.size = int32(c.u32())
	r.name, p.host = c.textLike(r.name), c.textLike(p.host)
	p.pid = -1
	if version >= version4 {
		p.pid = known(c.u32())
	}
	p.drift = int64(c.u64())
	how := c.u8()
	p.aborted, p.running, p.outside = how&3 == 1, how&3 == 2, outsides[how>>2&3]
	p.parseNames(c)
	for range c.count(workerBytes) {
		at := c.at
		w := r.worker()
		w.name, w.shift = c.textLike(w.name), c.u8()
		w.calls.begin, w.end, w.dropped = int64(c.u64()), int64(c.u64()), c.u64()
		if w.calls.begin < 0 || w.calls.begin > w.end {
			return malformed(int64(at), "a worker that ends before it begins")
		}
		if bad := w.parseWindows(c, at); bad != nil {
			return bad
		}
		if bad := w.calls.parse(c, len(p.names.list)); bad != nil {
			return bad
		}
		w.calls.ran, w.calls.waited = untold, untold
		if version >= version3 {
			w.calls.ran, w.calls.waited = c.u64(), c.u64()
		}
		w.calls.thread = -1
		if version >= version4 {
			w.calls.thread = known(c.u32())
		}
	}
	return nil
}

// known returns the number of a process or thread; -1 for none.
func known(n uint32) int64 {
	if n == 0 {
		return -1
	}
	return int64(n)
}

// parseNames reads the names, or keeps those of the record before where they are the same.
func (p *program) parseNames(c *cursor) {
	if p.names != nil && bytes.HasPrefix(c.b[c.at:], p.names.raw) {
		c.at += len(p.names.raw)
		return
	}
	at := c.at
	p.names = &names{list: make([]string, 1, 64)}
	for range c.count(nameBytes) {
		p.names.list = append(p.names.list, c.text())
	}
	p.names.raw = bytes.Clone(c.b[at:c.at])
}

// worker returns the next worker of a record, with the memory of one before.
func (r *record) worker() *worker {
	n := len(r.workers)
	if n < cap(r.workers) {
		r.workers = r.workers[:n+1]
	} else {
		r.workers = append(r.workers, worker{})
	}
	w := &r.workers[n]
	if w.calls == nil {
		w.calls = &calls{}
	}
	k := w.calls
	*k = calls{nodes: k.nodes[:0], cells: k.cells[:0], messages: k.messages[:0], partners: k.partners[:0]}
	*w = worker{name: w.name, windows: w.windows[:0], calls: k}
	return w
}

func (k *calls) parse(c *cursor, names int) *fault {
	for i := range c.count(nodeBytes) {
		n := node{c.u32(), c.u32(), c.u64(), c.u64()}
		if n.name == 0 || int(n.name) >= names || (i == 0) != (n.parent == noParent) || i > 0 && int(n.parent) >= i {
			return malformed(int64(c.at-nodeBytes), "region %d that cannot be", i)
		}
		k.nodes = append(k.nodes, n)
	}
	if len(k.nodes) == 0 {
		return malformed(int64(c.at), "a worker without a program")
	}
	for range c.count(cellBytes) {
		x := cell{node: c.u32(), name: c.u32(), count: c.u64(), time: c.u64(), least: c.u64(), most: c.u64(),
			squares: c.f64(), bytes: c.u64(), joint: c.u64(), entries: c.f64()}
		if int(x.node) >= len(k.nodes) || x.name == 0 || int(x.name) >= names || x.joint > x.count ||
			!(x.squares >= 0) || math.IsNaN(x.entries) || math.IsInf(x.entries+x.squares, 0) {
			return malformed(int64(c.at-cellBytes), "a call that cannot be")
		}
		k.cells = append(k.cells, x)
	}
	for range c.count(classBytes) {
		x := class{c.u8(), c.u8(), c.u64(), c.u64()}
		if x.place >= placeCount || x.size > 63 {
			return malformed(int64(c.at-classBytes), "messages of a class that cannot be")
		}
		k.messages = append(k.messages, x)
	}
	for range c.count(partnerBytes) {
		k.partners = append(k.partners, partner{int32(c.u32()), c.u64(), c.u64()})
	}
	k.others = partner{rank: -1, count: c.u64(), bytes: c.u64()}
	return nil
}
