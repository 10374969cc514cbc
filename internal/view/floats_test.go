package view

import (
	"encoding/json"
	"math"
	"reflect"
	"testing"
)

type inner struct{ Share float64 }

type outer struct {
	inner
	Name   string
	Hidden float64 `json:"-"`
	Next   *outer  `json:",omitempty"`
	Any    any
	ByName map[string][]inner
	Pair   [2]float32
	Counts []int
}

// What is finite is what package json writes, wherever the number lies.
func TestAValueIsFiniteWhereJSONWritesIt(t *testing.T) {
	bad := math.Inf(1)
	for _, c := range []struct {
		name string
		v    any
	}{
		{"numbers", outer{Name: "x", Counts: []int{1}}},
		{"embedded", outer{inner: inner{bad}}},
		{"hidden", outer{Hidden: bad}},
		{"behind a pointer", &outer{Next: &outer{inner: inner{bad}}}},
		{"in something", outer{Any: []any{1, "x", bad}}},
		{"in a map", outer{ByName: map[string][]inner{"x": {{1}, {bad}}}}},
		{"in an array", outer{Pair: [2]float32{1, float32(bad)}}},
		{"nothing", outer{Any: nil}},
	} {
		_, err := json.Marshal(c.v)
		if got := isFinite(reflect.ValueOf(c.v)); got != (err == nil) {
			t.Errorf("%s: %v, and json says %v", c.name, got, err)
		}
	}
}
