package timeline

import (
	"slices"

	"github.com/parallax-hpc/parallax/internal/trace"
	"github.com/parallax-hpc/parallax/internal/view"
)

// pinRows takes the pinned rows out of their places. A location without a row of its own,
// since it is in a group that is folded, gets one.
func (p *plan) pinRows(in *input, rows []row, space float32) (pinned, others []row, err error) {
	f := p.forest
	if len(in.opt.pin) == 0 {
		return nil, rows, nil
	}
	ids, err := matchGroups(f.tree, "--pin", in.opt.pin)
	if err != nil {
		return nil, nil, err
	}
	height, left := float32(0), 0
	for _, id := range ids {
		if f.below(id) == 0 {
			continue // not selected, or nothing to show
		}
		n := f.chain(id, 0)
		w := row{location: n.bottom, node: n, count: f.below(id)}
		if !f.isLeaf(n) {
			w.location, w.kind = n.top, folded
		}
		// Scrolled rows keep half of the space.
		if height += max(scrolled, in.leastOf(&w, p.levels)); height > space/2 && len(pinned) > 0 {
			left++
			continue
		}
		w.label = "↑ " + f.label(n)
		pinned = append(pinned, w)
	}
	if left > 0 {
		p.notes.add("%s more are pinned than have room", view.Thousands(int64(left)))
	}
	others = slices.DeleteFunc(slices.Clone(rows), func(w row) bool {
		return w.kind != header && slices.ContainsFunc(pinned, func(p row) bool {
			return p.kind == w.kind && p.location == w.location && w.location != trace.NoLocation
		})
	})
	return pinned, others, nil
}
