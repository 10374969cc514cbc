package calltree

import (
	"fmt"
	"strings"

	"github.com/parallax-hpc/parallax/internal/view"
)

// searched returns the text that names are searched for, in small letters; "": nothing.
func searched(r *result) string {
	return strings.ToLower(strings.TrimSpace(r.request.Values.Text("find")))
}

// foundNote describes how much of the tree the names that are found stand for.
func foundNote(r *result, part string) string {
	count, sum := r.tree.Matching(part)
	if count == 0 {
		return fmt.Sprintf("no path here has %q in its name", part)
	}
	return fmt.Sprintf("%s with %q light up: %s, %s of %s", view.Count(count, "path"), part, r.format(sum),
		view.FormatShare(r.base.Share(sum)), r.base.Name)
}
