package ctf

import (
	"encoding/json"
	"testing"
)

// Places of lengths and selectors are objects, or lists since draft 7.0 of CTF 2: both name the same field.
func TestPlacesOfFieldsInBothForms(t *testing.T) {
	var refs [2]reference
	for i, text := range []string{`{"origin":"event-record-header","path":["id"]}`, `["event-record-header","id"]`} {
		var l *location
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatal(err)
		}
		r, err := l.reference()
		if err != nil {
			t.Fatal(err)
		}
		refs[i] = r
	}
	if refs[0].String() != refs[1].String() || len(refs[1].path) == 0 {
		t.Errorf("%+v, %+v", refs[0], refs[1])
	}
}

// Integers with names are a type of their own in draft 7.0.
func TestEnumerationsOfTheDraft(t *testing.T) {
	var c jsonClass
	if err := json.Unmarshal([]byte(`{"type":"fixed-length-unsigned-enumeration","length":8,"mappings":{"a":[[0,1]]}}`), &c); err != nil || c.Type != "fixed-length-unsigned-integer" || len(c.Mappings) != 1 {
		t.Errorf("%+v, %v", c, err)
	}
}
