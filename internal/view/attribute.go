package view

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/store"
	"github.com/parallax-hpc/parallax/internal/trace"
)

// mostAttributes bounds how many attributes a fact has; longAttribute their length.
const (
	mostAttributes = 12
	longAttribute  = 80
)

// AttributeLines returns the metadata of a location: its own attributes, then those of
// the locations above it that it does not have itself.
func AttributeLines(t *store.Tree, id trace.LocationID) []FactLine {
	var lines []FactLine
	seen := map[string]bool{}
	more := 0
	for at := id; at != trace.NoLocation; at = t.Parent[at] {
		for _, a := range t.Attributes[at] {
			if seen[a.Key] {
				continue
			}
			seen[a.Key] = true
			if len(lines) == mostAttributes {
				more++
				continue
			}
			l := FactLine{Label: a.Key, Value: strings.ToValidUTF8(a.Value.String(), "?")}
			if r := []rune(l.Value); len(r) > longAttribute {
				l.Value, l.Exact = string(r[:longAttribute-1])+"…", l.Value
			}
			lines = append(lines, l)
		}
	}
	if more > 0 {
		lines = append(lines,
			FactLine{Label: "metadata", Value: fmt.Sprintf("%s more in the source", Thousands(int64(more)))})
	}
	return lines
}
