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

// TestLongListsAreWrittenAsShortOnesAre: long lists are never in memory as text, and nobody can tell.
func TestLongListsAreWrittenAsShortOnesAre(t *testing.T) {
	type row struct {
		Name  string  `json:"name"`
		Value float64 `json:"value"`
	}
	type data struct {
		Unit  string   `json:"unit"`
		Rows  []row    `json:"rows"`
		None  []row    `json:"none,omitempty"`
		Left  []string `json:"left"`
		Alone []int    `json:"alone"`
		own   int
	}
	d := data{Unit: "<s>", Left: []string{"a"}, own: 1}
	for i := range 10_001 {
		d.Rows, d.Alone = append(d.Rows, row{"a<b>&", float64(i) / 3}), append(d.Alone, i)
	}
	for _, finite := range []bool{true, false} {
		twin := &view.Twin{View: "x", Notes: []string{`"data":null`}, Options: map[string]any{"a": 1.5}}
		if !finite {
			d.Rows[5000].Value = math.Inf(1)
		}
		twin.Data = d
		var want, got bytes.Buffer
		noted := *twin
		if !finite {
			noted.Notes = append(noted.Notes, view.NotFinite)
		}
		if all, err := view.WriteJSON(&want, &noted); err != nil || all != finite {
			t.Fatal(all, err)
		}
		if err := twin.WriteJSON(&got); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want.Bytes()) {
			t.Errorf("finite %v: %d bytes, want %d, and other ones", finite, got.Len(), want.Len())
		}
		if !finite && !strings.Contains(got.String(), `"value":null`) {
			t.Error("what is not finite is not null")
		}
	}
}
