package view

import (
	"encoding/json"
	"math"
	"strconv"
)

// An Exact is a number that JSON has with all its digits. The shortest text of a whole number beyond 2^53 ends in
// zeros, which a program that reads whole numbers exactly takes for another number.
type Exact float64

// MarshalJSON implements json.Marshaler.
func (x Exact) MarshalJSON() ([]byte, error) {
	f := float64(x)
	if math.Abs(f) < 1<<53 || math.Abs(f) >= 1e21 || math.IsNaN(f) {
		return json.Marshal(f)
	}
	return strconv.AppendFloat(nil, f, 'f', 0, 64), nil
}

// DefinedExact is Defined for a number that is written exactly.
func DefinedExact(x float64) *Exact {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	e := Exact(x)
	return &e
}
