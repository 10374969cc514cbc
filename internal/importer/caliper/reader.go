package caliper

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/parallax-hpc/parallax/internal/importer"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostLine bounds a line: lists of libraries make long ones.
const mostLine = 16 << 20

// Nodes that every stream has without writing them: the types, and the attributes of attributes.
const (
	nodeUser    = 0
	nodeInt     = 1
	nodeUint    = 2
	nodeString  = 3
	nodeAddress = 4
	nodeDouble  = 5
	nodeBool    = 6
	nodeType    = 7

	attributeName       = 8
	attributeType       = 9
	attributeProperties = 10
)

// Properties of attributes, as bits.
const (
	propertyAsValue = 1
	propertyHidden  = 128
	propertyNested  = 256
	propertyGlobal  = 512
)

// A node is a value under a value.
type node struct {
	attribute int32
	parent    int32 // -1 at the top
	data      string
}

// An attribute is the name, type and properties of values.
type attribute struct {
	name, alias, unit string
	kind              int // one of the types
	properties        int
}

// A stream reads lines of fields.
type stream struct {
	nodes      map[int32]node
	attributes map[int32]*attribute
	to         *converter
	label      string
	line       int64
	fields     [][2][]byte
	values     [][]byte
}

func readStream(ctx context.Context, in io.Reader, label string, to *converter) error {
	s := &stream{nodes: map[int32]node{}, attributes: map[int32]*attribute{}, to: to, label: label}
	r := bufio.NewReaderSize(in, 256<<10)
	var long []byte
	snapshots := 0
	for {
		part, err := r.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			if long = append(long, part...); len(long) > mostLine {
				return importer.Malformed(label, fmt.Sprintf("line %d", s.line+1), "a line of more than %d bytes",
					mostLine)
			}
			continue
		}
		whole := part
		if len(long) > 0 {
			whole = append(long, part...)
			long = long[:0]
		}
		s.line++
		if s.line%1024 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if len(whole) > 0 {
			if err != nil && whole[len(whole)-1] != '\n' {
				s.leave(trace.MissingRest, "lines that the end of the file cuts")
			} else if s.record(trimEnd(whole)) {
				snapshots++
			}
		}
		switch {
		case err == nil:
		case errors.Is(err, io.EOF):
			if snapshots == 0 {
				return importer.Malformed(label, "", "holds no snapshot")
			}
			return ctx.Err()
		default:
			var packed *importer.Error
			if snapshots > 0 && errors.As(err, &packed) {
				s.leave(trace.MissingRest, "the rest of a file that breaks off")
				return nil
			}
			return err
		}
	}
}

func trimEnd(b []byte) []byte {
	for len(b) > 0 && (b[len(b)-1] == '\n' || b[len(b)-1] == '\r') {
		b = b[:len(b)-1]
	}
	return b
}

func (s *stream) leave(consequence trace.ReportKind, what string) {
	s.to.w.Report(consequence, what, 1, fmt.Sprintf("%s: line %d", s.label, s.line))
}

// record takes one line, and reports whether it was a snapshot.
func (s *stream) record(line []byte) bool {
	if len(line) == 0 {
		return false
	}
	s.split(line)
	switch string(s.field("__rec")) {
	case "node":
		s.node()
	case "ctx":
		return s.snapshot(false)
	case "globals":
		s.snapshot(true)
	default:
		s.leave(trace.MissingEvents, "lines that are no record of Caliper")
	}
	return false
}

// split cuts a line at commas that are not escaped.
func (s *stream) split(line []byte) {
	s.fields = s.fields[:0]
	for len(line) > 0 {
		end := unescaped(line, ',')
		field := line[:end]
		line = line[min(end+1, len(line)):]
		if eq := unescaped(field, '='); eq < len(field) {
			s.fields = append(s.fields, [2][]byte{field[:eq], field[eq+1:]})
		}
	}
}

// unescaped finds a byte without a backslash before it, else the end.
func unescaped(b []byte, c byte) int {
	for i := 0; i < len(b); i++ {
		switch b[i] {
		case '\\':
			i++
		case c:
			return i
		}
	}
	return len(b)
}

