package operator

import (
	"encoding/json"
	"math"
	"strings"
)

// shapes reads "[[1,141,512],[512,512],[]]"; any element that is no list of whole numbers is an empty
// shape.
func shapes(text string) [][]float64 {
	var outer []json.RawMessage
	if json.Unmarshal([]byte(text), &outer) != nil {
		return nil
	}
	out := make([][]float64, len(outer))
	for i, raw := range outer {
		var dims []float64
		if json.Unmarshal(raw, &dims) != nil {
			continue
		}
		for _, d := range dims {
			if d < 0 || d != math.Trunc(d) || d > 1e12 {
				dims = nil
				break
			}
		}
		out[i] = dims
	}
	return out
}

// texts reads a list of texts.
func texts(list string) (out []string) {
	var outer []any
	if json.Unmarshal([]byte(list), &outer) != nil {
		return nil
	}
	for _, x := range outer {
		s, _ := x.(string)
		out = append(out, s)
	}
	return out
}

// numbers reads "[2, 2]" as an argument is written.
func numbers(text string) (out []float64) {
	if json.Unmarshal([]byte(text), &out) != nil {
		return nil
	}
	return out
}

func product(dims []float64) float64 {
	p := 1.0
	for _, d := range dims {
		p *= d
	}
	return p
}

// typeSize is how many bytes an element of a type has; 0 where the type is not known.
func typeSize(name string) float64 {
	switch strings.ToLower(strings.TrimPrefix(name, "c10::")) {
	case "double", "long int", "long", "int64", "float64", "complex<float>", "unsigned long":
		return 8
	case "float", "int", "int32", "float32", "unsigned int":
		return 4
	case "half", "bfloat16", "short", "float16", "short int":
		return 2
	case "bool", "char", "signed char", "unsigned char", "byte", "int8", "uint8", "float8_e4m3fn", "float8_e5m2",
		"float8_e4m3fnuz", "float8_e5m2fnuz":
		return 1
	}
	return 0
}

// FirstType is the type of the first tensor in a list of types.
func FirstType(types string) string {
	for _, t := range texts(types) {
		if typeSize(t) > 0 {
			return t
		}
	}
	return ""
}
