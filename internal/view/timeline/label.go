package timeline

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/parallax-hpc/parallax/internal/trace"
)

// label names a node: the names along its chain, and the rank where it has one.
func (f *forest) label(n node) string {
	var names []string
	t := f.tree
	for id := n.bottom; ; id = t.Parent[id] {
		if id == n.top {
			names = append(names, f.name(id))
			break
		}
		if t.Name[id] != t.Name[t.Parent[id]] { // a thread called as its process
			names = append(names, f.name(id))
		}
	}
	out := ""
	for i := len(names) - 1; i >= 0; i-- {
		// A name that the next one repeats is left out: "P#3" of "P#3T#0".
		if i > 0 && strings.HasPrefix(names[i-1], names[i]) || names[i] == "" {
			continue
		}
		if out != "" {
			out += " · "
		}
		out += names[i]
	}
	return out
}

// name is the name of one location; one that owns a rank says it.
func (f *forest) name(id trace.LocationID) string {
	t := f.tree
	name := t.Name[id]
	rank := t.Rank[id]
	if rank == trace.NoRank {
		return name
	}
	if p := t.Parent[id]; p != trace.NoLocation && t.Rank[p] == rank {
		return name
	}
	number := strconv.Itoa(int(rank))
	word, isNumbered := strings.CutSuffix(name, number)
	if isNumbered && len(word) <= 12 && !strings.ContainsAny(word, "0123456789") || name == "" {
		return "rank " + number
	}
	return fmt.Sprintf("rank %d · %s", rank, name)
}
