package jfr

import (
	"encoding/binary"
	"math/bits"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

var magic = []byte("FLR\x00")

// headSize is the length of a chunk's head.
const headSize = 68

// A chunk is a part of a recording that is whole in itself.
type chunk struct {
	data       []byte // with its head
	at         int64  // in the file
	startNanos int64
	startTicks int64
	perSecond  uint64
	classes    map[int64]*class
	pools      map[int64]map[int64]value // by class and number
	stacks     map[int64]stackTrace
	methods    *class // nil: there are none
	lost       int64  // bytes behind the readable part
}

// A frame of a stack: a constant of methods, and the line.
type frame struct {
	method int64
	line   int32
}

type stackTrace struct {
	frames []frame
	cut    bool
}

// newChunk reads the head.
func newChunk(data []byte, at int64) *chunk {
	be := binary.BigEndian
	return &chunk{
		data: data, at: at, startNanos: int64(be.Uint64(data[32:])), startTicks: int64(be.Uint64(data[48:])),
		perSecond: be.Uint64(data[56:]),
		classes:   map[int64]*class{}, pools: map[int64]map[int64]value{}, stacks: map[int64]stackTrace{},
	}
}

// time turns ticks into ns since 1970.
func (k *chunk) time(ticks int64) trace.Time {
	return trace.Time(k.startNanos + k.span(ticks-k.startTicks))
}

// span turns a number of ticks into ns.
func (k *chunk) span(ticks int64) int64 {
	if k.perSecond == 0 || k.perSecond == 1e9 {
		return ticks
	}
	n, negative := uint64(ticks), ticks < 0
	if negative {
		n = -n
	}
	high, low := bits.Mul64(n, 1e9)
	if high >= k.perSecond {
		return 0
	}
	q, _ := bits.Div64(high, low, k.perSecond)
	if q > 1<<62 {
		q = 1 << 62
	}
	if negative {
		return -int64(q)
	}
	return int64(q)
}

// events passes each event to f: its type, and its fields.
func (k *chunk) events(f func(kind int64, c *cursor)) {
	for at := headSize; at < len(k.data); {
		c := cursorOf(k.data[at:])
		size := c.number()
		if c.Failed() || size < c.Offset()+1 || size > int64(len(k.data)-at) {
			k.lost = int64(len(k.data) - at)
			return
		}
		c = cursorOf(k.data[at+int(c.Offset()) : at+int(size)])
		kind := c.number()
		f(kind, c)
		at += int(size)
	}
}

// define reads types, then constants, wherever in the chunk they stand. Broken entries are counted.
func (k *chunk) define() (broken int64) {
	k.events(func(kind int64, c *cursor) {
		if kind != 0 {
			return
		}
		classes := metadata(c)
		if classes == nil {
			broken++
		}
		for id, x := range classes {
			k.classes[id] = x
			if x.name == "jdk.types.Method" {
				k.methods = x
			}
		}
	})
	k.events(func(kind int64, c *cursor) {
		if kind == 1 && !k.constants(c) {
			broken++
		}
	})
	return broken
}

// constants reads the pools of an event.
func (k *chunk) constants(c *cursor) bool {
	c.number() // begin
	c.number() // duration
	c.number() // where the one before is
	c.Byte()   // why it was written
	for range c.count() {
		id := c.number()
		x := k.classes[id]
		n := c.count()
		if x == nil || c.Failed() {
			return false // how long its constants are is not known
		}
		if x.name == "jdk.types.StackTrace" {
			k.readStacks(c, x, n)
			continue
		}
		pool := k.pools[id]
		if pool == nil {
			pool = map[int64]value{}
			k.pools[id] = pool
		}
		for range n {
			if c.Failed() {
				return false
			}
			key := c.number()
			if v := x.value(c, 0); !c.Failed() {
				pool[key] = v
			}
		}
	}
	return !c.Failed()
}

// readStacks reads stacks, which are many, into little space.
func (k *chunk) readStacks(c *cursor, x *class, n int) {
	frames := x.field("frames")
	for range n {
		if c.Failed() {
			return
		}
		key := c.number()
		var s stackTrace
		for i := range x.fields {
			if i != frames || !x.fields[i].list || x.fields[i].constant {
				v := x.fields[i].value(c, 0)
				s.cut = s.cut || x.fields[i].name == "truncated" && v.n != 0
				continue
			}
			inner := x.fields[i].class
			count := c.count()
			s.frames = make([]frame, 0, min(count, 1<<12))
			for range count {
				var f frame
				for j := range inner.fields {
					v := inner.fields[j].value(c, 0)
					switch inner.fields[j].name {
					case "method":
						f.method = v.n
					case "lineNumber":
						f.line = int32(v.n)
					}
				}
				if c.Failed() {
					return
				}
				s.frames = append(s.frames, f)
			}
		}
		if !c.Failed() {
			k.stacks[key] = s
		}
	}
}

// constant finds a constant of a class.
func (k *chunk) constant(x *class, n int64) (value, bool) {
	v, ok := k.pools[x.id][n]
	return v, ok
}

// method is the name of a method, with its class.
func (k *chunk) method(id int64) string {
	if k.methods == nil {
		return ""
	}
	return k.text(k.methods, value{kind: constant, n: id}, 0)
}

// text is a value for people; "" where it has none.
func (k *chunk) text(x *class, v value, depth int) string {
	if depth > deepest {
		return ""
	}
	switch v.kind {
	case text:
		return v.s
	case constant:
		c, ok := k.constant(x, v.n)
		if !ok {
			return ""
		}
		return k.text(x, c, depth+1)
	case structure:
		return k.structureText(x, v, depth)
	}
	return ""
}

// structureText names a structure: by its name, or by its only string.
func (k *chunk) structureText(x *class, v value, depth int) string {
	member := func(name string) string {
		if i := x.field(name); i >= 0 && i < len(v.list) {
			return k.text(x.fields[i].class, v.list[i], depth+1)
		}
		return ""
	}
	switch x.name {
	case "java.lang.Class":
		name, _, _ := strings.Cut(dotted(member("name")), "+0x") // hidden classes carry an address, which means nothing
		return name
	case "jdk.types.Method":
		owner, name := member("type"), member("name")
		if owner == "" {
			return name
		}
		return owner + "." + name
	case "java.lang.Thread":
		if name := member("javaName"); name != "" {
			return name
		}
		return member("osName")
	}
	for _, name := range []string{"name", "javaName", "string", "cause", "type", "description"} {
		if s := member(name); s != "" {
			return dotted(s)
		}
	}
	for i := range v.list {
		if i < len(x.fields) {
			if s := k.text(x.fields[i].class, v.list[i], depth+1); s != "" {
				return s
			}
		}
	}
	return ""
}

// dotted writes names of classes as Java does.
func dotted(name string) string {
	b := []byte(name)
	for i := range b {
		if b[i] == '/' {
			b[i] = '.'
		}
	}
	return string(b)
}
