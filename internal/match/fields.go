package match

import (
	"encoding"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
)

// What parts of a run tell each other is written field by field, in the order of its type: both sides are the same
// program. Numbers are varints; lists, texts and maps begin with their length.

// ErrFields reports bytes that are not the fields of a value.
var ErrFields = errors.New("damaged")

// Fields returns the bytes of the value at v.
func Fields(v any) ([]byte, error) { return appendFields(nil, reflect.ValueOf(v).Elem()) }

// TellFields tells the fields of the value at v to the part that is read.
func TellFields(to Sharer, v any) error {
	b, err := Fields(v)
	if err == nil {
		to.Tell(Facts{Told: b})
	}
	return err
}

// SetFields sets the value at v from its bytes.
func SetFields(v any, b []byte) error {
	r := fieldReader{b: b}
	r.value(reflect.ValueOf(v).Elem())
	if r.bad || len(r.b) > 0 {
		return ErrFields
	}
	return nil
}

func appendFields(b []byte, v reflect.Value) (_ []byte, err error) {
	if m, ok := v.Interface().(encoding.BinaryMarshaler); ok {
		text, err := m.MarshalBinary()
		return append(binary.AppendUvarint(b, uint64(len(text))), text...), err
	}
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(b, 1), nil
		}
		return append(b, 0), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(b, v.Int()), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(b, v.Uint()), nil
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(b, math.Float64bits(v.Float())), nil
	case reflect.String:
		return append(binary.AppendUvarint(b, uint64(v.Len())), v.String()...), nil
	case reflect.Pointer:
		if v.IsNil() {
			return append(b, 0), nil
		}
		return appendFields(append(b, 1), v.Elem())
	case reflect.Slice:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		for i := 0; i < v.Len() && err == nil; i++ {
			b, err = appendFields(b, v.Index(i))
		}
		return b, err
	case reflect.Array:
		for i := 0; i < v.Len() && err == nil; i++ {
			b, err = appendFields(b, v.Index(i))
		}
		return b, err
	case reflect.Map:
		b = binary.AppendUvarint(b, uint64(v.Len()))
		keys := v.MapKeys()
		slices.SortFunc(keys, func(x, y reflect.Value) int { return strings.Compare(x.String(), y.String()) })
		for _, k := range keys {
			if b, err = appendFields(b, k); err == nil {
				b, err = appendFields(b, v.MapIndex(k))
			}
			if err != nil {
				return nil, err
			}
		}
		return b, nil
	case reflect.Struct:
		for i := 0; i < v.NumField() && err == nil; i++ {
			b, err = appendFields(b, v.Field(i))
		}
		return b, err
	}
	return nil, errors.New("a state of kind " + v.Kind().String())
}

type fieldReader struct {
	b   []byte
	bad bool
}

func (r *fieldReader) uvarint() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.bad = true
		return 0
	}
	r.b = r.b[size:]
	return n
}

// length reads a length; what it is of takes a byte each at least.
func (r *fieldReader) length() int {
	n := r.uvarint()
	if n > uint64(len(r.b)) {
		r.bad = true
		return 0
	}
	return int(n)
}

func (r *fieldReader) take(n int) []byte {
	if n > len(r.b) {
		r.bad = true
		return make([]byte, n)
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *fieldReader) value(v reflect.Value) {
	if r.bad {
		return
	}
	if m, ok := v.Addr().Interface().(encoding.BinaryUnmarshaler); ok {
		r.bad = m.UnmarshalBinary(r.take(r.length())) != nil || r.bad
		return
	}
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(r.take(1)[0] != 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, size := binary.Varint(r.b)
		if size <= 0 || v.OverflowInt(n) {
			r.bad = true
			return
		}
		r.b = r.b[size:]
		v.SetInt(n)
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n := r.uvarint()
		if v.OverflowUint(n) {
			r.bad = true
			return
		}
		v.SetUint(n)
	case reflect.Float64:
		v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(r.take(8))))
	case reflect.String:
		v.SetString(string(r.take(r.length())))
	case reflect.Pointer:
		if r.take(1)[0] != 0 {
			v.Set(reflect.New(v.Type().Elem()))
			r.value(v.Elem())
		}
	case reflect.Slice:
		if n := r.length(); n > 0 {
			v.Set(reflect.MakeSlice(v.Type(), n, n))
			for i := 0; i < n && !r.bad; i++ {
				r.value(v.Index(i))
			}
		}
	case reflect.Array:
		for i := 0; i < v.Len(); i++ {
			r.value(v.Index(i))
		}
	case reflect.Map:
		n := r.length()
		v.Set(reflect.MakeMapWithSize(v.Type(), n))
		for i := 0; i < n && !r.bad; i++ {
			k, x := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			r.value(k)
			r.value(x)
			v.SetMapIndex(k, x)
		}
	case reflect.Struct:
		for i := 0; i < v.NumField(); i++ {
			r.value(v.Field(i))
		}
	default:
		r.bad = true
	}
}
