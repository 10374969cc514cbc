package ctf

import (
	"fmt"
	"strings"
)

// A linker makes every use of a type its own, so that each has its own slot, and resolves
// the references of sequences and variants.
type linker struct {
	t      *traceClass
	scopes []scope // those read before, outermost first
	made   int
}

type scope struct {
	name string
	root *class
}

// mostClasses bounds how many fields all types of a trace have, since types can hold each other twice.
const mostClasses = 1 << 19

// deepest bounds how deep types nest.
const deepest = 64

// link resolves all types of a trace.
func (t *traceClass) link() error {
	l := &linker{t: t}
	var err error
	if t.header, err = l.scope("packet.header", t.header, nil); err != nil {
		return err
	}
	for _, s := range t.streams {
		before := len(l.scopes)
		for _, part := range []struct {
			name   string
			class  **class
			leaves bool
		}{{"packet.context", &s.context, false}, {"event.header", &s.header, false},
			{"event.context", &s.common, true}} {
			if *part.class, err = l.scope(part.name, *part.class, leavesOf(t, part.leaves)); err != nil {
				return fmt.Errorf("stream %d: %w", s.id, err)
			}
		}
		inner := len(l.scopes)
		for id, e := range s.events {
			if id < mostQuick {
				s.quick = append(s.quick, make([]*eventClass, max(0, int(id)+1-len(s.quick)))...)
				s.quick[id] = e
			}
			if e.context, err = l.scope("context", e.context, leavesOf(t, true)); err != nil {
				return fmt.Errorf("event %s: %w", e.name, err)
			}
			if e.payload, err = l.scope("fields", e.payload, leavesOf(t, true)); err != nil {
				return fmt.Errorf("event %s: %w", e.name, err)
			}
			l.scopes = l.scopes[:inner]
		}
		l.scopes = l.scopes[:before]
		if s.clock == nil {
			s.clock = t.clockOf(s)
		}
	}
	return nil
}

func leavesOf(t *traceClass, wanted bool) map[string]*leaf {
	if wanted {
		return t.leaves
	}
	return nil
}

// clockOf finds the clock of a stream: the one that its times are mapped to, or the only one.
func (t *traceClass) clockOf(s *streamClass) *clock {
	if c := t.clocks[s.clockID]; c != nil {
		return c
	}
	for _, root := range []*class{s.header, s.context} {
		if name := mappedTo(root); name != "" && t.clocks[name] != nil {
			return t.clocks[name]
		}
	}
	if len(t.clocks) == 1 {
		for _, c := range t.clocks {
			return c
		}
	}
	return nil
}

func mappedTo(c *class) string {
	if c == nil {
		return ""
	}
	if c.mapped {
		return c.clock
	}
	for _, f := range c.fields {
		if name := mappedTo(f.class); name != "" {
			return name
		}
	}
	return mappedTo(c.elem)
}

// scope links the type of one part of packets or events.
func (l *linker) scope(name string, c *class, leaves map[string]*leaf) (*class, error) {
	if c == nil {
		return nil, nil
	}
	root, err := l.class(c, nil, name, "", leaves, 0)
	if err != nil {
		return nil, err
	}
	l.scopes = append(l.scopes, scope{name, root})
	return root, nil
}

