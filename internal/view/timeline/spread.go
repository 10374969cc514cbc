package timeline

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/trace"
)

const (
	// sparse is when a picture of folded groups says too little.
	sparse = 20
	// mostMembers bounds the locations that runs are made of in one picture.
	mostMembers = 8192
)

// spread replaces folded groups by runs of neighbouring members where the
// picture would hold few rows and has room: 4,096 ranks below one machine that
// do not fit are better shown as 64 runs of 64 than as one row.
func (f *forest) spread(rows []row, space float32) []row {
	groups := 0
	for i := range rows {
		if rows[i].auto {
			groups++
		}
	}
	if groups == 0 || len(rows) > sparse {
		return rows
	}
	slots := (int(space/(leastGroup+3)) - len(rows)) / groups
	members := 0
	var out []row
	for i := range rows {
		w := rows[i]
		if !w.auto || slots < 2 || members > mostMembers {
			out = append(out, w)
			continue
		}
		nodes := f.members(w.node, mostMembers-members)
		if len(nodes) <= slots {
			out = append(out, w)
			continue
		}
		members += len(nodes)
		w.kind, w.auto = header, false
		out = append(append(out, w), f.runs(w, nodes, slots)...)
	}
	return out
}

// members lists the nodes below a group; none if there are more than most.
func (f *forest) members(n node, most int) []node {
	var out []node
	f.children(n.bottom, n.depth+1, func(c node) bool {
		out = append(out, c)
		return len(out) <= most
	})
	if len(out) > most {
		return nil
	}
	return out
}

// runs makes rows of equal numbers of neighbours.
func (f *forest) runs(group row, nodes []node, slots int) []row {
	size := (len(nodes) + slots - 1) / slots
	var out []row
	for from := 0; from < len(nodes); from += size {
		part := nodes[from:min(from+size, len(nodes))]
		first, last := part[0], part[len(part)-1]
		w := row{location: trace.NoLocation, kind: folded, node: first, level: group.level + 1, auto: true}
		for _, n := range part {
			w.count += f.below(n.top)
			w.pieces = append(w.pieces, f.pieces(n.top)...)
		}
		w.label = f.runLabel(first, last)
		if len(part) == 1 {
			w.location, w.label = first.top, ""
		}
		out = append(out, w)
	}
	return out
}

// runLabel names the first and the last of a run.
func (f *forest) runLabel(first, last node) string {
	t := f.tree
	if a, b := t.Rank[first.bottom], t.Rank[last.bottom]; a != trace.NoRank && b != trace.NoRank && a != b {
		return fmt.Sprintf("rank %d – %d", a, b)
	}
	return f.label(first) + " – " + f.label(last)
}
