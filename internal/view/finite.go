package view

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// NotFinite is said where numbers were left out of JSON.
const NotFinite = "numbers that are not finite, such as sums beyond 1.8e308, are null"

// WriteJSON writes a value as one line of JSON. Numbers that are not finite, which JSON has
// no word for, are null; then it says so.
func WriteJSON(w io.Writer, v any) (allFinite bool, err error) {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	err = e.Encode(v) // writes nothing where it fails
	var bad *json.UnsupportedValueError
	if !errors.As(err, &bad) {
		return true, err
	}
	b, err := appendFinite(nil, reflect.ValueOf(v))
	if err != nil {
		return false, err
	}
	_, err = w.Write(append(b, '\n'))
	return false, err
}

// chunk is how many elements of a long list are written at once.
const chunk = 1024

// writeStream writes a struct as WriteJSON does, its long lists piece by piece: their text is
// several times as large as they are.
func writeStream(w io.Writer, x any) error {
	v := reflect.ValueOf(x)
	b := []byte{'{'}
	for i := range v.NumField() {
		name, value, ok := memberOf(v, i)
		if !ok {
			continue
		}
		if len(b) != 1 {
			b = append(b[:0], ',')
		}
		b = append(strconv.AppendQuote(b, name), ':')
		if !isLong(value) {
			var err error
			if b, err = appendJSON(b, value); err != nil {
				return err
			}
			if _, err = w.Write(b); err != nil {
				return err
			}
			continue
		}
		for at := 0; at < value.Len(); at += chunk {
			part, err := appendJSON(nil, value.Slice(at, min(at+chunk, value.Len())))
			if err != nil {
				return err
			}
			b = append(append(b, "[,"[min(at, 1)]), part[1:len(part)-1]...)
			if _, err := w.Write(b); err != nil {
				return err
			}
			b = b[:0]
		}
		if _, err := w.Write([]byte{']'}); err != nil {
			return err
		}
		b = b[:0]
	}
	_, err := w.Write([]byte{'}'})
	return err
}

// appendJSON leaves a value to package json, which is fast, where that takes it.
func appendJSON(b []byte, v reflect.Value) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	if e.Encode(v.Interface()) == nil {
		return append(b, bytes.TrimSuffix(text.Bytes(), []byte{'\n'})...), nil
	}
	return appendFinite(b, v)
}

// hasLongList reports whether a struct has a long list that json writes field by field.
func hasLongList(v reflect.Value) bool {
	if v.Kind() != reflect.Struct || v.Type().Implements(jsonMarshaler) || v.Type().Implements(textMarshaler) {
		return false
	}
	long := false
	for i := range v.NumField() {
		if v.Type().Field(i).Anonymous {
			return false
		}
		_, value, ok := memberOf(v, i)
		long = long || ok && isLong(value)
	}
	return long
}

func isLong(v reflect.Value) bool {
	return v.Kind() == reflect.Slice && v.Len() > 4*chunk && v.Type().Elem().Kind() != reflect.Uint8 &&
		!v.Type().Implements(jsonMarshaler) && !v.Type().Implements(textMarshaler)
}

// isFinite reports whether package json has a word for every number of a value.
func isFinite(v reflect.Value) bool { return floats{}.finite(v) }

// floats are the types that were met: whether they may hold floating point numbers, and in which fields. Most lists
// have none, and are not walked.
type floats map[reflect.Type]*floatFields

type floatFields struct {
	any    bool
	fields []int // of a struct
}

func (s floats) of(t reflect.Type) *floatFields {
	if f := s[t]; f != nil {
		return f
	}
	f := &floatFields{any: true} // also of a type within itself
	s[t] = f
	switch t.Kind() {
	case reflect.Float32, reflect.Float64, reflect.Interface:
	case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
		f.any = s.of(t.Elem()).any
	case reflect.Struct:
		for i := range t.NumField() {
			if x := t.Field(i); (x.IsExported() || x.Anonymous) && x.Tag.Get("json") != "-" && s.of(x.Type).any {
				f.fields = append(f.fields, i)
			}
		}
		f.any = len(f.fields) > 0
	default:
		f.any = false
	}
	return f
}