func (s *stream) field(name string) []byte {
	for _, f := range s.fields {
		if string(f[0]) == name {
			return f[1]
		}
	}
	return nil
}

// list cuts a field at equal signs; it is valid until the next call.
func (s *stream) list(name string) [][]byte {
	s.values = s.values[:0]
	rest := s.field(name)
	for len(rest) > 0 {
		end := unescaped(rest, '=')
		s.values = append(s.values, rest[:end])
		rest = rest[min(end+1, len(rest)):]
	}
	return s.values
}

// plain is a text without its escapes.
func plain(b []byte) string {
	out := make([]byte, 0, len(b))
	for i := 0; i < len(b); i++ {
		if b[i] == '\\' && i+1 < len(b) {
			if i++; b[i] == 'n' {
				out = append(out, '\n')
				continue
			}
		}
		out = append(out, b[i])
	}
	return string(out)
}

func number(b []byte) (int32, bool) {
	n, err := strconv.ParseInt(string(b), 10, 32)
	return int32(n), err == nil && n >= 0
}

// node takes a node, and makes an attribute of it where it names one.
func (s *stream) node() {
	id, ok1 := number(s.field("id"))
	attr, ok2 := number(s.field("attr"))
	if !ok1 || !ok2 {
		s.leave(trace.MissingNames, "nodes without a number")
		return
	}
	n := node{attribute: attr, parent: -1, data: plain(s.field("data"))}
	if p, ok := number(s.field("parent")); ok {
		n.parent = p
	}
	s.nodes[id] = n
	if attr != attributeName {
		return
	}
	a := &attribute{name: n.data, kind: nodeUser}
	for at, depth := n.parent, 0; at >= 0 && depth < 64; depth++ {
		if at <= nodeType {
			a.kind = int(at)
			break
		}
		up, ok := s.nodes[at]
		if !ok {
			break
		}
		switch {
		case up.attribute == attributeProperties:
			a.properties, _ = strconv.Atoi(up.data)
		case s.attributes[up.attribute] == nil:
		case s.attributes[up.attribute].name == "attribute.unit":
			a.unit = up.data
		case s.attributes[up.attribute].name == "attribute.alias":
			a.alias = up.data
		}
		at = up.parent
	}
	s.attributes[id] = a
}

// snapshot takes a context record: its references and its own values.
func (s *stream) snapshot(globals bool) bool {
	snap := s.to.begin()
	for _, ref := range s.list("ref") {
		id, ok := number(ref)
		if !ok {
			s.leave(trace.MissingDetails, "references that are no number")
			continue
		}
		s.walk(id, snap)
	}
	attrs := append([][]byte(nil), s.list("attr")...)
	data := s.list("data")
	if len(attrs) != len(data) {
		s.leave(trace.MissingEvents, "snapshots with another number of values than of attributes")
		return false
	}
	for i := range attrs {
		id, ok := number(attrs[i])
		a := s.attributes[id]
		if !ok || a == nil {
			s.leave(trace.MissingValues, "values of an attribute that is not defined")
			continue
		}
		snap.value(a, plain(data[i]))
	}
	if globals {
		s.to.globals(snap)
		return false
	}
	s.to.add(snap, fmt.Sprintf("%s: line %d", s.label, s.line))
	return true
}

// walk takes the values from a node up to the top, innermost first. Each node is met once.
func (s *stream) walk(id int32, snap *snapshot) {
	from := len(snap.path)
	for depth := 0; id > attributeProperties; depth++ {
		n, ok := s.nodes[id]
		if !ok || depth > 1<<16 {
			s.leave(trace.MissingDetails, "references to a node that is not defined, or to a cycle")
			break
		}
		if a := s.attributes[n.attribute]; a != nil {
			snap.value(a, n.data)
		}
		id = n.parent
	}
	reverse(snap.path[from:])
}

func reverse(p []step) {
	for i, k := 0, len(p)-1; i < k; i, k = i+1, k-1 {
		p[i], p[k] = p[k], p[i]
	}
}
