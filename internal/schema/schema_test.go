package schema

import (
	"encoding/json"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/parallax-hpc/parallax/internal/table"
	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

type answer struct {
	Name  string      `json:"name"`
	Times []int       `json:"times"`
	Pair  *[2]float64 `json:"pair"`
	Sum   trace.Sum   `json:"sum"`
	Kids  []answerKid `json:"kids"`
}

type answerKid struct {
	Share float64 `json:"share"`
}

// check says whether a text holds to a schema.
func check(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return resolved.Validate(v)
}

func TestAnswersMayGrowAndListsAreNeverNull(t *testing.T) {
	s, err := Of(answer{})
	if err != nil {
		t.Fatal(err)
	}
	const whole = `{"name": "a", "times": [], "pair": null, "sum": 170141183460469231731, "kids": [{"share": 0.5, "new": 1}], "later": true}`
	if err := check(t, s, whole); err != nil {
		t.Errorf("fields that were added are refused: %v", err)
	}
	for what, text := range map[string]string{
		"a list that is null":    `{"name": "a", "times": null, "pair": null, "sum": 1, "kids": []}`,
		"a field that is gone":   `{"times": [], "pair": null, "sum": 1, "kids": []}`,
		"a text for a number":    `{"name": "a", "times": ["1"], "pair": null, "sum": 1, "kids": []}`,
		"a fraction for a sum":   `{"name": "a", "times": [], "pair": null, "sum": 1.5, "kids": []}`,
		"a kid without a field":  `{"name": "a", "times": [], "pair": null, "sum": 1, "kids": [{}]}`,
		"three numbers as a two": `{"name": "a", "times": [], "pair": [1, 2, 3], "sum": 1, "kids": []}`,
	} {
		if check(t, s, text) == nil {
			t.Errorf("%s passes", what)
		}
	}
}

func TestASchemaNamesItsVersion(t *testing.T) {
	s, err := View(&view.View{Name: "two", Title: "Two", Summary: "either", Data: []any{answer{}, answerKid{}}})
	if err != nil {
		t.Fatal(err)
	}
	if s.ID != "parallax:1/view/two" || s.Schema == "" || s.Title != "Two" || len(s.AnyOf) != 2 {
		t.Errorf("%s, %s, %s, %d kinds", s.ID, s.Schema, s.Title, len(s.AnyOf))
	}
	if err := check(t, s, `{"share": 1}`); err != nil {
		t.Errorf("the second kind of answer: %v", err)
	}
	if _, err := View(&view.View{Name: "bad", Data: []any{struct{ C chan int }{}}}); err == nil {
		t.Error("a channel has a schema")
	}
}

func TestRowsOfTablesHaveTypesAndUnits(t *testing.T) {
	s := Table(&table.Table{Name: "t", Help: "rows", Columns: []table.Column{
		{Name: "id", Kind: table.Integer}, {Name: "end", Kind: table.Integer, Unit: "ns", Null: true, Help: "when"}, {Name: "on", Kind: table.Flag},
		{Name: "value", Kind: table.Number, Unit: "bytes"}, {Name: "name", Kind: table.Text},
	}})
	if s.Properties["end"].Description != "when, in ns" || s.Properties["value"].Description != "in bytes" {
		t.Errorf("units: %q, %q", s.Properties["end"].Description, s.Properties["value"].Description)
	}
	for text, want := range map[string]bool{
		`{"id": 1, "end": null, "on": 1, "value": 0.5, "name": "x"}`: true,
		`{"id": 1, "end": 5, "on": 2, "value": 0.5, "name": "x"}`:    false,
		`{"id": null, "end": 5, "on": 1, "value": 1, "name": "x"}`:   false,
		`{"end": 5, "on": 1, "value": 1, "name": "x"}`:               false,
	} {
		if err := check(t, s, text); (err == nil) != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}
