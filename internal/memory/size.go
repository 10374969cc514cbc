package memory

import (
	"reflect"
)

// A Sizer computes how many bytes a value refers to, by walking it. In long lists some elements are visited and
// stand for the rest.
type Sizer struct {
	// Stop reports whether values of a type belong to another owner.
	Stop func(reflect.Type) bool
	// Shared maps addresses to kept values that are counted by themselves; Found lists those met.
	Shared map[uintptr]*Held
	Found  []*Held

	seen  map[place]bool
	steps int
}

type place struct {
	at   uintptr
	kind reflect.Type
}

const (
	sampled  = 512     // elements of a list that are looked at
	maxSteps = 1 << 18 // a walk ends, however the value is built
)

// Ignore makes values count for nothing: lists and pointers that many share.
func (s *Sizer) Ignore(values ...any) {
	for _, x := range values {
		v := reflect.ValueOf(x)
		switch v.Kind() {
		case reflect.Pointer, reflect.Map:
			s.visit(v.Pointer(), v.Type())
		case reflect.Slice:
			s.visit(v.Pointer(), v.Type())
		}
	}
}

// Of returns the size of a value and of everything it points to.
func (s *Sizer) Of(x any) int64 {
	if x == nil {
		return 0
	}
	v := reflect.ValueOf(x)
	return int64(v.Type().Size()) + s.beyond(v)
}

func (s *Sizer) visit(at uintptr, t reflect.Type) (first bool) {
	if s.seen == nil {
		s.seen = map[place]bool{}
	}
	p := place{at, t}
	first = !s.seen[p]
	s.seen[p] = true
	return first
}

// beyond returns the size of everything a value points to.
func (s *Sizer) beyond(v reflect.Value) int64 {
	if s.steps++; s.steps > maxSteps {
		return 0
	}
	t := v.Type()
	if s.Stop != nil && s.Stop(t) {
		return 0
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() || !s.visit(v.Pointer(), t) || s.isShared(v.Pointer()) {
			return 0
		}
		return int64(t.Elem().Size()) + s.beyond(v.Elem())
	case reflect.Interface:
		if v.IsNil() {
			return 0
		}
		e := v.Elem()
		if e.Kind() == reflect.Pointer || e.Kind() == reflect.Map {
			return s.beyond(e)
		}
		return int64(e.Type().Size()) + s.beyond(e)
	case reflect.String:
		return int64(v.Len())
	case reflect.Slice:
		if v.IsNil() || v.Cap() == 0 || !s.visit(v.Pointer(), t) {
			return 0
		}
		return int64(v.Cap())*int64(t.Elem().Size()) + s.elements(v)
	case reflect.Array:
		return s.elements(v)
	case reflect.Struct:
		var n int64
		for i := range v.NumField() {
			if points(v.Field(i).Type()) {
				n += s.beyond(v.Field(i))
			}
		}
		return n
	case reflect.Map:
		return s.table(v)
	}
	return 0
}

func (s *Sizer) isShared(at uintptr) bool {
	h, ok := s.Shared[at]
	if ok {
		s.Found = append(s.Found, h)
	}
	return ok
}

func (s *Sizer) elements(v reflect.Value) int64 {
	if !points(v.Type().Elem()) || v.Len() == 0 {
		return 0
	}
	n, step := int64(0), max(1, v.Len()/sampled)
	looked := int64(0)
	for i := 0; i < v.Len(); i += step {
		n += s.beyond(v.Index(i))
		looked++
	}
	return n * int64(v.Len()) / looked
}

// table is the size of a map: a map needs about half as much again as its entries.
func (s *Sizer) table(v reflect.Value) int64 {
	t := v.Type()
	if v.IsNil() || v.Len() == 0 || !s.visit(v.Pointer(), t) {
		return 0
	}
	n := int64(v.Len()) * int64(t.Key().Size()+t.Elem().Size()) * 3 / 2
	if !points(t.Key()) && !points(t.Elem()) {
		return n
	}
	inside, looked := int64(0), int64(0)
	for it := v.MapRange(); it.Next() && looked < sampled; looked++ {
		inside += s.beyond(it.Key()) + s.beyond(it.Value())
	}
	return n + inside*int64(v.Len())/looked
}

// points reports whether values of a type may hold on to others.
func points(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer, reflect.Interface, reflect.String, reflect.Slice, reflect.Map:
		return true
	case reflect.Array:
		return points(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if points(t.Field(i).Type) {
				return true
			}
		}
	}
	return false
}