// class copies a type. outer are the structures around it, innermost last; those hold the fields that
// come before it.
func (l *linker) class(c *class, outer []*class, in, name string, leaves map[string]*leaf, depth int) (*class, error) {
	if l.made++; l.made > mostClasses {
		return nil, fmt.Errorf("the types have more than %d fields", mostClasses)
	}
	if depth > deepest {
		return nil, fmt.Errorf("types nest deeper than %d", deepest)
	}
	out := *c
	out.slot, out.from = -1, -1
	if out.order == native {
		out.order = l.t.order
	}
	out.align = max(1, out.align)
	var err error
	switch c.kind {
	case kindStruct, kindVariant:
		if c.kind == kindVariant {
			if err = l.refer(&out, outer, in); err != nil {
				return nil, err
			}
		}
		out.fields = make([]field, 0, len(c.fields))
		inside := outer
		if c.kind == kindStruct {
			inside = append(append([]*class{}, outer...), &out)
		}
		for _, f := range c.fields {
			below := shown(f.name)
			if name != "" {
				below = name + "." + below
			}
			k, err := l.class(f.class, inside, in, below, leaves, depth+1)
			if err != nil {
				return nil, err
			}
			out.fields = append(out.fields, field{f.name, k})
			if c.kind == kindStruct {
				out.align = max(out.align, k.align)
			}
		}
		return &out, nil
	case kindSequence, kindOptional:
		if err = l.refer(&out, outer, in); err != nil {
			return nil, err
		}
	}
	if c.elem != nil {
		below := leaves
		if c.kind != kindOptional {
			below = nil // elements are told together
		}
		if out.elem, err = l.class(c.elem, outer, in, name, below, depth+1); err != nil {
			return nil, err
		}
		if c.kind == kindArray || c.kind == kindSequence {
			out.align = max(out.align, out.elem.align)
		}
	}
	if leaves != nil && c.kind != kindOptional {
		k := leaves[name]
		if k == nil {
			k = &leaf{name: name}
			leaves[name] = k
		}
		out.leaf = k
	}
	return &out, nil
}

// shown is the name of a field without the underscore that keeps it apart from words of the language.
func shown(name string) string {
	if len(name) > 1 && name[0] == '_' {
		return name[1:]
	}
	return name
}

// refer finds the field that tells a length or chooses an option.
func (l *linker) refer(c *class, outer []*class, in string) error {
	target := l.find(c.ref, outer, in)
	if target == nil {
		return fmt.Errorf("no field %q", strings.TrimPrefix(c.ref.String(), "."))
	}
	if target.kind != kindInteger && target.kind != kindVarInteger {
		return fmt.Errorf("field %q is no integer, so it can be no length and no selector",
			strings.TrimPrefix(c.ref.String(), "."))
	}
	if target.slot < 0 {
		target.slot = l.t.slots
		l.t.slots++
	}
	c.from = target.slot
	if c.kind == kindVariant && c.options == nil {
		for _, r := range target.labels {
			for i, f := range c.fields {
				if f.name == r.label || shown(f.name) == shown(r.label) {
					c.options = append(c.options, optionRange{r.low, r.high, r.wide, i})
				}
			}
		}
		if len(target.labels) == 0 {
			return fmt.Errorf("field %q chooses an option and is no enumeration",
				strings.TrimPrefix(c.ref.String(), "."))
		}
	}
	return nil
}

func (l *linker) find(r reference, outer []*class, in string) *class {
	if r.origin != "" {
		if r.origin == in && len(outer) > 0 {
			return descend(outer[0], r.path)
		}
		for i := len(l.scopes) - 1; i >= 0; i-- {
			if l.scopes[i].name == r.origin {
				return descend(l.scopes[i].root, r.path)
			}
		}
		return nil
	}
	path, up := r.path, len(outer)
	for len(path) > 0 && path[0] == "" {
		path, up = path[1:], up-1
	}
	for i := up - 1; i >= 0; i-- {
		if t := descend(outer[i], path); t != nil {
			return t
		}
	}
	for i := len(l.scopes) - 1; i >= 0; i-- {
		if t := descend(l.scopes[i].root, path); t != nil {
			return t
		}
	}
	return nil
}

func descend(c *class, path []string) *class {
	for _, name := range path {
		if c == nil {
			return nil
		}
		var next *class
		for _, f := range c.fields {
			if f.name == name || shown(f.name) == shown(name) {
				next = f.class
			}
		}
		if next == nil {
			return nil
		}
		c = next
	}
	return c
}