func (s floats) finite(v reflect.Value) bool {
	if !v.IsValid() {
		return true
	}
	f := s.of(v.Type())
	if !f.any {
		return true
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		x := v.Float()
		return !math.IsNaN(x) && !math.IsInf(x, 0)
	case reflect.Pointer, reflect.Interface:
		return v.IsNil() || s.finite(v.Elem())
	case reflect.Struct:
		for _, i := range f.fields {
			if !s.finite(v.Field(i)) {
				return false
			}
		}
	case reflect.Map:
		for it := v.MapRange(); it.Next(); {
			if !s.finite(it.Value()) {
				return false
			}
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if !s.finite(v.Index(i)) {
				return false
			}
		}
	}
	return true
}

// memberOf is a field of a struct as JSON has it; not ok: it has not.
func memberOf(v reflect.Value, i int) (name string, value reflect.Value, ok bool) {
	f := v.Type().Field(i)
	name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	value = v.Field(i)
	if !f.IsExported() || name == "-" && options == "" {
		return "", value, false
	}
	if strings.Contains(options, "omitempty") && isEmpty(value) ||
		strings.Contains(options, "omitzero") && value.IsZero() {
		return "", value, false
	}
	if name == "" {
		name = f.Name
	}
	return name, value, true
}

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// appendFinite writes values as package json does, and null for values that it refuses.
func appendFinite(b []byte, v reflect.Value) ([]byte, error) {
	if !v.IsValid() {
		return append(b, "null"...), nil
	}
	if t := v.Type(); t.Implements(jsonMarshaler) || t.Implements(textMarshaler) {
		return appendPlain(b, v)
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		if f := v.Float(); math.IsNaN(f) || math.IsInf(f, 0) {
			return append(b, "null"...), nil
		}
	case reflect.Pointer, reflect.Interface:
		if v.IsNil() {
			return append(b, "null"...), nil
		}
		return appendFinite(b, v.Elem())
	case reflect.Struct:
		b = append(b, '{')
		b, err := appendFields(b, v)
		return append(b, '}'), err
	case reflect.Map:
		return appendMap(b, v)
	case reflect.Slice:
		if v.IsNil() || v.Type().Elem().Kind() == reflect.Uint8 {
			return appendPlain(b, v)
		}
		return appendList(b, v)
	case reflect.Array:
		return appendList(b, v)
	}
	return appendPlain(b, v)
}

// appendPlain leaves it to package json.
func appendPlain(b []byte, v reflect.Value) ([]byte, error) {
	var text strings.Builder
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(v.Interface())
	var bad *json.UnsupportedValueError
	if errors.As(err, &bad) {
		return append(b, "null"...), nil
	}
	return append(b, strings.TrimSuffix(text.String(), "\n")...), err
}

func appendList(b []byte, v reflect.Value) (_ []byte, err error) {
	b = append(b, '[')
	for i := range v.Len() {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendFinite(b, v.Index(i)); err != nil {
			return b, err
		}
	}
	return append(b, ']'), nil
}

func appendMap(b []byte, v reflect.Value) (_ []byte, err error) {
	if v.IsNil() {
		return append(b, "null"...), nil
	}
	byName := map[string]reflect.Value{}
	var names []string
	for it := v.MapRange(); it.Next(); {
		name := fmt.Sprint(it.Key().Interface())
		byName[name] = it.Value()
		names = append(names, name)
	}
	slices.Sort(names)
	b = append(b, '{')
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = appendMember(b, name, byName[name]); err != nil {
			return b, err
		}
	}
	return append(b, '}'), nil
}

func appendMember(b []byte, name string, v reflect.Value) ([]byte, error) {
	b, err := appendPlain(b, reflect.ValueOf(name))
	if err != nil {
		return b, err
	}
	return appendFinite(append(b, ':'), v)
}

// appendFields writes the members of a struct, and those of structs that it embeds.
func appendFields(b []byte, v reflect.Value) (_ []byte, err error) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous && strings.Split(f.Tag.Get("json"), ",")[0] == "" {
			value := v.Field(i)
			if value.Kind() == reflect.Pointer {
				if value.IsNil() {
					continue
				}
				value = value.Elem()
			}
			if value.Kind() == reflect.Struct {
				if b, err = appendFields(b, value); err != nil {
					return b, err
				}
				continue
			}
		}
		name, value, ok := memberOf(v, i)
		if !ok {
			continue
		}
		if last := b[len(b)-1]; last != '{' {
			b = append(b, ',')
		}
		if b, err = appendMember(b, name, value); err != nil {
			return b, err
		}
	}
	return b, nil
}

func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String, reflect.Array:
		return v.Len() == 0
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
