package jsonstream

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

func TestKeysAreReadFromTheBeginningOfAFile(t *testing.T) {
	for text, want := range map[string]string{
		`[{"a": 1, "b": {"c": [2, {"d": "a"}]}, "e": "cut`:      "a b b.c b.c.d e",
		`{"data": [{"spans": [{"id": "x"}], "processes": {}}]}`: "data data.processes data.spans data.spans.id",
		`[[{"a": [[1], {}], "b": null}]]`:                       "a b",
		`{"a": 1} {"b": 2}`:                                     "a b",
		``:                                                      "",
		`no json`:                                               "",
		`]]]`:                                                   "",
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(Keys([]byte(text), 100))), " "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
