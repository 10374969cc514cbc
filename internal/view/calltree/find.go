package calltree

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// searched returns the text that names are searched for, in small letters; "": nothing.
func searched(r *result) string {
	return strings.ToLower(strings.TrimSpace(r.request.Values.Text("find")))
}

func hasName(g *trace.Region, part string) bool {
	return strings.Contains(strings.ToLower(g.Name), part)
}

// foundNote describes how much of the tree the names that are found stand for. Callees count
// for their caller, so that of nested ones the outermost counts.
func foundNote(r *result, part string) string {
	count, sum := 0, 0.0
	inside := make([]bool, len(r.tree.nodes))
	for i := range r.tree.nodes {
		n := &r.tree.nodes[i]
		mine := hasName(&r.regions[n.region], part)
		up := n.parent >= 0 && inside[n.parent]
		if inside[i] = mine || up; mine {
			if count++; !up {
				sum += n.inclusive
			}
		}
	}
	if count == 0 {
		return fmt.Sprintf("no path here has %q in its name", part)
	}
	return fmt.Sprintf("%s with %q light up: %s, %s of %s", view.Count(count, "path"), part, r.format(sum),
		view.FormatShare(r.base.Share(sum)), r.base.Name)
}
