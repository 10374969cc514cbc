package main

import (
	"slices"
	"strings"
	"testing"
)

func TestAnOptionMayStandWithoutItsValue(t *testing.T) {
	for in, want := range map[string]string{
		"moments x --gantt --paper -o y.svg": "moments x --gantt=beside --paper -o y.svg",
		"moments x --gantt":                  "moments x --gantt=beside",
		"moments --gantt demo:fig4":          "moments --gantt=beside demo:fig4",
		"moments x --gantt 300":              "moments x --gantt 300",
		"moments x --gantt 30% --paper":      "moments x --gantt 30% --paper",
		"moments x --gantt behind":           "moments x --gantt behind",
		"moments x --gantt=behind --order m": "moments x --gantt=behind --order m",
	} {
		if got := bareFlags(strings.Fields(in)); !slices.Equal(got, strings.Fields(want)) {
			t.Errorf("%s: %q", in, got)
		}
	}
}
