package view

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"slices"
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

var (
	jsonMarshaler = reflect.TypeFor[json.Marshaler]()
	textMarshaler = reflect.TypeFor[encoding.TextMarshaler]()
)

// appendFinite writes what package json would, and null for what it refuses.
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
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		value := v.Field(i)
		if f.Anonymous && name == "" {
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
		if !f.IsExported() || name == "-" && options == "" {
			continue
		}
		if strings.Contains(options, "omitempty") && isEmpty(value) || strings.Contains(options, "omitzero") && value.IsZero() {
			continue
		}
		if name == "" {
			name = f.Name
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
