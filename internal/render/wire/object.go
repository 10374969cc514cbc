package wire

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"unicode"
)

// An object is a JSON object whose fields keep their order.
type object []field

type field struct {
	name  string
	value any
}

// MarshalJSON implements json.Marshaler.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, f := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(f.value)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// NameOf returns the name that a field of a scene has on the wire: its own, starting with a small letter; of one that
// begins with several capitals, such as PX, all are small.
func NameOf(goName string) string {
	if strings.ToUpper(goName) == goName {
		return strings.ToLower(goName)
	}
	first := []rune(goName)
	first[0] = unicode.ToLower(first[0])
	return string(first)
}

// plain returns a value of a scene as it is written in JSON: structs by the names of their fields, numbers finite,
// lists never null.
func plain(v reflect.Value) any {
	switch v.Kind() {
	case reflect.Struct:
		o := make(object, 0, v.NumField())
		for i := range v.NumField() {
			o = append(o, field{NameOf(v.Type().Field(i).Name), plain(v.Field(i))})
		}
		return o
	case reflect.Slice, reflect.Array:
		out := make([]any, v.Len())
		for i := range out {
			out[i] = plain(v.Index(i))
		}
		return out
	case reflect.Float32, reflect.Float64:
		return finite(v.Float())
	default:
		return v.Interface()
	}
}

// set changes a field of an object.
func (o object) set(name string, value any) {
	for i := range o {
		if o[i].name == name {
			o[i].value = value
		}
	}
}

// finite makes a number fit for JSON: one that is not finite becomes 0.
func finite[T float32 | float64](x T) float64 {
	if f := float64(x); !math.IsNaN(f) && !math.IsInf(f, 0) {
		return f
	}
	return 0
}
