package callmatrix

import (
	"fmt"

	"github.com/parallax-hpc/parallax/internal/analysis/callgraph"
	"github.com/parallax-hpc/parallax/internal/scene"
)

// leastSquare is how small squares may get so that n slices can still be seen.
func leastSquare(n int) float32 {
	switch {
	case n <= 4:
		return 20
	case n <= 16:
		return 28
	}
	return 36
}

// choose picks callees and callers that fit: the most telling callees first, each with
// the most telling of its callers. A callee for none of whose callers there is room is
// left out: its row would be empty, as if it were never called.
func (r *result) choose(width, height float32) (callers, callees []int32) {
	_, n := r.slices()
	least := max(leastSquare(n), goodSquare)
	top := r.request.Values.Integer("top")
	if top > 0 {
		least = leastSquare(n)
	}
	rows, columns := max(int(height/least), 1), max(int(width/least), 1)
	if top > 0 {
		rows = min(rows, top)
	}
	of := map[int32][]int32{} // callers of each callee, the most telling first
	for _, c := range r.callers {
		for _, callee := range r.callees {
			if r.pairs[callgraph.Pair{Caller: c.node, Callee: callee.node}] != nil {
				of[callee.node] = append(of[callee.node], c.node)
			}
		}
	}
	in := map[int32]bool{}
	for _, c := range r.callees {
		if len(callees) == rows {
			break
		}
		if !anyOf(of[c.node], in) {
			if len(in) == columns {
				continue
			}
			in[of[c.node][0]] = true
		}
		callees = append(callees, c.node)
	}
	used := map[int32]bool{}
	for _, c := range callees {
		for _, caller := range of[c] {
			used[caller] = true
		}
	}
	for _, c := range r.callers { // room that is left goes to the other callers
		if used[c.node] && !in[c.node] && len(in) < columns {
			in[c.node] = true
		}
	}
	for _, c := range r.callers {
		if in[c.node] {
			callers = append(callers, c.node)
		}
	}
	return callers, callees
}

func anyOf(list []int32, in map[int32]bool) bool {
	for _, x := range list {
		if in[x] {
			return true
		}
	}
	return false
}

// markCut marks the rows of callees that others call too, which are not shown; it reports whether there are some.
func (r *result) markCut(s *scene.Scene, d *drawing) (some bool) {
	shown := map[int32]bool{}
	for _, c := range d.callers {
		shown[c] = true
	}
	at := map[int32]int{}
	for k, c := range d.callees {
		at[c] = k
	}
	cut := make([]int, len(d.callees))
	for key := range r.pairs {
		if k, ok := at[key.Callee]; ok && !shown[key.Caller] {
			cut[k]++
			some = true
		}
	}
	marks, counts := &scene.Polygon{}, &scene.Text{Size: 10}
	right := d.x + d.size*float32(len(d.callers))
	for k, n := range cut {
		if n == 0 {
			continue
		}
		y := d.y + (float32(k)+0.5)*d.size
		marks.AddCut(right+7, y, 1, min(4, d.size/3))
		if text := fmt.Sprintf("+%d", n); d.size >= 12 &&
			right+10+scene.TextWidth(text, 10, false) <= float32(s.Width) {
			counts.Add(right+10, y+3.5, text, scene.UITextMuted, scene.Start)
		}
	}
	s.AddLayer("callers not shown", -1, marks, counts)
	return some
}
