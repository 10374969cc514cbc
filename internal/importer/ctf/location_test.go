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
