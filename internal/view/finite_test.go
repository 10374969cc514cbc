package view_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

type embedded struct {
	Deep float64 `json:"deep"`
}

type numbers struct {
	embedded
	Name   string             `json:"name"`
	Value  float64            `json:"value"`
	Maybe  *float64           `json:"maybe"`
	None   []float64          `json:"none,omitempty"`
	List   []float64          `json:"list"`
	By     map[string]float64 `json:"by"`
	Any    any                `json:"any"`
	Sum    trace.Sum          `json:"sum"`
	Hidden float64            `json:"-"`
	Plain  int
}

// TestNumbersThatAreNotFiniteAreNull, and everything else is as package json writes it.
func TestNumbersThatAreNotFiniteAreNull(t *testing.T) {
	inf, one := math.Inf(1), 1.5
	sound := numbers{embedded{2}, "a<b>&", 1, &one, nil, []float64{1, 2}, map[string]float64{"z": 1, "a": 2}, []any{"x", 3.5, nil}, trace.SumOf(7), inf, 4}
	var want, got bytes.Buffer
	e := json.NewEncoder(&want)
	e.SetEscapeHTML(false)
	if err := e.Encode(sound); err != nil {
		t.Fatal(err)
	}
	if finite, err := view.WriteJSON(&got, sound); err != nil || !finite || got.String() != want.String() {
		t.Errorf("%v %v %s, want %s", finite, err, &got, &want)
	}
	damaged := sound
	damaged.Value, damaged.Maybe, damaged.Deep = inf, &inf, math.NaN()
	damaged.List, damaged.By, damaged.Any = []float64{1, inf}, map[string]float64{"z": math.NaN(), "a": 2}, []any{"x", math.Inf(-1), nil}
	got.Reset()
	finite, err := view.WriteJSON(&got, damaged)
	text := strings.NewReplacer(`"deep":2`, `"deep":null`, `"value":1,`, `"value":null,`, `"maybe":1.5`, `"maybe":null`, `"list":[1,2]`, `"list":[1,null]`, `"z":1`, `"z":null`, `"x",3.5`, `"x",null`).Replace(want.String())
	if err != nil || finite || got.String() != text {
		t.Errorf("%v %v\n%s, want\n%s", finite, err, &got, text)
	}
}
