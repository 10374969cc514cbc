package hpctoolkit

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"strings"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// A meta holds the definitions of meta.db.
type meta struct {
	image
	title    string
	kinds    []string // of identifiers
	metrics  []metric
	byID     map[uint16]int  // metric of a propagated value over the whole execution
	values   map[uint16]bool // all propagated values of metrics
	contexts contexts
}

// A metric is a metric with its value over the whole execution.
type metric struct {
	trace.Metric
	scale float64
	id    trace.MetricID
}

// readMeta reads meta.db whole.
func readMeta(run importer.Run, name string) (*meta, error) {
	f, err := openFile(run, name, "meta")
	if err != nil {
		return nil, err
	}
	defer f.done()
	if f.size > mostMeta {
		return nil, importer.Malformed(f.label, "", "has %d bytes of definitions, more than can be held", f.size)
	}
	b, err := f.bytes(0, f.size)
	if err != nil {
		return nil, err
	}
	m := &meta{image: image{b: b, label: f.label}, byID: map[uint16]int{}, values: map[uint16]bool{}}
	if len(b) < 0x90 {
		return nil, importer.Malformed(f.label, fmt.Sprintf("byte %d", len(b)), "ends within its header")
	}
	m.general(u64(b, 0x18))
	m.names(u64(b, 0x28))
	m.readMetrics(u64(b, 0x38))
	m.tree(u64(b, 0x48))
	return m, nil
}

func (m *meta) general(at uint64) {
	if h := m.at(at, 16); h != nil {
		m.title = m.text(u64(h, 0))
	}
}

func (m *meta) names(at uint64) {
	h := m.at(at, 9)
	if h == nil {
		return
	}
	for i := range int(h[8]) {
		if p := m.at(u64(h, 0)+8*uint64(i), 8); p != nil {
			m.kinds = append(m.kinds, m.text(u64(p, 0)))
		}
	}
}

// Kinds of propagation.
const scopeExecution = 2

// readMetrics keeps metrics that have a value over the whole execution: the inclusive one.
func (m *meta) readMetrics(at uint64) {
	h := m.at(at, 0x1b)
	if h == nil {
		return
	}
	size, instance := uint64(h[0x0c]), uint64(h[0x0d])
	if size < 0x20 || instance < 0x10 {
		m.bad++
		return
	}
	for i := range uint64(u32(h, 8)) {
		d := m.at(u64(h, 0)+i*size, 0x20)
		if d == nil {
			return
		}
		for k := range uint64(u16(d, 0x18)) {
			p := m.at(u64(d, 8)+k*instance, 0x10)
			if p == nil {
				return
			}
			m.values[u16(p, 8)] = true
			if scope := m.at(u64(p, 0), 0x10); scope != nil && scope[8] == scopeExecution {
				m.byID[u16(p, 8)] = len(m.metrics)
				m.metrics = append(m.metrics, newMetric(m.text(u64(d, 0))))
			}
		}
	}
}

// newMetric takes the unit out of a metric's name: "CPUTIME (sec)".
func newMetric(name string) metric {
	m := metric{Metric: trace.Metric{Name: name}, scale: 1}
	base, unit, _ := strings.Cut(strings.TrimSuffix(name, ")"), " (")
	switch strings.ToLower(unit) {
	case "sec":
		m.Name, m.Unit, m.scale = base, "ns", 1e9
	case "msec":
		m.Name, m.Unit, m.scale = base, "ns", 1e6
	case "usec":
		m.Name, m.Unit, m.scale = base, "ns", 1e3
	case "nsec":
		m.Name, m.Unit = base, "ns"
	case "b", "bytes":
		m.Name, m.Unit = base, "bytes"
	}
	return m
}

// Types of lexical contexts.
const (
	lexicalFunction = 0
	lexicalLoop     = 1
	lexicalLine     = 2
)

// mostDepth bounds the tree, against pointers that form a cycle; contexts are bounded by the file's size.
const mostDepth = 1 << 14

// tree reads the contexts, from the entry points down.
func (m *meta) tree(at uint64) {
	m.contexts = newContexts()
	h := m.at(at, 0x0b)
	if h == nil {
		return
	}
	size := uint64(h[0x0a])
	if size < 0x20 {
		m.bad++
		return
	}
	budget := len(m.b)/0x20 + 1
	for i := range uint64(u16(h, 8)) {
		e := m.at(u64(h, 0)+i*size, 0x20)
		if e == nil {
			return
		}
		name := cmp.Or(m.text(u64(e, 0x18)), "unknown entry")
		node := m.contexts.add(u32(e, 0x10), -1, step{name: name, category: "entry point"})
		m.children(u64(e, 8), u64(e, 0), node, 0, &budget)
	}
}

// children reads an array of contexts. Instructions belong to the node above.
func (m *meta) children(at, size uint64, parent int32, depth int, budget *int) {
	if at == 0 || size == 0 {
		return
	}
	if depth == mostDepth || size > math.MaxInt32 || m.at(at, int(size)) == nil {
		m.bad++
		return
	}
	for end := at + size; at+0x20 <= end; {
		c := m.at(at, 0x20)
		if *budget--; c == nil || *budget < 0 {
			m.bad++
			return
		}
		flex := m.at(at+0x20, 8*int(c[0x17]))
		at += 0x20 + 8*uint64(c[0x17])
		node, id := parent, u32(c, 0x10)
		switch s, lexical := m.step(c, flex); lexical {
		case lexicalFunction, lexicalLoop:
			node = m.contexts.add(id, parent, s)
		case lexicalLine:
			node = m.contexts.addLine(id, parent, s.file, s.line)
		default:
			m.contexts.fold(id, parent)
		}
		m.children(u64(c, 8), u64(c, 0), node, depth+1, budget)
	}
}

// step returns the function, loop or line that a context is, with its type.
func (m *meta) step(c, flex []byte) (s step, lexical byte) {
	flags, lexical := c[0x14], c[0x16]
	word := func() uint64 {
		if len(flex) < 8 {
			m.bad++
			return 0
		}
		v := u64(flex, 0)
		flex = flex[8:]
		return v
	}
	var function, fileAt, line uint64
	if flags&1 != 0 {
		function = word()
	}
	if flags&2 != 0 {
		fileAt, line = word(), word()&math.MaxUint32
	}
	switch lexical {
	case lexicalFunction:
		return m.function(function), lexical
	case lexicalLoop:
		source := path.Base(m.file(fileAt))
		return step{name: fmt.Sprintf("loop at %s:%d", source, line), category: "loop", file: m.file(fileAt),
			line: int(line)}, lexical
	}
	return step{file: m.file(fileAt), line: int(line)}, lexical
}

func (m *meta) file(at uint64) string {
	if at == 0 {
		return ""
	}
	if f := m.at(at, 0x10); f != nil {
		return m.text(u64(f, 8))
	}
	return ""
}

// function reads a function. One without a name is called by its module and place.
func (m *meta) function(at uint64) step {
	s := step{name: "<unknown function>", category: "function"}
	if at == 0 {
		return s
	}
	f := m.at(at, 0x28)
	if f == nil {
		return s
	}
	module := m.file(u64(f, 8)) // a module has its path at the same place
	s.file, s.line = m.file(u64(f, 0x18)), int(u32(f, 0x20))
	switch name := m.text(u64(f, 0)); {
	case name != "":
		s.name = name
	case module != "":
		s.name = fmt.Sprintf("<%s@0x%x>", path.Base(module), u64(f, 0x10))
	}
	return s
}
